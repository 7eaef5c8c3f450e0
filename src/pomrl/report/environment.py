"""The environment of the templates, which all pages share."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(*, escapes: bool = True) -> Environment:
    """Return an environment that escapes what is put into a page, by default, and refuses unknown names."""
    return Environment(
        loader=PackageLoader("pomrl.report"),
        autoescape=escapes,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
