"""The content of the page, read as text; browser_test.py opens it."""

import json
import re
from html.parser import HTMLParser

import pytest
import sample
from sluice_bench import contents, page
from sluice_bench import record as record_module
from sluice_bench.charts import Charts


class Page(HTMLParser):
    """The words of a page in order, its charts, and whatever it would load."""

    def __init__(self, text):
        super().__init__()
        self.words, self.charts, self.loads, self.inside = [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.inside = tag
        named = dict(attributes)
        if tag == "script" and named.get("type") == "application/json":
            self.inside = "chart"
        if tag in ("script", "img", "link", "iframe"):
            self.loads += [named[name] for name in ("src", "href") if name in named]

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "chart":
            self.charts.append(json.loads(data))
        elif self.inside not in ("script", "style", "title") and data.strip():
            self.words.append(" ".join(data.split()))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    from sluice_bench.record import load

    path = sample.save(tmp_path_factory.mktemp("page") / "whole.json", sample.whole())
    return Page(page.render(load(path)))


def shown(loaded, made):
    return Page(page.render(loaded(made)))


def all_values(node, name):
    """Every value of this name anywhere in a specification."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == name:
                yield value
            yield from all_values(value, name)
    elif isinstance(node, list):
        for each in node:
            yield from all_values(each, name)


def test_what_is_not_credible_says_why_first(loaded):
    made = sample.content([sample.result("a", "ours/Ring", [1.0, 2.0])], credible=False)
    made["run"].update(quick=True, interrupted=True)
    words = shown(loaded, made).words
    assert words[1:3] == ["Credible: no.", "it was made up"]
    assert "Quick:" in words
    assert "Partial:" in words
    assert "Not run" not in words
    made["run"]["skipped_scenarios"] = ["idle-64B", "loaded-64B"]
    assert "idle-64B, loaded-64B." in shown(loaded, made).words


def test_every_subject_is_there_with_what_became_of_it(whole):
    text = "\n".join(
        whole.words[whole.words.index("Everything that the suite knows, with what became of it.") :]
    )
    for name, state in zip(
        [*sample.MEMBERS, sample.ABSENT], ["measured"] * 3 + ["failed", "absent"]
    ):
        assert re.search(rf"^{re.escape(name)}\n.*\n.*\n{state}$", text, re.MULTILINE), name
    assert "size-8: 2 messages were lost" in text
    assert "not compiled in; configure with -DABSENT=<folder>" in text


def test_every_scenario_and_question_is_there(whole):
    for name in {each["scenario"] for each in sample.whole()["results"]}:
        assert name in whole.words
    for question in sample.QUESTIONS.values():
        assert question in whole.words


def test_it_loads_nothing(whole):
    assert whole.loads == ["data:,"]


# Charts begin at zero or say that they are logarithmic, name their unit, show the interval of
# every figure, and leave nothing out.
def test_charts_of_throughput_begin_at_zero_and_say_which_way_is_better(loaded):
    record = loaded(sample.whole())
    chart = Charts(record).bars(record.scenarios[0])
    assert set(all_values(chart, "domainMin")) == {0}
    assert "ns, less is better" in all_values(chart, "title")


def test_other_axes_of_figures_are_logarithmic_and_say_so(whole):
    for chart in whole.charts:
        for axis in [*all_values(chart, "x"), *all_values(chart, "y")]:
            scale = axis.get("scale", {})
            if axis.get("field") in ("value", "low", "at") and scale.get("type") == "log":
                assert "logarithmic" in axis["title"]
            elif axis.get("field") == "value" and scale:
                assert scale.get("zero") is True or scale.get("domainMin") == 0


def rows_of(chart):
    """The rows of all its data; points of single rounds and of percentile curves are no figures."""
    rows = [each for rows in all_values(chart, "values") for each in rows if isinstance(each, dict)]
    return [each for each in rows if "subject" in each and not {"round", "nines"} & {*each}]


def test_every_figure_has_an_interval_about_it(whole):
    rows = [each for chart in whole.charts for each in rows_of(chart)]
    figures = [each for each in rows if each.get("value")]
    assert len(figures) > 50
    assert all(each["low"] <= each["value"] <= each["high"] for each in figures)
    assert sum(each["low"] < each["high"] for each in figures) > 0.9 * len(figures)


def test_every_subject_is_drawn_and_the_failed_one_in_its_place(whole):
    rows = [each for chart in whole.charts for each in rows_of(chart)]
    assert {*sample.MEMBERS} <= {each["subject"] for each in rows if each.get("value")}
    failed = {each["subject"] for each in rows if each.get("label") == "INVALID"}
    assert failed == {"peer/Slow"}


# Machine, program, parameters and inequalities are on the page.
def test_the_page_tells_the_whole_environment(whole):
    words = whole.words[whole.words.index("Environment", whole.words.index("Subjects") + 9) :]
    for name in record_module.ENVIRONMENT:
        assert words[words.index(name.replace("_", " ")) + 1] != ""
    for value in ("3200", "32768", "performance", "89abcdef01234567", "g++ 12.2.0"):
        assert value in words
    text = " ".join(whole.words)
    assert "message bytes 64, capacity 4096, producers 1" in text
    assert "topology: spsc / mpmc" in text


# A result in which we lose stands where any other does, and no word takes sides.
def test_where_we_lose_is_in_the_same_place(loaded):
    results = [
        sample.result("a", name, sample.noise(at, ns))
        for at, (name, ns) in enumerate([("ours/Ring", 20), ("peer/Quick", 10), ("peer/Slow", 40)])
    ]
    lines = [
        sample.comparison("a", "ours/Ring", "peer/Quick", 2.0, "slower"),
        sample.comparison("a", "peer/Slow", "peer/Quick", 4.0, "slower"),
    ]
    made = sample.content(results, comparisons=lines)
    record = loaded(made)
    bars = Charts(record).bars(record.scenarios[0])["layer"][0]["data"]["values"]
    assert [bar["subject"] for bar in bars] == ["peer/Quick", "ours/Ring", "peer/Slow"]
    assert contents.quickest(record)[0][3] == ["peer/Quick"]
    assert [row[0][0] for row in contents.comparisons(record)["a"]] == ["ours/Ring", "peer/Slow"]
    assert "a: 2 slower" in shown(loaded, made).words


def test_no_group_holds_two_kinds(loaded):
    record = loaded(sample.whole())
    for _, kind, scenarios in contents.groups(record):
        assert {each.kind for each in scenarios} == {kind}


# The overflow demonstration is labelled, with what was rejected.
def test_the_demonstration_is_neither_drawn_nor_ranked(loaded, whole):
    record = loaded(sample.whole())
    assert "over-64B" not in [line[0] for line in contents.quickest(record)]
    assert "over-64B" not in contents.variants(record)
    index = whole.words.index("A demonstration, not a result: never ranked.")
    assert whole.words[index + 1] == "over-64B"
    assert whole.words[index + 2] == "All figures"
    assert any("87.2% rejected" in word for word in whole.words)


def test_the_quickest_are_those_that_cannot_be_told_apart(loaded):
    results = [
        sample.result("a", "one", sample.noise(1, 10)),
        sample.result("a", "two", sample.noise(2, 10)),
        sample.result("a", "three", sample.noise(3, 12)),
        sample.result("a", "floor/none", sample.noise(4, 1)),
    ]
    line = contents.quickest(loaded(sample.content(results)))[0]
    assert sorted(line[3]) == ["one", "two"]


def test_without_a_noise_floor_no_two_are_told_apart(loaded):
    results = [
        sample.result("a", name, sample.noise(at, 10.0 * at))
        for at, name in ((1, "one"), (2, "two"), (3, "one/paced"))
    ]
    plain = {"scenario": "a", "subject": "two", "baseline": "one", "ratio": 2.0}
    made = sample.content(results, comparisons=[plain])
    record = loaded(made)
    assert contents.quickest(record)[0][3:] == (["one"], "")
    made["noise_floor"] = []
    record = loaded(made)
    assert contents.quickest(record)[0][3:] == (
        ["one", "two", "one/paced"],
        "without a noise floor no two are told apart",
    )
    assert contents.variants(record)["a"][0]["label"].endswith(" · undecided")
    assert contents.comparisons(record)["a"][0][1][0] == "undecided"


def test_says_that_one_process_varies_nothing(loaded):
    made = sample.content([sample.result("a", "one", sample.noise(1, 9))])
    assert "All rounds ran in one process" in " ".join(shown(loaded, made).words)
    made["run"]["processes"] = 5
    assert "All rounds ran in one process" not in " ".join(shown(loaded, made).words)


def test_a_variant_is_compared_with_its_subject(loaded):
    lines = contents.variants(loaded(sample.whole()))["spsc-64B"]
    assert [line["subject"] for line in lines] == ["ours/Ring, paced"]
    assert lines[0]["label"].endswith(" · slower")
    assert lines[0]["low"] < 24 / 9 < lines[0]["high"]


def test_a_file_without_intervals_gets_them_from_its_rounds(loaded):
    results = [
        sample.result("a", name, sample.noise(n, 10 * n)) for n, name in ((1, "one"), (2, "two"))
    ]
    plain = {"scenario": "a", "subject": "two", "baseline": "one", "role": "peer", "ratio": 2.0}
    row = contents.comparisons(loaded(sample.content(results, comparisons=[plain])))["a"][0]
    assert row[1][0] == "slower"
    low, high = map(float, row[3][0].split(" .. "))
    assert low < 2 < high


def test_a_comparison_of_too_few_rounds_has_no_interval(loaded):
    line = sample.comparison("a", "two", "one", 2.0, "undecided")
    line.update(ci_low=None, ci_high=None, noise_floor=None)
    results = [sample.result("a", name, [1.0, 2.0]) for name in ("one", "two")]
    row = contents.comparisons(loaded(sample.content(results, comparisons=[line])))["a"][0]
    assert (row[3][0], row[1][0]) == ("too few rounds", "undecided")


def test_a_sweep_has_the_main_matrix_in_it_and_one_set_of_subjects(loaded):
    def at(scenario, name, size, section):
        return sample.result(scenario, name, [1.0, 2.0], section=section, message_bytes=size)

    results = [
        at("one-64", "one", 64, ""),
        at("one-64", "unpadded", 64, ""),
        at("one-512", "one", 512, "message size"),
        at("two-8", "two", 8, "message size"),
        at("two-64", "two", 64, "message size"),
        at("alone", "three", 8, "message size"),
    ]
    record = loaded(sample.content(results))
    section, kind, scenarios = contents.groups(record)[1]
    found = contents.sweeps(record, section, kind, scenarios)
    assert [{each.name for each in family} for family in found] == [
        {"one-512", "one-64"},
        {"two-8", "two-64"},
    ]
    point = next(each for each in found[0] if each.name == "one-64")
    assert [each["subject"] for each in point.results] == ["one"]


@pytest.mark.parametrize("kind", ["loaded-latency", "call-latency"])
def test_rates_of_their_own_and_single_calls_are_drawn_and_not_ranked(loaded, kind):
    results = [
        sample.latency("load-0.5", name, sample.spread(at, 0.5), kind)
        for at, name in enumerate(["ours/Ring", "ours/Ring/paced"])
    ]
    record = loaded(sample.content(results))
    assert contents.quickest(record) == []
    assert contents.variants(record) == {}
    assert shown(loaded, sample.content(results)).charts


def test_memory_that_was_given_back_is_below_zero(loaded):
    each = sample.result("resident", "ours/Pool", [1.0, 1.0], "resident-memory")
    del each["rounds_ns"]
    each["rounds_mib"] = [-0.5, -0.25]
    each["stats"] = sample.statistics([-0.5, -0.25], "mib")
    record = loaded(sample.content([each]))
    chart = Charts(record).bars(record.scenarios[0])
    assert list(all_values(chart, "domainMin")) == [-0.5]
    page.render(record)


def test_the_page_tells_what_was_left_out(loaded):
    made = sample.content([sample.result("a", "ours/Ring", [1.0, 2.0], pinned=True)])
    made["subjects"].append(sample.subject("peer/Queue", absent="left out by --filter"))
    made["run"]["left_out_scenarios"] = ["idle-64B"]
    made["subjects"][0]["features"]["thread_safe"] = None
    words = shown(loaded, made).words
    assert words[words.index("Left out") + 1] == "by those who measured: 1 of 2 subjects, see"
    assert any(word.endswith("2 subjects, absent: 0, left out: 1.") for word in words)
    assert words[words.index("left out by --filter") - 1] == "left out"
    assert words[words.index("Scenarios left out:") + 1] == "idle-64B."
    assert words[1:5:2] == ["Credible: no.", ";"]
    assert "1 subject left out" in words
    assert "1 scenario left out" in words
    assert any("producers 1, pinned yes" in word for word in words)


def test_the_page_tells_where_the_threads_were(loaded):
    made = sample.content([sample.result("a", "ours/Ring", [1.0, 2.0])])
    assert "Where the threads were" not in shown(loaded, made).words
    made["environment"]["main_pair"] = {"distance": "same L3", "cpus": [2, 4]}
    missing = {"distance": "same core", "because": "there is no such pair"}
    made["environment"]["distances_missing"] = [missing]
    made["run"]["unpinned"] = True
    words = shown(loaded, made).words
    assert any("on the CPUs 2 and 4: same L3." in word for word in words)
    assert "Not measured: same core, because there is no such pair." in words
    assert "Unpinned:" in words


def test_arrivals_of_two_kinds_are_two_sweeps(loaded):
    results = [
        sample.latency(
            f"{schedule}-{load}", "one", sample.spread(1, load), section=section, load=load,
            schedule=schedule,
        )
        for schedule, section in (("constant", "load"), ("poisson", contents.POISSON))
        for load in (0.1, 0.5)
    ]  # fmt: skip
    record = loaded(sample.content(results))
    found = [contents.sweeps(record, *group) for group in contents.groups(record)]
    assert [[each.name for each in family] for [family] in found] == [
        ["constant-0.1", "constant-0.5"],
        ["poisson-0.1", "poisson-0.5"],
    ]
    assert (
        "Latency under load: against load, Poisson arrivals"
        in shown(loaded, sample.content(results)).words
    )


def test_a_file_without_results_has_a_page(loaded):
    assert "0 results, invalid: 0." in " ".join(shown(loaded, sample.content([])).words)
