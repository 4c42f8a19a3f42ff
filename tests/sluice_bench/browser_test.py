"""The page as its reader has it: in a real browser, wide, narrow, dark and printed."""

import os
import re
import shutil
from pathlib import Path

import pytest
import sample
from sluice_bench import page, record

ROOT = Path(__file__).resolve().parents[2]
sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
SMALL_PHONE = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the page and the pictures go."""
    named = os.environ.get("SLUICE_BENCH_PICTURES")
    folder = Path(named) if named else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    made = sample.save(folder / "whole.json", sample.whole())
    (folder / "whole.html").write_text(page.render(record.load(made)), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


class Visit:
    """One opened page, with everything that it said or asked for."""

    def __init__(self, browser, file, viewport=DESKTOP, scheme="light"):
        self.said, self.asked = [], []
        self.context = browser.new_context(viewport=viewport, color_scheme=scheme)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("body[data-drawn]", state="attached")

    def colour(self, selector, of):
        script = "([s, of]) => getComputedStyle(document.querySelector(s))[of]"
        return self.page.evaluate(script, [selector, of])

    def column(self, table, number):
        return table.locator(f"tbody tr td:nth-child({number})").all_inner_texts()


@pytest.fixture
def visit(browser, folder):
    visits = []

    def open_page(**options):
        visits.append(Visit(browser, folder / "whole.html", **options))
        return visits[-1]

    yield open_page
    for each in visits:
        each.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE, SMALL_PHONE])
def test_it_opens_without_a_word_and_asks_for_nothing(visit, folder, viewport, scheme):
    opened = visit(viewport=viewport, scheme=scheme)
    name = f"{viewport['width']}-wide"
    opened.page.screenshot(path=folder / f"{name}-{scheme}.png", full_page=True)
    assert opened.said == []
    assert opened.asked == [(folder / "whole.html").as_uri()]


def test_all_charts_are_drawn(visit):
    opened = visit()
    charts = opened.page.locator(".chart")
    assert charts.count() > 10
    assert opened.page.locator(".chart svg").count() == charts.count()
    bars = opened.page.locator("#scenario-spsc-64B .mark-rect path")
    widths = sorted(bars.nth(index).bounding_box()["width"] for index in range(bars.count()))
    assert widths[-1] > 50 * max(widths[0], 1)  # 9 ns beside 900 ns, from zero


def test_tables_sort_by_the_figures_and_not_by_their_text(visit):
    opened = visit()
    article = opened.page.locator("#scenario-spsc-64B")
    article.locator("details.figures > summary").click()
    table = article.locator("table")
    heading = table.locator("th", has_text=re.compile(r"^\s*median"))
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    ascending = opened.column(table, 1)
    assert ascending == ["ours/Ring", "ours/Ring/paced", "peer/<queue> & co", "peer/Slow"]
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert opened.column(table, 1) == ascending[::-1]
    table.locator("th button").first.focus()
    opened.page.keyboard.press("Enter")
    assert opened.column(table, 1) == sorted(ascending)


# Of each text: itself, its base line, its left and its right end, the height of its letters, and its style.
TEXTS = """[...document.querySelectorAll("text")].map((each) => {
    const box = each.getBBox();
    return [each.textContent, each.getAttribute("y"), box.x, box.x + box.width, parseFloat(getComputedStyle(each).fontSize), each.getAttribute("class")];
})"""


@pytest.mark.parametrize("name", ["times.svg", "times.zh.svg"])
def test_the_chart_of_the_readme_can_be_read_on_a_phone(browser, name):
    opened = browser.new_page()
    opened.goto((ROOT / "docs/pictures" / name).as_uri())
    width = opened.evaluate("document.documentElement.viewBox.baseVal.width")
    texts = sorted(opened.evaluate(TEXTS), key=lambda each: each[1:3])
    assert min(each[4] for each in texts) * (PHONE["width"] - 32) / width > 10
    assert [each for each in texts if each[2] < 0 or each[3] > width] == []
    bars = opened.evaluate("document.querySelector('rect.own').x.baseVal.value")
    assert [each for each in texts if each[5] == "" and each[2] < bars < each[3] + 4] == []
    assert [pair for pair in zip(texts, texts[1:]) if pair[0][1] == pair[1][1] and pair[0][3] > pair[1][2]] == []
    opened.close()
