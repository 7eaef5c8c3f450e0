"""Run and store one experiment or a sweep: `python -m src.run` is `pomrl run`."""

import sys
from importlib.util import find_spec
from pathlib import Path

if __name__ == "__main__":
    copy = find_spec("pomrl")
    if not copy or not Path(str(copy.origin)).resolve().is_relative_to(Path(__file__).resolve().parent):
        problem = f"pomrl is imported from {copy.origin}, not from this checkout" if copy else "pomrl is not installed"
        sys.exit(f"{problem}; run source .venv/bin/activate or pip install -e .")
    from pomrl.commands.entry import main

    main("run", *sys.argv[1:])
