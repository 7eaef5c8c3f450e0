"""What can go wrong."""


class ReportError(Exception):
    """The report cannot be made of what is there; one line."""
