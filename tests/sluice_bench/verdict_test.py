"""The first thing on the page: how ours stand, what is missing, and how many rounds were run."""

import re

import sample
from sluice_bench import contents, figures, page, verdict


def words_of(record):
    text = page.render(record)
    body = text[text.index("<body>") : text.index("<script>")]
    body = re.sub(r"<script.*?</script>", "", body, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def three_of(rounds):
    names = {"ours/Ring": 20, "peer/Quick": 10, "peer/Slow": 40}
    return [
        sample.result("a", name, sample.noise(at, ns, rounds))
        for at, (name, ns) in enumerate(names.items())
    ]


def made_up(rounds=10):
    lines = [
        sample.comparison("a", "ours/Ring", "peer/Quick", 2.0, "slower"),
        sample.comparison("a", "ours/Ring", "peer/Slow", 0.5, "faster"),
        sample.comparison("a", "peer/Slow", "peer/Quick", 4.0, "slower"),
    ]
    targets = [
        {"scenario": "a", "subject": "ours/Ring", "baseline": "peer/Quick", "at_most": 1 / 3,
         "ratio": 2.0, "met": False},
        {"scenario": "a", "subject": "ours/Ring", "baseline": "peer/Slow", "at_most": 0.5,
         "ratio": 0.5, "met": False, "missed": False},
        {"scenario": "b", "subject": "ours/Ring", "baseline": "peer/Slow", "at_most": 1.0,
         "ratio": 0.976, "met": False},
        {"scenario": "a", "subject": "ours/Ring", "at_most": 30.0, "median": 20.0, "met": True},
    ]  # fmt: skip
    return sample.content(three_of(rounds), comparisons=lines, targets=targets)


def test_the_verdict_stands_before_everything_but_whether_to_believe_it(loaded):
    text = words_of(loaded(made_up()))
    places = [
        text.index(phrase)
        for phrase in (
            "Credible: yes.",
            "Targets missed: 1 of 4. a : ours/Ring, at most 0.333 x peer/Quick, reached 2.000 (",
            "in the interval of the figure: 2. a : ours/Ring, at most 0.5 x peer/Slow, reached 0.500 (",
            "b : ours/Ring, at most 1 x peer/Slow, reached 0.976",
            "Ours beside others, by scenario: 1 faster, 1 slower.",
            "ours/Ring peer/Quick 1 slower : a",
            "Summary",
        )
    ]
    assert places == sorted(places)


def test_with_few_rounds_nothing_is_ranked_and_the_page_says_how_many(loaded):
    record = loaded(made_up(rounds=3))
    text = words_of(record)
    assert "No ranking in 1 scenario: fewer than 6 rounds were run (3 rounds, 10 planned)" in text
    line = contents.quickest(record)[0]
    assert line[2:] == ("-", ["no ranking"], "3 rounds, 6 are needed")
    from sluice_bench.charts import Charts

    bars = Charts(record).bars(record.scenarios[0])["layer"][0]["data"]["values"]
    assert [bar["subject"] for bar in bars] == ["ours/Ring", "peer/Quick", "peer/Slow"]


def test_rounds_are_counted_and_not_believed(loaded):
    made = sample.content([*three_of(6), sample.result("b", "ours/Ring", [1.0, 2.0])])
    assert loaded(made).rounds_text == "2 to 6 rounds, 10 planned"
    made["run"]["rounds"] = 6
    made["results"] = made["results"][:3]
    assert loaded(made).rounds_text == "6 rounds"


def test_scenarios_that_did_not_run_say_why(loaded):
    made = made_up()
    made["run"].update(
        skipped_scenarios=["x", "y", "z"], skipped_because=["no time", "no time", "interrupted"]
    )
    text = words_of(loaded(made))
    assert "Not run , because no time: x, y. Not run , because interrupted: z." in text
    del made["run"]["skipped_because"]
    assert "because the file does not say why: x, y, z." in words_of(loaded(made))


def test_an_unsteady_machine_is_told_before_the_verdict(loaded):
    made = made_up()
    assert "--until-quiet" not in words_of(loaded(made))
    made["machine"] = [
        {"scenario": "a", "steady": False},
        {"scenario": "b", "steady": True},
    ]
    text = words_of(loaded(made))
    assert "The machine was not steady in 1 of 2 scenarios" in text
    assert text.index("--until-quiet 60") < text.index("Targets missed")


def test_memory_and_context_switches_have_columns(loaded):
    made = made_up()
    for each in made["results"]:
        each["per_message"] = {"context_switches": 0.001, "allocations": 0.0}
        for number, one in enumerate(each["rounds"]):
            one.update(
                peak_memory_mib=100.0 + number, voluntary_switches=4, involuntary_switches=number
            )
    header, rows = figures.table(loaded(made).scenarios[0])
    found = dict(zip(header, rows[0]))
    assert found["peak memory, MiB"][0] == "109"
    assert found["context switches / round"][0] == "8.5"
    assert "context switches / message" not in header
    assert "allocations / message" in header


def test_every_figure_of_the_table_has_its_interval(loaded):
    made = [*three_of(10), sample.failed("a", "peer/Broken")]
    made.append(sample.latency("idle", "ours/Ring", sample.spread(1, 0.5), "idle-latency"))
    (throughput, latency) = (figures.table(each) for each in loaded(sample.content(made)).scenarios)
    for row in throughput[1][:3]:
        found = dict(zip(throughput[0], row))
        low, high = map(float, found["95 % interval of median"][0].split(" .. "))
        assert low < found["median"][1] < high
    assert dict(zip(throughput[0], throughput[1][3]))["95 % interval of median"][0] == "-"
    place = latency[0].index("P99")
    assert latency[0][place + 1].endswith(" of P99")
    assert " .. " in latency[1][0][place + 1][0]


def test_few_rounds_have_no_interval_but_their_ends(loaded):
    header, rows = figures.table(loaded(sample.content(three_of(3))).scenarios[0])
    low, high = dict(zip(header, rows[0]))["lowest to highest round of median"][0].split(" .. ")
    assert float(low) < float(high)


def test_the_figure_of_a_target_has_the_interval_of_its_rounds(loaded):
    record = loaded(made_up())
    ratio, _, absent, median = record.targets
    for target, centre in ((ratio, 2.0), (median, 20.0)):
        low, high = map(float, verdict.reached(record, target).split("(")[1][:-1].split(" .. "))
        assert 0.9 * centre < low < high < 1.1 * centre
    assert verdict.reached(record, absent) == "0.976"
    assert "(" not in verdict.reached(loaded(made_up(rounds=3)), ratio)


def test_every_time_is_in_nanoseconds(loaded):
    slow = sample.latency("idle", "ours/Ring", 1e4 * sample.spread(1, 0.5), "idle-latency")
    record = loaded(sample.content([slow, sample.result("spsc", "ours/Ring", [2e6] * 6)]))
    assert "2,000,000 ns" in words_of(record)
    assert not re.search(r"\d (µs|ms|s)\b|msg/s", words_of(record))
    charts = re.findall(r'"application/json">(.*?)</script>', page.render(record), re.DOTALL)
    assert len(charts) == 3
    assert not re.search("million|µs| ms", " ".join(charts))
