"""The command line: the only layer that reads arguments, prints, and exits.

Each command has a module with a function `main`, which `main.main` calls for the word after `pomrl`. The program begins
in `entry`. The modules `arguments`, `errors`, `interrupts`, `progress` and `terminal` are shared by several.
`computing` does the work of `run`, and `claims_view` shows what `claims` finds.
"""
