"""`python -m pomrl` is the command `pomrl`."""

from pomrl.commands.main import main

if __name__ == "__main__":
    main()
