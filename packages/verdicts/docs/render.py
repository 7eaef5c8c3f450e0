"""Write the outputs of commands and code into README.md and docs/examples.md.

python packages/verdicts/docs/render.py
"""

import io
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable
from contextlib import chdir, redirect_stdout
from functools import partial
from pathlib import Path

from verdicts.command import UNREADABLE, main

PACKAGE = Path(__file__).parents[1]

PAGES = PACKAGE / "README.md", PACKAGE / "docs" / "examples.md"

STEP = re.compile(
    r"(?:^    verdicts (?P<command>.*)\n|^```python\n(?P<code>(?:.*\n)*?)```\n)"
    r"(?:\n```text\n(?P<output>(?:.*\n)*?)```\n)?",
    re.MULTILINE,
)
"""A command or code, with its output."""


def rendered(page: str) -> str:
    """Return a page with the present outputs, computed in a copy of the examples."""
    with tempfile.TemporaryDirectory() as folder:
        examples = shutil.copytree(PACKAGE / "examples", Path(folder) / "examples")
        with chdir(examples):
            Path("earlier.csv").write_text(
                _output(partial(main, ["judge", "games.txt", "games.csv", "--format", "csv"]))
            )
            return STEP.sub(partial(_with_output, {}), page)


def _with_output(names: dict, step: re.Match[str]) -> str:
    """Run a step, and return it with its output."""
    command = step["command"]
    text = _output(partial(main, shlex.split(command)) if command else partial(exec, step["code"], names))
    if step["output"] is None:
        return step[0]
    start = step.start("output") - step.start()
    return f"{step[0][:start]}{text}```\n"


def _output(run: Callable[[], object]) -> str:
    """Return what a step prints; a command must be able to read its files."""
    with redirect_stdout(io.StringIO()) as stream:
        if run() == UNREADABLE:
            raise RuntimeError("a command of a page cannot read its files")
    return stream.getvalue()


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(rendered(path.read_text("utf-8")), encoding="utf-8")
