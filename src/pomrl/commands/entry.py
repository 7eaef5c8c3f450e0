"""The entry point of `pomrl`, with handling of ^C before further imports."""

import sys

from pomrl.commands.process import end_at_interrupt


def main(*words: str) -> None:
    """Run the command line, by default with the words of the shell."""
    end_at_interrupt()
    from pomrl.commands.main import main

    main(words or sys.argv[1:])
