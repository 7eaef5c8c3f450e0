"""Run one experiment, or a sweep of them, and store the results: `python -m src.run --help`."""

from pomrl.commands.run import main

if __name__ == "__main__":
    main()
