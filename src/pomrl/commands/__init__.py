"""The command line: the only room that reads arguments, prints, and exits.

A command is a typed function of `main.COMMANDS` or of an entry point; `arguments` derives its arguments and help.
The program begins in `entry`. `claims` and `figures` are stages of `reproduce`, and `computing` does the work of `run`.
"""
