"""The page is one small file that fetches nothing."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.support.elements import Elements
from tests.support.report_outputs import of_study

pytestmark = pytest.mark.slow

MEGABYTE = 10**6


class TestOneFile:
    def test_nothing_is_fetched(self, elements: Elements) -> None:
        for attribute in ("src", "srcset", "href", "action", "data", "poster", "background"):
            assert all(value.startswith(("#", "data:")) for value in elements.values(attribute)), attribute

    def test_styles_fetch_nothing(self, page: str) -> None:
        style = page.partition("<style>")[2].partition("</style>")[0]
        assert "url(" not in style
        assert "@import" not in style

    def test_browsers_are_told_to_fetch_nothing(self, elements: Elements) -> None:
        (policy,) = (a["content"] for _, a in elements.found if a.get("http-equiv") == "Content-Security-Policy")
        assert str(policy).startswith("default-src 'none'; img-src data:;")

    def test_links_lead_somewhere(self, elements: Elements) -> None:
        targets = {unquote(value[1:]) for value in elements.values("href") if value.startswith("#")}
        assert targets <= set(elements.values("id"))

    def test_it_is_small(self, page: str) -> None:
        assert len(page.encode()) < 15 * MEGABYTE

    def test_equal_inputs_give_equal_bytes_in_another_process(self, folder: Path, page: str) -> None:
        environment = {**os.environ, "POMRL_OUTPUTS": str(folder), "PYTHONHASHSEED": "7"}
        subprocess.run([sys.executable, "-m", "pomrl.commands.main", "report", "pomrl"], env=environment, check=True)
        assert (of_study(folder) / "report" / "index.html").read_text(encoding="utf-8") == page
