"""Write the report of what is stored and drawn: python -m src.report.

One page, outputs/report/index.html, that needs neither a network nor other files.
"""

import argparse
import sys
from pathlib import Path

from pomrl import store
from pomrl.report.errors import ReportError
from pomrl.report.page import Documents, html

ROOT = Path(__file__).parents[1]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m src.report", description="Write the report of what is stored.")
    parser.parse_args()
    try:
        print(write(store.root().parent))
    except (ReportError, store.StoreError, OSError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        raise SystemExit(1) from None


def write(folder: Path) -> Path:
    """Write the page into a folder of outputs; its path."""
    page = html(folder, documents())
    path = folder / "report" / "index.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    return path


def documents() -> Documents:
    """The texts of this repository."""
    readings = ROOT / "docs" / "readings.md"
    return Documents(
        errata=(ROOT / "ERRATA.md").read_text(encoding="utf-8"),
        theory=(ROOT / "docs" / "theory.md").read_text(encoding="utf-8"),
        readings=readings.read_text(encoding="utf-8") if readings.exists() else "",
    )


if __name__ == "__main__":
    main()
