"""Tabulate what is stored: `python -m src.table --help`."""

from pomrl.commands.table import main

if __name__ == "__main__":
    main()
