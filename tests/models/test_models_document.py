"""docs/models.md does what it says: its code is run, in its order."""

import re

from tests.support.settings import ROOT


def test_the_code_of_the_page_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "models.md").read_text(), flags=re.DOTALL)
    assert len(blocks) == 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/models.md", "exec"), names)
