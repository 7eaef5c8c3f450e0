"""The command line: the only layer that reads arguments, prints, and exits.

Each command has a module with a `main`; the files in `src/` of the same names call them. `arguments`, `errors`,
`progress`, `tables` and `terminal` hold what several commands share.
"""
