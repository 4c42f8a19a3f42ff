"""Two files side by side, and the gate."""

import pytest
import sample
from sample import noise, result
from sluice_bench import compare, gate
from sluice_bench.record import BadInput

NAMES = [f"peer/Queue{number}" for number in range(5)]


def run_of(seed, factor=1.0, names=NAMES, rounds=10, cv=0.03, **more):
    results = [
        result("spsc", name, noise(100 * seed + at, 20 * factor, rounds, cv))
        for at, name in enumerate(names)
    ]
    return sample.content(results, **more)


@pytest.fixture
def pair(loaded):
    return lambda base, new: (loaded(base, "base.json"), loaded(new, "new.json"))


def only(changes):
    assert len(changes) == 1
    return changes[0]


def test_two_runs_of_the_same_rarely_differ_anywhere(pair):
    """A whole table, where every line is another chance to be wrong."""
    wrong = 0
    for trial in range(40):
        table = compare.changes(*pair(run_of(2 * trial), run_of(2 * trial + 1)))
        wrong += any(change.verdict in ("faster", "slower") for change in table)
    assert wrong <= 0.05 * 40


def test_finds_a_slowdown_of_a_tenth_in_every_line(pair):
    table = compare.changes(*pair(run_of(1), run_of(2, 1.1)))
    assert [change.verdict for change in table] == ["slower"] * len(NAMES)


def test_refuses_to_compare_kinds(pair):
    raw = sample.content([result("spsc", NAMES[0], noise(1, 5), "raw-enqueue")])
    with pytest.raises(BadInput, match="kinds are never compared"):
        compare.changes(*pair(run_of(1), raw))


def test_refuses_different_cpus(pair):
    other = run_of(2)
    other["environment"]["cpu"] = "Another CPU"
    with pytest.raises(BadInput, match="measured on different CPUs"):
        compare.changes(*pair(run_of(1), other))


def test_tells_that_one_program_was_built_with_assertions(pair):
    other = run_of(2)
    other["environment"]["assertions"] = True
    assert "assertions: False / True" in compare.notes(*pair(run_of(1), other))


def test_refuses_files_with_nothing_in_common(pair):
    other = sample.content([result("mpsc", NAMES[0], noise(1, 5))])
    with pytest.raises(BadInput, match="no valid result in common"):
        compare.changes(*pair(run_of(1), other))


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
    assert verdicts == {
        NAMES[0]: "missing",
        NAMES[1]: "parameters differ",
        NAMES[2]: "invalid",
        NAMES[3]: "was invalid",
        "peer/New": "new",
        "over/Queue": "demonstration",
    }


def test_more_messages_are_no_other_parameter(pair):
    new = run_of(2)
    for each in new["results"]:
        each["params"]["messages"] = 7
    assert all(change.ratio for change in compare.changes(*pair(run_of(1), new)))


def processes_of(seed, shift, processes):
    """Every process has a layout of its own, which shifts all its rounds."""
    layout = noise(seed, 1.0, processes, cv=0.05)
    values = [
        20 * shift * layout[at] * each for at in range(processes) for each in noise(at, 1, 10)
    ]
    return sample.content([result("spsc", "ours/Ring", values, processes=processes)])


def loaded_run(seed, send_interval, factor=1.0):
    made = sample.latency("load-0.5", "ours/Ring", factor * sample.spread(seed, 0.5))
    made["rounds_send_interval_ns"] = [send_interval] * len(made["rounds_ns"])
    return sample.content([made])


def test_latency_is_compared_at_one_rate_alone(pair):
    base, slow = loaded_run(1, 20.0), loaded_run(2, 20.4, 1.5)
    assert only(gate.gate(*pair(base, slow), 0.05)).outcome == "regression"
    faster_queue = loaded_run(2, 10.0, 1.5)
    for made in (base, faster_queue):
        made["results"].append(result("spsc", "ours/Ring", noise(3, 20)))
    table = {each.change.scenario: each for each in gate.gate(*pair(base, faster_queue), 0.05)}
    assert table["load-0.5"].change.problem == "another rate"
    assert table["load-0.5"].outcome == "undecided"


def test_many_processes_count_as_one_observation_each(pair):
    base, new = pair(processes_of(1, 1.0, 8), processes_of(2, 1.0, 8))
    assert len(compare.observations(base.results[0], "time", 8)) == 8
    assert len(compare.observations(base.results[0], "time", 9)) == 80
    assert compare.notes(base, new) == []


def test_says_that_one_process_cannot_tell_layout_from_speed(pair):
    assert any("layout of a process" in note for note in compare.notes(*pair(run_of(1), run_of(2))))


def test_says_what_else_differs(pair):
    new = run_of(2)
    new["environment"]["compiler"] = "clang 19"
    assert "compiler: g++ 12.2.0 / clang 19" in compare.notes(*pair(run_of(1), new))


