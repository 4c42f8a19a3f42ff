"""The figures in the pages come from docs/evidence, and from nowhere else."""

import json
import lzma
import re
from pathlib import Path

import pytest
import sample
from sample import result
from sluice_bench import evidence, overview, page
from sluice_bench.record import BadInput, load

ROOT = Path(__file__).resolve().parents[2]
ROW = '{ work = "a message", scenario = "queues/spsc", a = "ours/Ring", b = "peer/Queue" }'
TABLE = f"""
[speed]
header = ["work", "ours", "peer", "ratio"]
cells = ["{{work}}", "{{a.ns}}", "{{b.rate}}", "{{ratio}}"]
rows = [{ROW}]

[speed-zh]
rows_of = "speed"
header = ["工作", "比值"]
cells = ["{{work}}", "{{ratio}}"]
because = {{ these = "不可靠", machine = "机器不稳定" }}
"""
PAGE = "# Page\n\n<!-- figures: speed -->\nold\n<!-- end of figures -->\n"


# Numbers stay beside their units.
RATIO = "0.50 (0.50 to 0.50)".replace(" ", evidence.JOINED)


def two(ours=10.0, peer=20.0):
    return [
        result("spsc", "ours/Ring", [ours * factor for factor in (1, 1.1, 0.9, 1, 1, 1, 1)]),
        result("spsc", "peer/Queue", [peer * factor for factor in (1, 1.1, 0.9, 1, 1, 1, 1)]),
    ]


@pytest.fixture
def tree(tmp_path):
    """Makes a tree with a page, a table and one raw file of these results."""

    def make(results, table=TABLE, page=PAGE, **more):
        folder = tmp_path / "docs/evidence"
        folder.mkdir(parents=True, exist_ok=True)
        made = json.dumps(sample.content(results, **more))
        (folder / "queues.json.xz").write_bytes(lzma.compress(made.encode()))
        (folder / "tables.toml").write_text(table, encoding="utf-8")
        (tmp_path / "README.md").write_text(page, encoding="utf-8")
        return tmp_path

    def write(*arguments, **more):
        root = make(*arguments, **more)
        evidence.write(root, root / "docs/evidence")
        return (root / "README.md").read_text(encoding="utf-8")

    make.write = write
    return make


def test_a_page_gets_the_figures_of_its_table(tree):
    text = tree.write(two())
    assert "old" not in text
    assert f"| a message | 10{evidence.JOINED}ns | 50 | {RATIO} |" in text
    assert "reliable" not in text


def unsteady(**state):
    return {"machine": [{"scenario": "spsc", "steady": False, "others_share": 0.0, **state}]}


@pytest.mark.parametrize(
    "flags, more, reason",
    [
        ([], unsteady(), "the machine was not steady"),
        ([], unsteady(others_share=0.04, stolen_share=0.01), "other programs used 4.0% of the processors"),
        ([], unsteady(line_one_way_ns={"min": 26.1, "max": 148.0}), "a cache line took between 26 and 148 ns from core to core"),
        (["UNRELIABLE"], {}, "the rounds of ours/Ring range from 9 ns to 11 ns".replace(" ns", f"{evidence.JOINED}ns")),
        ([], {"credible": False}, "the whole run is in doubt: it was made up"),
    ],
)
def test_a_ratio_or_a_figure_that_is_not_credible_is_marked_with_the_reason(tree, flags, more, reason):
    results = two()
    results[0]["flags"] = flags
    text = tree.write(results, **more)
    told = f"{evidence.BECAUSE['these']}\n\n- a message ([spsc](docs/evidence/queues.md)): {reason}.\n"
    assert f"{RATIO}{evidence.JOINED}\\* |" in text and told in text
    alone = tree.write(results, TABLE.replace("{ratio}", "-"), **more)
    assert f"| 10 ns \\* |".replace(" ns ", f"{evidence.JOINED}ns{evidence.JOINED}") in alone


def test_the_reason_has_the_language_of_its_table(tree):
    text = tree.write(two(), page=PAGE.replace("speed", "speed-zh"), **unsteady())
    assert "\n不可靠\n\n- a message ([spsc](docs/evidence/queues.md)): 机器不稳定.\n" in text


@pytest.mark.parametrize(
    "change, complaint",
    [
        (("figures: speed", "figures: other"), "no table 'other'"),
        (("queues/spsc", "queues/mpsc"), "queues/mpsc is in no file"),
        (("peer/Queue", "peer/Other"), "queues/spsc was run without peer/Other"),
        (("a.ns", "a.price"), "no figure is called price"),
        (("{work}", "{job}"), "job"),
    ],
)
def test_what_is_not_there_is_named(tree, change, complaint):
    with pytest.raises(BadInput, match=re.escape(complaint)):
        tree.write(two(), TABLE.replace(*change), PAGE.replace(*change))


def page_of(root):
    evidence.write(root, root / "docs/evidence")
    return (root / "docs/evidence/queues.md").read_text(encoding="utf-8")


def test_the_page_of_a_file_tells_how_it_was_measured(tree):
    text = page_of(tree(two()))
    for line in ("cores | 2 CPUs", "frequency | 3200 MHz", "L3 | 32 MiB", "governor | performance", "depth | 4,096"):
        assert f"| {line} |" in text
    assert "| peer | 1.2 | not recorded |" in text
    assert "| warm-ups | 3 |" in text and "| rounds | 7 rounds, " in text and "| pinning | " in text
    assert "| subject | " in text[text.index("## Features") :]


def test_what_the_file_does_not_know_is_not_recorded(tree):
    environment = {**sample.ENVIRONMENT, "governor": None, "l3_kib": None}
    text = page_of(tree(two(), environment=environment))
    assert "| governor | not recorded |" in text and "| L3 | not recorded |" in text


