"""The environment of the templates, which all pages share."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment() -> Environment:
    """Return an environment that escapes what is put into a page, and in which an unknown name is an error."""
    return Environment(
        loader=PackageLoader("pomrl.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
