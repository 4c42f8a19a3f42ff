"""The schema, and faults that it cannot express."""

import pytest
import sample
from sluice_bench.record import BadInput, load

STATISTICS = [f"{name}_ns" for name in ("mean", "stddev", "p50", "p95", "p99", "min", "max")]


def one_result():
    return sample.content([sample.result("spsc", "ours/Ring", [10.0, 11.0])])


def change(path, value):
    def apply(made):
        place = made
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return apply


def remove(*path):
    def apply(made):
        place = made
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]

    return apply


def unreliable(made):
    made["results"][0]["flags"].append("UNRELIABLE")


@pytest.mark.parametrize(
    ("spoil", "doubt"),
    [
        (change(["credible"], False), "the file says so, without a reason"),
        (change(["checklist", 0, "pass"], False), sample.QUESTIONS["features_aligned"]),
        (change(["run", "quick"], True), "a quick run is not for publication"),
        (change(["run", "interrupted"], True), "the run was interrupted"),
        (change(["run", "unpinned"], True), "no thread was tied to a CPU"),
        (change(["run", "skipped_scenarios"], ["mpsc"]), "1 scenario not run"),
        (unreliable, "1 result is UNRELIABLE"),
        # Each item of the template is there, even if only as unknown.
        (remove("environment", "governor"), "the file does not tell: governor"),
        (remove("environment", "program_hash"), "the file does not tell: program_hash"),
    ],
)
def test_does_not_take_the_word_of_a_file_against_what_it_holds(loaded, spoil, doubt):
    made = one_result()
    del made["not_credible_because"]
    spoil(made)
    assert loaded(made).doubts == [doubt]


def repeat(name):
    return lambda made: made[name].append(made[name][0])


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (remove("environment"), "'environment' is a required property"),
        (remove("subjects"), "'subjects' is a required property"),
        (change(["schema"], 2), "schema: 1 was expected"),
        # The statistics are there together or not at all.
        *((remove("results", 0, "stats", name), "results[0].stats") for name in STATISTICS),
        (change(["results", 0, "rounds_ns", 0], -1), "results[0].rounds_ns[0]: -1 is less than"),
        (change(["results", 0, "rounds_ns", 0], "fast"), "results[0].rounds_ns[0]: 'fast' is not"),
        (remove("results", 0, "rounds_ns"), "results[0]"),
        (change(["results", 0, "counts", "accepted"], 1.5), "results[0].counts.accepted"),
        (change(["results", 0, "subject"], "nobody"), "subject 'nobody' is not in subjects"),
        (change(["results", 0, "counts", "rejected"], 1), "2000 attempted are not 2000 accepted and 1"),
        (change(["results", 0, "counts", "dropped"], 1), "2000 attempted are not 2000 accepted and 1"),
        (change(["subjects", 0, "present"], False), "subjects[0].absent_because"),
        (change(["results", 0, "params", "producers"], []), "results[0].params.producers"),
        (change(["results", 0, "rounds_ns"], []), "and no figures of its rounds"),
        (repeat("results"), "results[1]: ours/Ring is in spsc twice"),
        (repeat("subjects"), "subjects: two have the same id"),
        (remove("checklist", 0), "checklist"),
        (remove("checklist"), "checklist"),
    ],
)
def test_refuses_in_one_line(saved, spoil, complaint):
    made = one_result()
    spoil(made)
    with pytest.raises(BadInput) as problem:
        load(saved(made))
    assert complaint in str(problem.value)
    assert "\n" not in str(problem.value)


def test_invalid_results_may_break_the_identities(loaded):
    made = one_result()
    made["results"][0]["counts"]["accepted"] -= 3
    made["results"][0]["flags"] = ["INVALID"]
    assert loaded(made).results


@pytest.mark.parametrize("text", ["", "{", "[1, 2", "[NaN]", "[1e999]", '["\\ud800"]', "\x00"])
def test_refuses_what_is_not_json(tmp_path, text):
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match="not JSON"):
        load(path)

