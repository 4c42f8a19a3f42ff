"""The documentation site as its reader has it, in a real browser. `./dev docs` builds it first."""

import functools
import html
import os
import re
from pathlib import Path

import pytest

sync_api = pytest.importorskip("playwright.sync_api")
ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ["SLUICE_DOCS_SITE"])
PAGES = sorted([*SITE.glob("md_*.html"), SITE / "index.html"])
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium")
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    page = browser.new_page()
    yield page
    page.close()


@functools.cache
def ids_of(file):
    """The anchors of a page."""
    return set(re.findall(r'\b(?:id|name)="([^"]+)"', file.read_text(encoding="utf-8")))


def links_of(file):
    """(link, file that it names, anchor) of each link that stays in the site."""
    text = file.read_text(encoding="utf-8")
    for link in re.findall(r'<a\b[^>]*\bhref="([^":]+)"', text):
        path, _, anchor = link.partition("#")
        yield link, SITE / path if path else file, anchor


def test_each_link_of_each_page_leads_somewhere():
    links = [(page.stem, *link) for page in PAGES for link in links_of(page)]
    assert len(links) > 100
    broken = [
        f"{page}: {link}"
        for page, link, aim, anchor in links
        if not aim.is_file() or (anchor and anchor not in ids_of(aim))
    ]
    assert broken == []


def test_each_picture_of_each_page_is_there():
    pictures = [(page.stem, link) for page in PAGES for link in re.findall(r'<(?:img|object)\b[^>]*?\b(?:src|data)="([^":]+)"', page.read_text("utf-8"))]
    assert len(pictures) > 5
    assert [each for each in pictures if not (SITE / each[1]).is_file()] == []


def html_of(page):
    name = re.sub(r"\W", "_", str(page.relative_to(ROOT).with_suffix("")))
    return SITE / ("index.html" if name == "README" else f"md_{name}.html")


def test_each_link_of_a_page_is_a_link_of_the_site():
    """The text of a link, its quotes and its stars left out."""
    plain = re.compile(r"<[^>]*>|[`*\\]| \(中文\)")
    dropped = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        links = re.findall(r"<a\b[^>]*\bhref=[^>]*>(.*?)</a>", html_of(page).read_text("utf-8"), re.DOTALL)
        shown = {html.unescape(plain.sub("", link)) for link in links}
        wanted = [plain.sub("", link) for link in re.findall(r"(?<!!)\[([^\]]+)\]\([^)\s]+\)", text)]
        dropped += [f"{page.name}: {link}" for link in wanted if link not in shown]
    assert dropped == []


def test_no_page_shows_the_commands_of_the_generator():
    """A link whose text is broken between lines, or code in a heading, makes it give up."""
    marks = ("&lt;tt&gt;", "@section ", "@endcode")
    shown = [page.stem for page in PAGES if any(m in page.read_text("utf-8") for m in marks)]
    assert shown == []


def test_the_first_page_leads_to_the_parts(page):
    page.goto((SITE / "index.html").as_uri())
    page.locator("#nav-tree .label", has_text="Project").wait_for()
    shown = page.locator("#nav-tree .label:visible").all_inner_texts()
    assert shown == ["Sluice", "Learn", "How to", "Reference", "Why", "Measured", "Project"]


def test_the_search_finds_a_type_and_opens_its_page(page):
    page.goto((SITE / "index.html").as_uri())
    page.locator("#MSearchField").click()
    page.keyboard.type("MpscRing", delay=20)
    results = page.frame_locator("#MSearchResults")
    found = results.locator("a.SRSymbol", has_text="MpscRing").first
    found.wait_for()
    assert "MpscRing" in found.inner_text()


@pytest.mark.parametrize(
    "words, heading, target",
    [
        ("messages are refused", "Why messages are refused", "md_docs_guide_bus.html#"),
        ("refused why", "Why messages are refused", "md_docs_guide_bus.html#"),
        ("fence membarrier", "The algorithm", "md_docs_algorithms_reader_registry.html#"),
        ("x86", "Platforms", "md_docs_platforms.html"),
        ("23 kib microcontrollers", "What to read", "index.html#"),
    ],
)
def test_the_search_finds_words_of_headings_and_text(page, words, heading, target):
    page.goto((SITE / "md_docs_guide_wire.html").as_uri())
    page.locator("#MSearchField").click()
    page.keyboard.type(words, delay=5)
    found = page.frame_locator("#MSearchResults").locator(f"a.SRSymbol[href*='{target}']:visible", has_text=heading)
    found.first.click()
    page.wait_for_url(f"**/{target}**")


def test_the_search_shows_first_what_has_a_word_in_its_heading(page):
    page.goto((SITE / "index.html").as_uri())
    page.locator("#MSearchField").click()
    page.keyboard.type("full queue", delay=5)
    found = page.frame_locator("#MSearchResults").locator("a.SRSymbol:visible")
    found.first.wait_for()
    assert ["queue" in each.lower() for each in found.all_inner_texts()[:5]] == [True] * 5


# The lines that each number with its unit takes on the screen.
LINES_OF_FIGURES = """() => {
    const walker = document.createTreeWalker(document.querySelector("div.contents"), NodeFilter.SHOW_TEXT);
    const found = [];
    for (let node; (node = walker.nextNode());) {
        if (node.parentElement.closest("pre, code, div.fragment")) continue;
        for (const match of node.data.matchAll(/\\d\\s(ns|us|ms|s|KiB|MiB|MB)\\b/g)) {
            const range = document.createRange();
            range.setStart(node, match.index);
            range.setEnd(node, match.index + match[0].length);
            const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
            found.push([match[0], tops.size]);
        }
    }
    return found;
}"""


@pytest.mark.parametrize("name", ["index", "md_docs_decisions_log_writing", "md_docs_published_mccc_report"])
def test_on_a_phone_no_number_is_parted_from_its_unit(browser, name):
    page = browser.new_page(viewport=PHONE)
    page.goto((SITE / f"{name}.html").as_uri())
    page.wait_for_load_state()
    figures = page.evaluate(LINES_OF_FIGURES)
    assert len(figures) > 3
    assert [text for text, lines in figures if lines > 1] == []
    page.close()


def test_the_results_of_the_search_have_the_scheme_of_the_page(browser):
    page = browser.new_page(color_scheme="dark")
    page.goto((SITE / "index.html").as_uri())
    page.locator("#MSearchField").click()
    page.keyboard.type("bus", delay=5)
    page.frame_locator("#MSearchResults").locator("a.SRSymbol:visible").first.wait_for()
    colour = "getComputedStyle(document.body).backgroundColor"
    [frame] = [each for each in page.frames if "/search/" in each.url]
    assert frame.evaluate(colour) == page.evaluate(colour) != "rgb(255, 255, 255)"
    page.locator("doxygen-awesome-dark-mode-toggle").click()
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.close()


@pytest.mark.parametrize(
    "name",
    ["index", "md_docs_guide_bus", "md_docs_architecture", "classsluice_1_1Inspector", "classsluice_1_1Inspector-members"],
)
def test_on_a_phone_nothing_is_wider_than_the_screen(browser, name):
    page = browser.new_page(viewport=PHONE)
    page.goto((SITE / f"{name}.html").as_uri())
    page.wait_for_load_state()
    wide = page.evaluate("document.querySelector('#doc-content').scrollWidth - window.innerWidth")
    assert wide <= 0
    page.close()
