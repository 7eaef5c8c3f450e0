"""Say which horizons the transitions of a log support: `python -m src.horizon --help`."""

from pomrl.commands.horizon import main

if __name__ == "__main__":
    main()
