"""The pages of `compare` and `trend`, and the files of HdrHistogram."""

import re

import numpy as np
import pytest
import sample
from sluice_bench import hgrm
from sluice_bench.cli import main
from sluice_bench.colours import KNOWN, colour_of


def run_of(factor=1.0, seed=1):
    names = {"ours/Ring": 20 * factor, "ours/Ring/paced": 10, "peer/<queue>": 40}
    return sample.content(
        [
            sample.result("spsc", name, sample.noise(seed + at, ns), processes=10)
            for at, (name, ns) in enumerate(names.items())
        ]
    )


@pytest.fixture
def page(tmp_path):
    """Runs the tool with --html and returns the page."""

    def make(*arguments):
        path = tmp_path / "page.html"
        assert main([*map(str, arguments), "--html", str(path)]) == 0
        text = path.read_text(encoding="utf-8")
        return text[: text.index("<script>")]

    return make


def test_compare_writes_a_page_that_begins_with_the_verdict(page, saved, capsys):
    text = page("compare", saved(run_of(), "base.json"), saved(run_of(2.0, 7), "new.json"))
    assert capsys.readouterr().out == ""
    body = text[text.index("<body>") :]
    assert body.index("1 slower") < body.index("Slower: spsc, ours/Ring (") < body.index("<h3>")
    assert "peer/&lt;queue&gt;" in body
    assert '"title": "time new / time base, logarithmic"' in body


def test_compare_writes_both_when_both_are_asked_for(page, saved, tmp_path):
    table = tmp_path / "table.md"
    base = saved(run_of(), "base.json")
    page("compare", base, saved(run_of(2.0, 7), "new.json"), "--markdown", table)
    assert "**slower**" in table.read_text(encoding="utf-8")


def test_a_trend_shows_every_file_in_its_order(page, saved):
    files = [saved(run_of(factor, 5), f"{name}.json") for factor, name in
             ((1.0, "one"), (1.5, "two"), (2.0, "three"))]  # fmt: skip
    text = page("trend", *files)
    assert "Trend over 3 files" in text
    places = [text.index(f"<button type=\"button\">{label}</button>") for label in
              ("1: one.json", "2: two.json", "3: three.json", "last beside first")]  # fmt: skip
    assert places == sorted(places)
    row = re.search(r'data-key="ours/Ring">.*?</tr>', text)[0]
    medians = [float(value) for value in re.findall(r">([\d.]+) ns<", row)]
    assert medians == pytest.approx([20, 30, 40], rel=0.1)
    assert row.endswith('verdict slower" data-key="slower">slower</td></tr>')


def test_a_legend_leaves_no_subject_out():
    from sluice_bench.charts import legend

    # Vega's own limit is 30 entries; 0 means no limit.
    assert legend([f"ours/{number}" for number in range(33)]).to_dict()["symbolLimit"] == 0


def test_a_trend_of_one_file_and_of_two_processors_is_refused(saved, capsys, tmp_path):
    other = run_of()
    other["environment"]["cpu"] = "Another CPU"
    one, two = saved(run_of(), "one.json"), saved(other, "two.json")
    for files, said in (([one], "two files at least"), ([one, two], "different CPUs")):
        assert main(["trend", *map(str, files), "--html", str(tmp_path / "page.html")]) == 2
        assert said in capsys.readouterr().err


# "One colour per library": in every chart of a page, and on the pages of two files.
def test_a_library_has_its_colour_wherever_it_stands(loaded):
    from sluice_bench import page as pages

    def colours_of(made):
        found = {}
        for chart in specifications(pages.render(loaded(made))):
            domain, shades = chart["domain"], chart["range"]
            for name, colour in zip(domain, shades):
                if str(colour).startswith("#"):
                    found.setdefault(name.split("/")[0], set()).add(colour)
        return found

    def specifications(text):
        import json

        for each in re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL):
            yield from scales(json.loads(each))

    def scales(node):
        if isinstance(node, dict):
            if "domain" in node and isinstance(node.get("range"), list):
                yield node
            for value in node.values():
                yield from scales(value)
        elif isinstance(node, list):
            for value in node:
                yield from scales(value)

    whole, alone = colours_of(sample.whole()), colours_of(run_of())
    assert whole["ours"] == alone["ours"] == {colour_of("ours")}
    assert whole["peer"] == alone["peer"] == {colour_of("peer")}


def test_exports_a_file_for_each_latency_that_hdrhistogram_reads(saved, tmp_path):
    made = sample.content(
        [
            sample.latency("idle", "peer/<queue> & co", sample.spread(1, 0.5), "idle-latency"),
            sample.result("spsc", "ours/Ring", sample.noise(1, 9)),
        ]
    )
    folder = tmp_path / "latencies"
    status = main(["export", str(saved(made)), "--format", "hgrm", "--output", str(folder)])
    assert status == 0
    assert [each.name for each in folder.iterdir()] == ["idle_peer_queue_co.hgrm"]
    heading, empty, *lines = (folder / "idle_peer_queue_co.hgrm").read_text().splitlines()
    assert heading.split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
    assert empty == ""
    rows = [[float(cell) for cell in line.split()] for line in lines if not line.startswith("#")]
    for column in zip(*rows):
        assert list(column) == sorted(column)
    assert rows[0][1] == 0 and rows[-1][1:] == [1, 5000, float("inf")]
    for value, share, count, rarity in rows[:-1]:
        assert count >= share * 5000 - 1e-6
        assert rarity == pytest.approx(1 / (1 - share), rel=0.01)
    median = next(value for value, share, *_ in rows if share >= 0.5)
    assert median == pytest.approx(np.median(sample.spread(1, 0.5)), rel=0.1)
    assert re.search(r"^#\[Max +=.*Total count +=  +5000\]$", "\n".join(lines), re.MULTILINE)


def test_hgrm_needs_a_folder_and_latencies(saved, capsys, tmp_path):
    file = saved(run_of())
    assert main(["export", str(file), "--format", "hgrm"]) == 2
    assert "name a folder with --output" in capsys.readouterr().err
    assert main(["export", str(file), "--format", "hgrm", "--output", str(tmp_path / "x")]) == 2
    assert "holds no latencies" in capsys.readouterr().err
