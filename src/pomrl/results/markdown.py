"""Documents in Markdown of which parts are generated."""

import re
from collections.abc import Mapping


def renewed(document: str, parts: Mapping[str, str]) -> str:
    """Return a document with new parts between its lines `<!-- NAME -->` and `<!-- end of NAME -->`.

    Raises:
        LookupError: The document has no place for a part.
    """
    for name, part in parts.items():
        place = re.compile(rf"(?<=<!-- {re.escape(name)} -->\n).*?(?=<!-- end of {re.escape(name)} -->)", re.DOTALL)
        if not place.search(document):
            raise LookupError(f"the document has no lines <!-- {name} --> and <!-- end of {name} -->")
        document = place.sub(lambda _, part=part: f"\n{part.rstrip()}\n\n", document)
    return document
