"""Plot what is stored of one's own sweeps: `python -m src.plot --help`."""

from pomrl.commands.plot import main

if __name__ == "__main__":
    main()
