"""The entry of the command `pomrl`, with ^C handled before other modules are imported."""

from pomrl.commands.interrupts import end_at_interrupt


def main() -> None:
    """Run the command."""
    end_at_interrupt()
    from pomrl.commands.main import main

    main()
