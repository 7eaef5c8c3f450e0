"""The page is one small file that fetches nothing."""

import os
import re
import subprocess
import sys
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from PIL import Image
from tests.support.elements import Elements
from tests.support.report_outputs import DRAWN, of_study

from pomrl.report.figure_files import PIXELS, Picture

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

    def test_pictures_are_a_quarter_of_their_files_with_no_more_pixels_than_a_screen_shows(
        self, folder: Path, page: str
    ) -> None:
        pictures = [b64decode(found) for found in re.findall(r'src="data:image/webp;base64,([^"]*)"', page)]
        files = [path for path in (of_study(folder) / "figures").glob("*.png") if path.stem in DRAWN]
        assert len(pictures) == len(files)
        assert sum(map(len, pictures)) < sum(path.stat().st_size for path in files) / 4
        for picture in pictures:
            with Image.open(BytesIO(picture)) as image:
                assert image.width <= PIXELS

    def test_tables_are_in_it_once_and_packed(self, folder: Path, page: str) -> None:
        tables = [b64decode(found) for found in re.findall(r'href="data:application/gzip;base64,([^"]*)"', page)]
        files = [path for path in (of_study(folder) / "figures").glob("*.csv") if path.stem in DRAWN]
        assert len(set(tables)) == len(tables) == len(files)
        assert sum(map(len, tables)) < sum(path.stat().st_size for path in files) / 2

    def test_all_else_takes_less_than_a_megabyte(self, page: str) -> None:
        rest = re.sub(r'data:[^"]*|<script type="application/gzip".*?</script>', "", page)
        assert len(rest.encode()) < MEGABYTE

    def test_colours_of_a_picture_are_as_drawn(self, folder: Path) -> None:
        path = of_study(folder) / "figures" / "planning_omrl.png"
        with Image.open(BytesIO(Picture.of(path.read_bytes()).content)) as image, Image.open(path) as file:
            drawn = file.convert("RGB").resize(image.size, Image.Resampling.BOX)
            off = np.abs(np.asarray(image.convert("RGB"), int) - np.asarray(drawn, int)).max(-1)
        assert (off > 24).mean() < 0.005

    def test_equal_inputs_give_equal_bytes_in_another_process(self, folder: Path, page: str) -> None:
        environment = {**os.environ, "POMRL_OUTPUTS": str(folder), "PYTHONHASHSEED": "7"}
        subprocess.run([sys.executable, "-m", "pomrl.commands.main", "report", "pomrl"], env=environment, check=True)
        assert (of_study(folder) / "report" / "index.html").read_text(encoding="utf-8") == page
