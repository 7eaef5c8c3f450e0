"""Write the report of what is stored and drawn: `python -m src.report --help`."""

from pomrl.commands.report import main

if __name__ == "__main__":
    main()
