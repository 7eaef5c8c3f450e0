"""The command line: only this package reads arguments, prints, and exits.

A command is a typed function, in `main.COMMANDS` or an entry point.
"""