@pytest.mark.parametrize(
    "doubtful, answer",
    [("peer/Queue", "no** - these figures are not:\n\n- spsc, peer/Queue: UNRELIABLE: cv 0."), ("peer/Other", "yes.**")],
)
def test_rows_of_the_tables_are_judged_apart(tree, doubtful, answer):
    results = [*two(), result("spsc", "peer/Other", [30.0] * 7)]
    next(each for each in results if each["subject"] == doubtful)["flags"] = ["UNRELIABLE"]
    more = {"credible": False, "not_credible_because": ["1 result is UNRELIABLE"], "checklist": sample.checklist()}
    text = page_of(tree(results, **more))
    assert f"Credible for the rows of the tables: {answer}" in text
    assert "**Credible: no** - 1 result is UNRELIABLE." in text


def test_a_doubt_of_the_whole_run_is_one_of_its_rows(tree):
    text = page_of(tree(two(), credible=False, not_credible_because=["it was made up"], checklist=sample.checklist()))
    assert "Credible for the rows of the tables: no** - the whole run: it was made up." in text


def test_a_row_of_an_unsteady_scenario_is_named_with_the_state_of_the_machine(tree):
    state = {"scenario": "spsc", "steady": False, "others_share": 0.04, "stolen_share": 0.01}
    text = page_of(tree(two(), machine=[state]))
    cause = "the machine was not steady; other processes had 4.0% of the time of the CPUs, other virtual machines 1.0%."
    assert f"- spsc, ours/Ring: {cause}" in text and f"- spsc, peer/Queue: {cause}" in text


@pytest.mark.parametrize("change", [("queues/spsc", "queues/later"), ("peer/Queue", "peer/Later")])
def test_a_row_may_wait_for_its_measurement(tree, change):
    later = ROW.replace(*change).replace(" }", ", when_measured = true }").replace("a message", "later")
    assert "later" not in tree.write(two(), TABLE.replace(ROW, f"{ROW}, {later}"))
    assert "| later |" in tree.write(two(), TABLE.replace(ROW, f"{ROW}, {later.replace(*change[::-1])}"))


def test_a_figure_that_was_not_measured_is_a_dash(tree):
    table = TABLE.replace("{b.rate}", "{amd}").replace(ROW, ROW.replace(" }", ', amd = "-" }'))
    assert re.search(r"a message \| [^|]+ \| - \|", tree.write(two(), table))


@pytest.fixture(scope="module")
def of_the_tree():
    return evidence.Evidence(ROOT / "docs/evidence")


# The page's ratio and the program's are the same number.
def test_ratios_are_those_of_the_files(of_the_tree):
    compared = 0
    for record in of_the_tree.records.values():
        results = {(each["scenario"], each["subject"]): each for each in record.results}
        for line in record.comparisons:
            first = results.get((line["scenario"], line["subject"]))
            second = results.get((line["scenario"], line["baseline"]))
            if first and second and first["stats"] and second["stats"]:
                shown = evidence.ratio(first, second, True)
                if shown != "INVALID":
                    names = ("ratio", "ci_low", "ci_high")
                    expected = [line[name] for name in names]
                    assert [float(each) for each in re.findall(r"[\d.]+", shown)] == pytest.approx(
                        expected, abs=0.0051
                    )
                    compared += 1
    assert compared > 0


def test_the_pages_of_the_tree_show_what_the_files_say(of_the_tree):
    for page, text in of_the_tree.pages(ROOT).items():
        assert page.read_text(encoding="utf-8") == text, f"{page}: run ./dev bench evidence"


CHART = """
[chart]
picture = "docs/times.svg"
title = "Times"
note = ""
ratio = "ours / theirs"
unsteady = "* unsteady"
rows = [{ work = "a message", scenario = "queues/spsc", a = "ours/Ring", name_a = "Ring", b = "peer/Queue", name_b = "Queue" }]
"""


def chart_of(root):
    evidence.write(root, root / "docs/evidence")
    return (root / "docs/times.svg").read_text(encoding="utf-8")


def test_bars_of_the_chart_begin_at_zero_and_a_loss_is_a_loss(tree):
    svg = chart_of(tree(two(ours=20.0, peer=10.0), CHART, "# Page\n"))
    ours, theirs = (float(each) for each in re.findall(r'class="(?:own|other)"[^>]* width="([\d.]+)"', svg))
    assert ours == pytest.approx(2 * theirs, abs=0.2)
    assert re.search(r'class="slower"[^>]*>2\.00<', svg)
    assert "* unsteady" not in svg


def test_the_chart_marks_what_is_not_steady(tree):
    svg = chart_of(tree(two(), CHART, "# Page\n", machine=[{"scenario": "spsc", "steady": False}]))
    assert "10 ns *<" in svg and "* unsteady" in svg


def test_a_subject_that_the_chart_misses_is_named(tree):
    with pytest.raises(BadInput, match="queues/spsc was run without a subject of the chart"):
        tree.write(two(), CHART.replace("peer/Queue", "peer/Other"), "# Page\n")


def test_a_report_opens_with_the_rows_of_its_file(tree, tmp_path, monkeypatch):
    record = load(tree(two(), CHART) / "docs/evidence/queues.json.xz")
    monkeypatch.setattr(overview, "TABLES", tmp_path / "docs/evidence/tables.toml")
    text = page.render(record)
    assert 0 < text.index('<svg class="times"') < text.index('<section id="verdict">')
    monkeypatch.setattr(overview, "TABLES", tmp_path / "none")
    assert '<svg class="times"' not in page.render(record)
