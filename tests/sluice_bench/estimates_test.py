"""Whether the verdicts can be relied on: two equal things, and things that differ by a tenth."""

import pytest
from sample import noise
from sluice_bench import estimates

TRIALS = 60
SLOWER = 1.1


def paired(seed, factor=1.0, rounds=10):
    """Two series that were measured in turns: a disturbance of a round disturbed both."""
    shared = noise(3 * seed, 1.0, rounds, cv=0.1)
    new = shared * noise(3 * seed + 1, 20.0 * factor, rounds)
    base = shared * noise(3 * seed + 2, 20.0, rounds)
    return estimates.paired_ratio(new, base)


def unpaired(seed, factor=1.0, rounds=10):
    """Every round in a process of its own."""
    new, base = noise(2 * seed, 20.0 * factor, rounds), noise(2 * seed + 1, 20.0, rounds)
    return estimates.unpaired_ratio(new[:, None], base[:, None])


def side(seed, factor, processes=6, rounds=3):
    """Processes whose rounds are shifted together, and hardly differ otherwise."""
    shifts = noise(seed, 20.0 * factor, processes, cv=0.02)
    return [noise(1000 * seed + at, shift, rounds, cv=0.005) for at, shift in enumerate(shifts)]


def by_process(seed, factor=1.0):
    return estimates.unpaired_ratio(side(2 * seed, factor), side(2 * seed + 1, 1.0))


@pytest.mark.parametrize("rounds", [4, 6, 10, 30])
@pytest.mark.parametrize("ratio", [paired, unpaired])
def test_two_equal_subjects_are_rarely_told_apart(ratio, rounds):
    verdicts = [ratio(seed, rounds=rounds).verdict() for seed in range(TRIALS)]
    wrong = sum(verdict in ("faster", "slower") for verdict in verdicts)
    assert wrong <= 0.05 * TRIALS


@pytest.mark.parametrize("ratio", [paired, unpaired, by_process])
def test_a_slowdown_of_a_tenth_is_found(ratio):
    verdicts = [ratio(seed, SLOWER).verdict() for seed in range(TRIALS)]
    assert verdicts.count("slower") >= 0.95 * TRIALS
    assert "faster" not in verdicts


@pytest.mark.parametrize("ratio", [paired, unpaired, by_process])
def test_the_interval_holds_the_truth(ratio):
    found = [ratio(seed, SLOWER) for seed in range(TRIALS)]
    held = sum(each.low <= SLOWER <= each.high for each in found)
    assert held >= 0.9 * TRIALS


@pytest.mark.parametrize("ratio", [paired, unpaired])
def test_three_rounds_decide_nothing(ratio):
    assert all(ratio(seed, 3.0, rounds=3).verdict() == "undecided" for seed in range(20))


def test_a_difference_below_the_noise_floor_is_none():
    ratio = unpaired(1, SLOWER, rounds=40)
    assert ratio.verdict() == "slower"
    assert ratio.verdict(floor=1.2) == "undecided"


def test_equal_rounds_are_the_same():
    assert estimates.paired_ratio([5.0] * 10, [5.0] * 10).verdict() == "same"
    assert unpaired(7, rounds=400).verdict() == "same"

