"""Show what differs between experiments: `python -m src.diff --help`."""

from pomrl.commands.diff import main

if __name__ == "__main__":
    main()