def test_compares_instructions(pair):
    table = compare.changes(*pair(run_of(1), run_of(2, 1.1)), "instructions")
    assert {change.verdict for change in table} == {"slower"}


def test_compares_tails(pair):
    def tails(factor):
        samples = sample.spread(1, 0.5) * factor
        return sample.content([sample.latency("load", "ours/Ring", samples, load=0.5)])

    assert only(compare.changes(*pair(tails(1), tails(2)), "p99")).verdict == "slower"


def test_refuses_a_metric_that_no_file_has(pair):
    with pytest.raises(BadInput, match="no result has the metric 'cycles'"):
        compare.changes(*pair(run_of(1), run_of(2)), "cycles")


def with_allocations(made, amount):
    for each in made["results"]:
        each["per_message"]["allocations"] = amount
    return made


def test_allocations_from_none_to_some_are_a_regression(pair):
    base, new = pair(run_of(1), with_allocations(run_of(2), 1.0))
    assert {each.outcome for each in gate.gate(base, base, 0.05, "allocations")} == {"pass"}
    with_none = [(base, new, "regression"), (new, base, "improvement")]
    for before, after, outcome in with_none:
        assert {gate.outcome(c, 0.05) for c in compare.changes(before, after, "allocations")} == {
            outcome
        }


@pytest.mark.parametrize(
    ("amount", "outcome"),
    [(1.0, "pass"), (1.04, "pass"), (1.25, "regression"), (0.5, "improvement")],
)
def test_one_count_of_allocations_is_enough(pair, amount, outcome):
    files = pair(with_allocations(run_of(1), 1.0), with_allocations(run_of(2), amount))
    judged = gate.gate(*files, 0.05, "allocations")
    assert {each.outcome for each in judged} == {outcome}


@pytest.mark.parametrize(
    ("factor", "outcome"),
    [(1.0, "pass"), (1.3, "regression"), (0.7, "improvement"), (1.05, "undecided")],
)
def test_the_gate(pair, factor, outcome):
    base, new = run_of(1, rounds=20, cv=0.01), run_of(2, factor, rounds=20, cv=0.01)
    judged = gate.gate(*pair(base, new), 0.05)
    assert {each.outcome for each in judged} == {outcome}


FLOOR = [{"scenario": "spsc", "floor": 1.5}]


def test_the_gate_does_not_pass_what_the_noise_floor_hides(pair):
    judged = gate.gate(*pair(run_of(1), run_of(2, 1.3, noise_floor=FLOOR)), 0.05)
    assert {each.outcome for each in judged} == {"undecided"}


def test_the_noise_floor_of_times_is_not_that_of_instructions(pair):
    base, new = pair(run_of(1, noise_floor=FLOOR), run_of(2, 1.3, noise_floor=FLOOR))
    judged = gate.gate(base, new, 0.05, "instructions")
    assert {each.outcome for each in judged} == {"regression"}
    assert {each.change.floor for each in judged} == {1.0}


def test_the_gate_does_not_pass_what_was_measured_otherwise(pair):
    new = run_of(2)
    new["results"][0]["params"]["capacity"] = 8
    outcomes = [each.outcome for each in gate.gate(*pair(run_of(1), new), 0.05)]
    assert outcomes[0] == "undecided"
    assert {*outcomes[1:]} <= {"pass", "undecided"}


def test_the_gate_does_not_pass_a_metric_that_is_gone(pair):
    new = run_of(1)
    for each in new["results"][0]["rounds"]:
        each["perf"] = None
    judged = gate.gate(*pair(run_of(1), new), 0.05, "instructions")
    assert [each.outcome for each in judged[:2]] == ["undecided", "pass"]
    judged = gate.gate(*pair(new, run_of(1)), 0.05, "instructions")
    assert [each.outcome for each in judged[:2]] == ["no instructions", "pass"]


def test_the_gate_is_not_passed_by_what_fails_or_is_gone(pair):
    reasons = ["1 results are INVALID"]
    new = run_of(2, names=NAMES[1:])
    new.update(credible=False, not_credible_because=reasons)
    new["results"][0].update(sample.failed("spsc", NAMES[1]))
    judged = {each.change.subject: each.outcome for each in gate.gate(*pair(run_of(1), new), 0.05)}
    assert judged[NAMES[0]] == "undecided"
    assert judged[NAMES[1]] == "regression"
    with pytest.raises(BadInput, match=r"base.json is not credible: 1 results are INVALID"):
        gate.gate(*pair(new, run_of(1)), 0.05)
    new["not_credible_because"] = [*reasons, "the run was interrupted"]
    with pytest.raises(BadInput, match=r"new.json is not credible: the run was interrupted"):
        gate.gate(*pair(run_of(1), new), 0.05)


def test_the_gate_refuses_what_is_not_credible(pair):
    for base, new in ((True, False), (False, True)):
        with pytest.raises(BadInput, match="is not credible: it was made up"):
            gate.gate(*pair(run_of(1, credible=base), run_of(2, credible=new)), 0.05)
