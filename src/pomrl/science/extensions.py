"""Compare extension modules with the C source that is here now."""

import hashlib
from pathlib import Path
from types import ModuleType

HEADER = Path(__file__).with_name("_buffers.h")
"""What the C sources of all extension modules include."""


def is_built_from(module: ModuleType | None, source: Path) -> bool:
    """Return whether a module was built, and from this source with the header as both are now."""
    if module is None or not (source.is_file() and HEADER.is_file()):
        return False
    return hashlib.sha256(HEADER.read_bytes() + source.read_bytes()).hexdigest() == module.SOURCE_DIGEST
