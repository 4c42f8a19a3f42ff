"""The first thing on the page: how ours stand, what is missing, and how many rounds were run."""

import re

import sample
from sluice_bench import page


def words_of(record):
    text = page.render(record)
    body = text[text.index("<body>") : text.index("<script>")]
    body = re.sub(r"<script.*?</script>", "", body, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def three_of(rounds):
    names = {"ours/Ring": 20, "peer/Quick": 10, "peer/Slow": 40}
    return [sample.result("a", name, sample.noise(at, ns, rounds)) for at, (name, ns) in enumerate(names.items())]


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
        {"scenario": "b", "subject": "ours/Ring", "at_most": 5000.0, "p99": 23153.4, "met": False, "missed": True},
    ]  # fmt: skip
    return sample.content(three_of(rounds), comparisons=lines, targets=targets)


def test_the_verdict_stands_before_everything_but_whether_to_believe_it(loaded):
    text = words_of(loaded(made_up()))
    places = [
        text.index(phrase)
        for phrase in (
            "Credible: yes.",
            "Targets missed: 2 of 5. a : ours/Ring, at most 0.333 x peer/Quick, reached 2.000 (",
            "b : ours/Ring, at most 5,000 ns, reached 23,153",
            "in the interval of the figure: 2. a : ours/Ring, at most 0.5 x peer/Slow, reached 0.500 (",
            "b : ours/Ring, at most 1 x peer/Slow, reached 0.976",
            "Ours beside others, by scenario: 1 faster, 1 slower.",
            "ours/Ring peer/Quick 1 slower : a",
            "Summary",
        )
    ]
    assert places == sorted(places)

