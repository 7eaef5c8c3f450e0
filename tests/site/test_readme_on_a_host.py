"""README.md on a code host: picture, answer and first command are on the first screen."""

from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Browser
from tests.support.settings import ROOT

pytestmark = pytest.mark.slow

STYLE = """
body { font: 16px/1.5 sans-serif; margin: 0; width: 830px; } img { max-width: 100%; }
h1 { font-size: 2em; line-height: 1.25; margin: 0 0 16px; padding-bottom: .3em; border-bottom: 1px solid; }
p, pre { margin: 0 0 16px; } pre { padding: 16px; font-size: 85%; line-height: 1.45; }
"""
"""The column and the sizes of a code host in a window of 1280 pixels."""

FIRST_SCREEN = 600


def test_the_first_screen_has_picture_and_command(browser: Browser, tmp_path: Path) -> None:
    content = MarkdownIt("commonmark").enable("table").render((ROOT / "README.md").read_text())
    path = tmp_path / "readme.html"
    path.write_text(f'<meta charset="utf-8"><base href="{ROOT.as_uri()}/"><style>{STYLE}</style>{content}')
    page = browser.new_page(viewport={"width": 1280, "height": FIRST_SCREEN})
    page.goto(path.as_uri())
    for selector in ("img", "strong", "pre"):
        box = page.locator(selector).first.bounding_box()
        assert box, selector
        assert box["y"] + box["height"] <= FIRST_SCREEN, selector
    page.close()
