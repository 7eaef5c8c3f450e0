"""List what is stored: `python -m src.runs --help`."""

from pomrl.commands.runs import main

if __name__ == "__main__":
    main()
