"""examples/tutorial.ipynb: a fresh kernel computes the outputs that are stored in it.

Renew the stored outputs when a change is meant: python -m pytest tests/documents/test_tutorial.py --force-regen.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from tests.support.settings import ROOT

pytestmark = pytest.mark.slow

NOTEBOOK = ROOT / "examples" / "tutorial.ipynb"


@pytest.fixture(scope="module")
def stored() -> Any:
    """Return the notebook as it is stored."""
    return nbformat.read(NOTEBOOK, as_version=4)


@pytest.fixture(scope="module")
def executed(request: pytest.FixtureRequest, stored: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the notebook with the outputs of a fresh kernel, which are stored with --force-regen."""
    pytest.importorskip("gymnasium")
    notebook = deepcopy(stored)
    resources = {"metadata": {"path": str(tmp_path_factory.mktemp("kernel"))}}
    NotebookClient(notebook, timeout=120, record_timing=False, resources=resources).execute()
    notebook.metadata = stored.metadata  # without the version of this machine's Python
    if request.config.getoption("force_regen"):
        nbformat.write(notebook, NOTEBOOK)
        stored.update(nbformat.read(NOTEBOOK, as_version=4))
    return notebook


def cell_outputs(notebook: Any) -> Iterator[tuple[str, str, str]]:
    """Yield for each output of each cell the cell's name, the type of the output, and the output."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                yield cell.id, output.name, output.text
            for kind, content in sorted(output.get("data", {}).items()):
                yield cell.id, kind, content


def texts(notebook: Any) -> list[tuple[str, str, str]]:
    return [output for output in cell_outputs(notebook) if not output[1].startswith("image/")]


def test_a_fresh_kernel_computes_the_outputs(stored: Any, executed: Any) -> None:
    assert texts(stored) == texts(executed)
    for notebook in (stored, executed):
        pictures = [cell for cell, kind, _ in cell_outputs(notebook) if kind == "image/png"]
        assert pictures == ["experiment-figure", "lake-figure"]
