"""The command line: the only layer that reads arguments, prints, and exits.

Each command has a module with a function `main`, which the file of the same name in `src/` calls. The modules
`arguments`, `errors`, `progress`, `tables` and `terminal` are shared by several commands, and `computing` does the work
of `pomrl run`.
"""
