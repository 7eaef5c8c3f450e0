"""Compare the paper's text with the authors' notebook, change by change: `python -m src.ledger --help`."""

from pomrl.commands.ledger import main

if __name__ == "__main__":
    main()
