"""Two files side by side, and the gate."""

import numpy as np
import pytest
import sample
from sample import noise, result
from sluice_bench import compare, gate
from sluice_bench.record import BadInput, Record

NAMES = [f"peer/Queue{number}" for number in range(5)]


def run_of(seed, factor=1.0, names=NAMES, rounds=10, cv=0.03, **more):
    """Every round in a process of its own."""
    rounds_of = {name: noise(100 * seed + at, 20 * factor, rounds, cv) for at, name in enumerate(names)}
    return sample.content([result("spsc", *each, processes=rounds) for each in rounds_of.items()], **more)


@pytest.fixture
def pair(loaded):
    return lambda base, new: (loaded(base, "base.json"), loaded(new, "new.json"))


def only(changes):
    assert len(changes) == 1
    return changes[0]


TRIALS = 60


def shifted_run(seed, factor=1.0, processes=5, rounds=2):
    """A table in which every process shifts its rounds by a layout of its own."""
    results = []
    for at, name in enumerate(NAMES[:3]):
        layout = noise(1000 * seed + at, 20 * factor, processes, cv=0.02)
        values = np.concatenate([noise(9000 * seed + 9 * at + i, ns, rounds, 0.005) for i, ns in enumerate(layout)])
        results.append(result("spsc", name, values, processes=processes))
    return Record(sample.content(results), f"{seed}.json")


def tables(factor=1.0, **shape):
    """Of pairs of runs, the verdicts of each."""
    for trial in range(TRIALS):
        base, new = shifted_run(2 * trial, **shape), shifted_run(2 * trial + 1, factor, **shape)
        yield [change.verdict for change in compare.changes(base, new)]


def test_two_runs_of_the_same_program_rarely_differ_anywhere():
    """A whole table, where every line is another chance to be wrong."""
    wrong = sum(bool({"faster", "slower"} & {*verdicts}) for verdicts in tables())
    assert wrong <= 0.05 * TRIALS


def test_finds_a_slowdown_of_a_tenth_from_enough_processes():
    found = [verdict for verdicts in tables(1.1) for verdict in verdicts]
    assert found.count("slower") >= 0.95 * len(found)


def test_one_process_a_side_decides_nothing_and_says_what_would(pair):
    base, slow = (shifted_run(seed, factor, 1, 30) for seed, factor in ((1, 1.0), (2, 1.5)))
    table = compare.changes(base, slow)
    assert {(each.verdict, each.doubt) for each in table} == {("undecided", "1 process a side, 5 needed")}
    assert {each.outcome for each in gate.gate(base, slow, 0.05)} == {"undecided"}
    note = "to get a decision on 3 results, measure both sides with `--processes 5`"
    assert [line.startswith(note) for line in compare.notes(base, slow)] == [True]
    enough = [shifted_run(seed) for seed in (1, 2)]
    assert compare.notes(*enough) == []


# Kinds are never put side by side.
def test_refuses_to_compare_kinds(pair):
    raw = sample.content([result("spsc", NAMES[0], noise(1, 5), "raw-enqueue")])
    with pytest.raises(BadInput, match="kinds are never compared"):
        compare.changes(*pair(run_of(1), raw))


def test_says_why_a_result_is_not_compared(pair):
    base = run_of(1)
    new = run_of(2, names=[*NAMES[1:], "peer/New"])
    new["results"][0]["params"]["capacity"] = 8
    new["results"][1].update(sample.failed("spsc", NAMES[2]))
    base["results"][3].update(sample.failed("spsc", NAMES[3]))
    for made in (base, new):
        made["subjects"].append(sample.subject("over/Queue"))
        made["results"].append(result("over", "over/Queue", noise(1, 1), "overflow", rejected=9000))
    verdicts = {change.subject: change.verdict for change in compare.changes(*pair(base, new))}
    assert verdicts.pop(NAMES[4]) in ("same", "undecided")
    known = dict(zip(NAMES, ("missing", "parameters differ", "invalid", "was invalid")))
    assert verdicts == {**known, "peer/New": "new", "over/Queue": "demonstration"}


def test_compares_tails(pair):
    def tails(factor):
        samples = sample.spread(1, 0.5) * factor
        made = sample.latency("load", "ours/Ring", samples, load=0.5, processes=10)
        return sample.content([made])

    assert only(compare.changes(*pair(tails(1), tails(2)), "p99")).verdict == "slower"


@pytest.mark.parametrize("factor, outcome", [(1.0, "pass"), (1.3, "regression"), (0.7, "improvement"), (1.05, "undecided")])
def test_the_gate(pair, factor, outcome):
    base, new = run_of(1, rounds=20, cv=0.01), run_of(2, factor, rounds=20, cv=0.01)
    judged = gate.gate(*pair(base, new), 0.05)
    assert {each.outcome for each in judged} == {outcome}


FLOOR = [{"scenario": "spsc", "floor": 1.5}]


def test_the_gate_does_not_pass_what_the_noise_floor_hides(pair):
    judged = gate.gate(*pair(run_of(1), run_of(2, 1.3, noise_floor=FLOOR)), 0.05)
    assert {each.outcome for each in judged} == {"undecided"}


def test_the_gate_does_not_pass_what_was_measured_otherwise(pair):
    new = run_of(2)
    new["results"][0]["params"]["capacity"] = 8
    outcomes = [each.outcome for each in gate.gate(*pair(run_of(1), new), 0.05)]
    assert outcomes[0] == "undecided"
    assert {*outcomes[1:]} <= {"pass", "undecided"}


def test_the_gate_is_not_passed_by_what_fails_or_is_gone(pair):
    reasons = ["1 result is INVALID"]
    new = run_of(2, names=NAMES[1:])
    new.update(credible=False, not_credible_because=reasons)
    new["results"][0].update(sample.failed("spsc", NAMES[1]))
    judged = {each.change.subject: each.outcome for each in gate.gate(*pair(run_of(1), new), 0.05)}
    assert judged[NAMES[0]] == "undecided"
    assert judged[NAMES[1]] == "regression"
    with pytest.raises(BadInput, match=r"base.json is not credible: 1 result is INVALID"):
        gate.gate(*pair(new, run_of(1)), 0.05)
    new["not_credible_because"] = [*reasons, "the run was interrupted"]
    with pytest.raises(BadInput, match=r"new.json is not credible: the run was interrupted"):
        gate.gate(*pair(run_of(1), new), 0.05)
