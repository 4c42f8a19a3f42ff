"""The live page as a person has it, in a real browser. With SLUICE_LIVE_PICTURES, it takes the guide's pictures."""

import os
from pathlib import Path

import pytest
from peer import peer

perfetto = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
sync_api = pytest.importorskip("playwright.sync_api")
WIDE = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def program():
    with peer("--title", "Robot <b>&amp;") as program:
        program.command("calm")
        yield program


@pytest.fixture
def opened(browser, program):
    """Opens the page; at the end no page has complained or asked another server for anything."""
    complaints = []
    contexts = []

    def open_page(address=program.address, **options):
        context = browser.new_context(**{"viewport": WIDE, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: request.url.startswith(address.split("?")[0]) or complaints.append(request.url))
        page.goto(address)
        page.locator("#state.live").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def until(page, condition):
    """The page's policy forbids wait_for_function(), which evaluates a text in the page."""
    while not page.evaluate(condition):
        page.wait_for_timeout(50)


def row_of(page, name):
    """The cells of an object, by the heads of the table."""
    heads = page.locator("thead").first.locator("th").all_inner_texts()
    row = page.locator("#objects tr").filter(has=page.locator("td:first-child", has_text=name))
    return dict(zip(heads, row.locator("td").all_inner_texts(), strict=True))


def test_the_numbers_are_those_of_the_program(opened, program):
    page = opened()
    program.command("flood")
    counts = program.command("pause")
    wanted = {
        "control": {"accepted": f"{counts['published']:,}", "done": f"{counts['delivered']:,}"},
        "mapper": {"refused": f"{counts['full']:,}", "done": f"{counts['handled']:,}"},
    }
    for name, cells in wanted.items():
        for _ in range(200):  # the last counts come with one of the next events
            row = row_of(page, name)
            if cells.items() <= row.items():
                break
            page.wait_for_timeout(50)
        assert {head: row[head] for head in cells} == cells
    program.command("calm")


def test_it_says_what_is_wrong_and_that_it_is_over(opened, program):
    page = opened()
    program.command("flood")
    line = page.locator("#findings li.fault:not(.past)", has_text="low is refused")
    line.wait_for()
    assert "its handlers take" in line.inner_text()
    page.locator(".node.wrong", has_text="mapper").wait_for()
    program.command("calm")
    page.locator("#findings li.past", has_text="ago").first.wait_for()


def test_the_graph_shows_who_sends_what(opened):
    page = opened()
    for name in ("laser", "wheels", "button", "control", "mapper", "frames"):
        page.locator("#graph .node", has_text=name).wait_for()
    page.locator("#graph .edge.moves text", has_text="/s").first.wait_for()
    assert page.locator("#graph .edge").count() == 4


def test_texts_of_the_program_are_texts(opened):
    page = opened()
    assert page.locator("h1").inner_text() == "Robot <b>&amp;"
    assert page.locator("h1 *").count() == 0


def test_the_keyboard_is_enough(opened):
    page = opened()
    page.locator(".node", has_text="mapper").focus()
    page.keyboard.press("Enter")
    page.locator("#tabs [aria-selected=true]", has_text="mapper").wait_for()
    page.locator(".node.chosen", has_text="mapper").wait_for()
    page.locator("#tabs [aria-selected=true]").focus()
    page.keyboard.press("ArrowRight")
    page.locator("#tabs [aria-selected=true]:focus", has_text="frames").wait_for()
    page.locator("#details summary").focus()
    page.keyboard.press("Enter")
    page.locator("#readings tr", has_text="sluice_queue_length").wait_for()


def test_the_charts_get_points(opened):
    page = opened()
    page.locator("#charts canvas").first.wait_for()
    until(page, "plots[0].plot.data[0].length > 2")
    assert page.evaluate("plots[0].plot.data[1].at(-1)") > 0
    boxes = page.locator("#charts figure").evaluate_all("list => list.map(each => [each.scrollWidth, each.clientWidth])")
    assert all(scroll <= client for scroll, client in boxes)
    page.locator("#tabs button", has_text="threads").click()
    page.locator("#charts figure", has_text="Processor time in percent").locator("canvas").wait_for()
    page.locator("#details summary").click()
    page.locator("#readings tr", has_text="sluice_thread_cpu_seconds").filter(has_text="mapper").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_wider_than_the_screen(opened, scheme):
    page = opened(viewport=PHONE, color_scheme=scheme)
    page.locator("#charts canvas").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(18, 22, 29)") == (scheme == "dark")


def test_the_page_follows_the_window_and_the_scheme(opened):
    page = opened()
    page.locator("#charts canvas").first.wait_for()
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    until(page, "plots.length && plots.every(({plot}) => plot.width < 390)")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


MANY_UPDATES = """([count, step]) => {
    source.close();
    const base = structuredClone(snapshot);
    for (let i = 0; i < count; ++i) {
        base.at += step;
        base.time += step;
        base.objects[0].readings.forEach((each) => (each[1] += 3));
        base.findings = [{fault: true, object: "it", text: `${i} of ${i % 7} are lost`}];
        show(structuredClone(base));
    }
    const lengths = [...objects.values()].flatMap((each) => [each.times, ...[...each.series.values()].flatMap((all) => [...all.values()])]);
    return {elements: document.querySelectorAll("*").length, longest: Math.max(...lengths.map((each) => each.length)),
        findings: seen.size, shown: byId("findings").children.length};
}"""


def test_nothing_grows_in_ten_thousand_updates(opened):
    page = opened()
    first = page.evaluate(MANY_UPDATES, [650, 1000])
    assert page.evaluate(MANY_UPDATES, [10000, 100]) == first
    assert first["longest"] == 600
    assert first["shown"] == 1


def test_a_click_saves_a_trace(opened):
    page = opened()
    with page.expect_download() as download:
        page.get_by_text("Trace of the last 5 seconds").click()
    assert download.value.suggested_filename == "last.perfetto-trace"
    trace = perfetto.Trace()
    trace.ParseFromString(download.value.path().read_bytes())
    packets = [packet for packet in trace.packet if packet.HasField("track_event")]
    assert 0 < packets[-1].timestamp - packets[0].timestamp < 6e9
    names = {packet.track_event.name for packet in packets}
    assert {"publish Scan", "Scan", "publish Stop", "Stop"} <= names


def test_a_token_is_needed_once(opened, browser):
    with peer("--token", "0123456789abcdef") as program:
        page = browser.new_page()
        assert page.goto(program.address).status == 401
        page.close()
        page = opened(program.address + "?token=0123456789abcdef")
        assert page.url == program.address  # the token is in no history
        page.reload()
        page.locator("#state.live").wait_for()


def test_it_says_that_the_program_has_ended(browser):
    with peer() as program:
        page = browser.new_page()
        page.goto(program.address)
        page.locator("#state.live").wait_for()
    page.locator("#state.lost", has_text="connection lost").wait_for(timeout=60000)
    page.close()


@pytest.mark.skipif("SLUICE_LIVE_PICTURES" not in os.environ, reason="the pictures stand in docs/pictures")
def test_pictures(opened):
    folder = Path(os.environ["SLUICE_LIVE_PICTURES"])
    with peer("--title", "Robot") as program:
        for name, options in (("wide", {}), ("dark", {"color_scheme": "dark"}), ("phone", {"viewport": PHONE})):
            page = opened(program.address, **options)
            program.command("calm")
            page.wait_for_timeout(4000)
            program.command("flood")
            page.wait_for_timeout(6000)
            page.locator(".node", has_text="mapper").click()
            page.wait_for_timeout(8000)
            page.screenshot(path=folder / f"live-{name}.png")
