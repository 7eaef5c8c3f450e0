"""Reproduce the paper in one process: sweeps, figures, claims and the report: `python -m src.reproduce --help`."""

from pomrl.commands.reproduce import main

if __name__ == "__main__":
    main()
