"""The page as its reader has it: in a real browser, wide, narrow, dark and printed."""

import itertools
import os
import re
import shutil
from pathlib import Path

import pytest
import sample
from sluice_bench import page, record

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
    widths = sorted(
        bar["width"] for bar in map(lambda i: bars.nth(i).bounding_box(), range(bars.count()))
    )
    assert widths[-1] > 50 * max(widths[0], 1)  # 9 ns beside 900 ns, from zero


def test_rounds_that_are_hidden_take_no_room_from_the_bars(visit):
    opened = visit()
    axis = opened.page.locator("#scenario-spsc-64B .role-axis-grid").first.bounding_box()
    assert axis["width"] > 0.7 * opened.page.locator("main").bounding_box()["width"]


def test_a_chart_in_a_folded_part_is_as_wide_as_the_page_once_opened(visit):
    opened = visit()
    fold = opened.page.locator("details:has(#scenario-size-8)")
    fold.locator("summary").first.click()
    opened.page.wait_for_function(
        "document.querySelector('#scenario-size-8 svg').getBoundingClientRect().width > 500"
    )


def test_rounds_are_shown_on_demand(visit):
    opened = visit()
    points = opened.page.locator("#scenario-spsc-64B .mark-symbol path")
    assert points.count() == 40
    assert points.first.get_attribute("opacity") == "0"
    opened.page.check("#rounds")
    drawn = "document.querySelector('#scenario-spsc-64B .mark-symbol path')"
    opened.page.wait_for_function(f"{drawn}.getAttribute('opacity') > 0.5")


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


def test_dark_mode_is_dark_in_the_charts_too(visit):
    light, dark = visit(scheme="light"), visit(scheme="dark")
    places = [("body", "backgroundColor"), ("body", "color"), (".role-mark.mark-text text", "fill")]
    for place in places:
        assert brightness(light.colour(*place)) != brightness(dark.colour(*place))
    assert brightness(dark.colour("body", "backgroundColor")) < 60
    assert brightness(dark.colour(".role-mark.mark-text text", "fill")) > 200


def brightness(colour):
    return sum(int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]) / 3


@pytest.mark.parametrize("phone", [PHONE, SMALL_PHONE])
def test_a_phone_need_not_scroll_sideways(visit, phone):
    opened = visit(viewport=phone)
    assert opened.page.evaluate("document.documentElement.scrollWidth") == phone["width"]
    wide = "[...document.querySelectorAll('.chart svg')].map(e => e.getBoundingClientRect().right)"
    assert max(opened.page.evaluate(wide)) <= phone["width"]
    size = "getComputedStyle(document.querySelector('.role-mark.mark-text text')).fontSize"
    assert opened.page.evaluate(size) == "12px"


LONG = "longlibrary/a_queue_with_quite_a_long_name"


@pytest.fixture(scope="module")
def long_names(folder):
    """A page of names that leave a phone no room beside them."""
    results = []
    for at, name in enumerate([LONG, f"{LONG}/paced", f"{LONG}:unpadded/paced"]):
        results += [
            sample.result("spsc-64B", name, sample.noise(at, 4000.0)),
            sample.latency("idle-64B", name, sample.spread(at, 0.5), "idle-latency"),
        ]
    for each in results[:4]:
        each["flags"].append("UNRELIABLE")
    for scenario in ("spsc-64B", "idle-64B"):
        results.append(sample.failed(scenario, "longlibrary/lossy_queue_with_a_long_name"))
        results[-1].update(kind=results[0]["kind"] if scenario == "spsc-64B" else "idle-latency")
    made = sample.save(folder / "long.json", sample.content(results))
    (folder / "long.html").write_text(page.render(record.load(made)), encoding="utf-8")
    return folder / "long.html"


# Of every chart: the labels that its rows were given, and the texts that are there with their ends.
TEXTS = """
() => [...document.querySelectorAll('.chart')].map(chart => ({
  texts: [...chart.querySelectorAll('.role-mark.mark-text text')].map(text => {
    const box = text.getBoundingClientRect();
    return {text: text.textContent, left: box.left, right: box.right, top: box.top};
  }).filter(each => each.text.trim() && each.right > each.left),
  room: chart.getBoundingClientRect(),
}))
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_cuts_off_no_mark_and_no_verdict(browser, folder, long_names, scheme):
    opened = Visit(browser, long_names, viewport=SMALL_PHONE, scheme=scheme)
    opened.page.screenshot(path=folder / f"long-{scheme}.png", full_page=True)
    charts = opened.page.evaluate(TEXTS)
    opened.context.close()
    texts = [each["text"] for chart in charts for each in chart["texts"]]
    marks = ["INVALID", "UNRELIABLE", "faster", "slower", "same", "undecided"]
    labels = [text for text in texts if any(text.endswith(mark) for mark in marks)]
    assert sum(text == "INVALID" for text in texts) == 2
    assert sum(text.startswith("UNRELIABLE · ") for text in texts) == 4
    assert len([text for text in labels if " · " in text]) == 4  # verdicts of the variants
    assert texts.count("2 messages were lost") == 2
    names = [text for text in texts if "_name" in text]
    assert sum(name.endswith("paced") for name in names) == 8 and len(names) == 12
    assert not [text for text in texts if "…" in text]
    for chart in charts:
        for each in chart["texts"]:
            assert chart["room"]["left"] <= each["left"]
            assert each["right"] <= chart["room"]["right"]
        for one, other in itertools.combinations(chart["texts"], 2):
            apart = one["right"] <= other["left"] or other["right"] <= one["left"]
            assert apart or abs(one["top"] - other["top"]) > 8, (one, other)


# The verdict stands on the first page that is printed, so before the third one.
def test_the_verdict_is_on_the_first_screen(visit):
    opened = visit()
    box = opened.page.locator("#verdict table").bounding_box()
    assert box["y"] < DESKTOP["height"]


def test_it_prints_on_white_with_every_part_unfolded(visit, folder):
    opened = visit(scheme="dark")
    opened.page.emulate_media(media="print", color_scheme="dark")
    assert opened.colour("body", "backgroundColor") == "rgb(255, 255, 255)"
    assert opened.colour(".role-mark.mark-text text", "fill") == "rgb(0, 0, 0)"
    folded = opened.page.locator("details:not([open])").count()
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.page.locator("details:not([open])").count() == 0
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.page.locator("details:not([open])").count() == folded > 0
    opened.page.pdf(path=folder / "print.pdf", prefer_css_page_size=True)
