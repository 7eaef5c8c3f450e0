"""Draw the figures from what is stored: `python -m src.figures --help`."""

from pomrl.commands.figures import main

if __name__ == "__main__":
    main()
