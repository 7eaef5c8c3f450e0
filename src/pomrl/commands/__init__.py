"""The command line: the only room that reads arguments, prints, and exits.

`entry` starts the program. A command is a typed function in `main.COMMANDS` or an entry point; `arguments` derives its
arguments and help. `claims` and `figures` are stages of `reproduce`; `computing` does the work of `run`.
"""
