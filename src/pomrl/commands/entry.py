"""The entry point of `pomrl`, with handling of ^C before further imports."""

from pomrl.commands.interrupts import end_at_interrupt


def main() -> None:
    """Run the command line."""
    end_at_interrupt()
    from pomrl.commands.main import main

    main()
