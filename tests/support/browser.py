"""The browser for tests of pages: the Chromium of this machine."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

AXE = os.environ.get("POMRL_AXE", "")
"""The path of axe.min.js from the package axe-core (npm pack axe-core)."""

needs_axe = pytest.mark.skipif(not AXE, reason="POMRL_AXE does not name axe.min.js (npm pack axe-core)")


def chromium() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium()
    if not path:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@contextmanager
def watched(browser: Browser) -> Iterator[Page]:
    """Yield a page, and check its log and requests at the end."""
    page, complaints = browser.new_page(viewport={"width": 1280, "height": 900}), list[str]()
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url) if leaves(request.url) else None)
    yield page
    page.close()
    assert complaints == []


def leaves(address: str) -> bool:
    return not address.startswith(("file:", "data:", "blob:", "about:"))


def faults_of_axe(page: Page, *widths: int) -> list[Any]:
    """Return the faults by axe at these widths, light and dark."""
    page.evaluate(Path(AXE).read_text())
    faults = []
    for width, scheme in product(widths, SCHEMES):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        actual = page.evaluate("axe.run({exclude: ['math']}, {preload: false})")["violations"]
        faults += [(violation["id"], violation["nodes"][0]["html"], width, scheme) for violation in actual]
    return faults
