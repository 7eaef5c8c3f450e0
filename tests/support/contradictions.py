"""What a page must not have, found where it is rendered."""

from playwright.sync_api import Page

WIDTHS = (390, 800, 1280)

HEADING_APART_FROM_ITS_LIST = """[...document.querySelectorAll(":is(h2, h3, h4) + :is(ul, ol)")].filter((list) => {
    const [above, below] = [list.previousElementSibling, list].map((each) => each.getBoundingClientRect());
    return below.height && (Math.abs(below.left - above.left) > 40 || Math.abs(below.top - above.bottom) > 40);
}).map((list) => list.previousElementSibling.innerText)"""

OPTION_TWICE = """[...document.querySelectorAll("select")].filter((each) => {
    const options = [...each.options].map((option) => option.text);
    return new Set(options).size < options.length;
}).map((each) => each.name || each.id)"""

DANGLING_SIGN = """[...document.querySelectorAll("p, li, h1, h2, h3, h4, td")]
    .filter((each) => !each.querySelector("math")).map((each) => each.innerText.trim())
    .filter((text) => /[·,]$|[:,;·] ?[.]$/.test(text))"""

FAULTS = (HEADING_APART_FROM_ITS_LIST, OPTION_TWICE, DANGLING_SIGN)


def contradictions(page: Page) -> list[str]:
    """Return the faults of a page at each width."""
    actual = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        actual += [f"{width}: {fault}" for script in FAULTS for fault in page.evaluate(script)]
    return actual
