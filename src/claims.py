"""Check the claims of the paper on what is stored: `python -m src.claims --help`."""

from pomrl.commands.claims import main

if __name__ == "__main__":
    main()
