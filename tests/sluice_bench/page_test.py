"""The content of the page, read as text; browser_test.py opens it."""

import json
import re
from html.parser import HTMLParser

import pytest
import sample
from sluice_bench import contents, page


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
    text = "\n".join(whole.words[whole.words.index("Everything that the suite knows, with what became of it.") :])
    for name, state in zip([*sample.MEMBERS, sample.ABSENT], ["measured"] * 3 + ["failed", "absent"]):
        assert re.search(rf"^{re.escape(name)}\n.*\n.*\n{state}$", text, re.MULTILINE), name
    assert "size-8: 2 messages were lost" in text
    assert "not compiled in; configure with -DABSENT=<folder>" in text


def rows_of(chart):
    """The rows of all its data; points of single rounds and of percentile curves are no figures."""
    rows = [each for rows in all_values(chart, "values") for each in rows if isinstance(each, dict)]
    return [each for each in rows if "subject" in each and not {"round", "nines"} & {*each}]


def test_every_subject_is_drawn_and_the_failed_one_in_its_place(whole):
    rows = [each for chart in whole.charts for each in rows_of(chart)]
    assert {*sample.MEMBERS} <= {each["subject"] for each in rows if each.get("value")}
    failed = {each["subject"] for each in rows if each.get("label") == "INVALID"}
    assert failed == {"peer/Slow"}


# The overflow demonstration is labelled, with what was rejected.
def test_the_demonstration_is_neither_drawn_nor_ranked(loaded, whole):
    record = loaded(sample.whole())
    assert "over-64B" not in [line[0] for line in contents.quickest(record)]
    assert "over-64B" not in contents.variants(record)
    index = whole.words.index("A demonstration, not a result: never ranked.")
    assert whole.words[index + 1] == "over-64B"
    assert whole.words[index + 2] == "All figures"
    assert any("87.2% rejected" in word for word in whole.words)

