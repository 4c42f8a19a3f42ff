"""Intervals, ratios and verdicts. SciPy computes them; what is decided here is which one and when.
Only to draw processes anew, and rounds within them, SciPy has nothing.

A verdict needs two things to agree: a bootstrap interval that lies wholly on one side, and an exact
rank test. The bootstrap alone is too sure of itself with ten rounds.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from .record import rounds_of

LEVEL = 0.95
RESAMPLES = 9999

# Ratios up to this factor count as the same.
SAME = 1.05

# The signed-rank test cannot reach 5 % with fewer pairs, nor the rank test with fewer rounds a
# side. Results of so few rounds have no interval.
FEWEST_PAIRS = 6
FEWEST_A_SIDE = 4


def can_rank(scenario):
    """Whether there are enough rounds to tell two subjects apart."""
    return rounds_of(scenario) >= FEWEST_PAIRS


@dataclass(frozen=True)
class Interval:
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratio(Interval):
    """new / base: above 1 the new one takes longer."""

    p: float = 1.0

    def verdict(self, floor=1.0, level=LEVEL):
        """`floor`: the factor, at least 1, by which two equal subjects can differ."""
        sure = self.p <= 1 - level
        if sure and self.low > floor:
            return "slower"
        if sure and self.high < 1 / floor:
            return "faster"
        if 1 / SAME <= self.low and self.high <= SAME:
            return "same"
        return "undecided"


def bootstrap(samples, statistic, level, paired=False):
    """The ends of the percentile interval, always from the same random numbers."""
    interval = stats.bootstrap(
        samples,
        statistic,
        paired=paired,
        vectorized=True,
        n_resamples=RESAMPLES,
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    return float(interval.low), float(interval.high)


def median_interval(values, level=LEVEL):
    """The median of the rounds and its interval; of too few rounds, the lowest and highest round."""
    values = np.asarray(values, dtype=float)
    middle = float(np.median(values))
    if len(values) < FEWEST_PAIRS:
        return Interval(middle, float(values.min()), float(values.max()))
    return Interval(middle, *bootstrap((values,), np.median, level))


def sign_interval(values, level=LEVEL):
    """The ends of the sign test's interval of the median, as the measuring program judges its targets."""
    found = stats.quantile_test(np.asarray(values, dtype=float), p=0.5).confidence_interval(level)
    return float(found.low), float(found.high)


def paired_ratio(new, base, level=LEVEL):
    """The ratio of rounds measured in turns: round i of one belongs to round i of the other."""
    length = min(len(new), len(base))
    logs = np.log(np.asarray(new[:length], dtype=float)) - np.log(
        np.asarray(base[:length], dtype=float)
    )
    middle = float(np.exp(np.median(logs)))
    if length < FEWEST_PAIRS:
        return Ratio(middle, 0.0, np.inf)
    low, high = np.exp(bootstrap((logs,), np.median, level))
    p = stats.wilcoxon(logs).pvalue if np.any(logs) else 1.0
    return Ratio(middle, float(low), float(high), float(p))


def unpaired_ratio(new, base, level=LEVEL):
    """Of two runs, each a list of processes with the rounds that each of them measured.

    What a process gets, such as its layout in memory, shifts all its rounds: the observations are
    the medians of the processes, and the bootstrap draws processes first and rounds within them.
    """
    medians = [np.array([np.median(rounds) for rounds in side]) for side in (new, base)]
    middle = float(np.median(medians[0]) / np.median(medians[1]))
    if min(map(len, medians)) < FEWEST_A_SIDE:
        return Ratio(middle, 0.0, np.inf)
    random = np.random.default_rng(1)
    ratios = resampled_medians(new, random) / resampled_medians(base, random)
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return Ratio(middle, float(low), float(high), rank_test(*medians))


def resampled_medians(processes, random):
    """The median of the medians of processes that were drawn anew, once for each resample."""
    sizes = np.array([len(rounds) for rounds in processes])
    table = np.zeros((len(sizes), sizes.max()))
    for row, rounds in zip(table, processes):
        row[: len(rounds)] = rounds
    drawn = random.integers(len(sizes), size=(RESAMPLES, len(sizes), 1))
    # An interrupted process has fewer rounds: that many rounds are drawn from each process.
    rounds = random.integers(sizes[drawn], size=(RESAMPLES, len(sizes), sizes.min()))
    return np.median(np.median(table[drawn, rounds], axis=2), axis=1)


def rank_test(new, base):
    """The p-value of Mann and Whitney's test: exact for at most 60 values without ties."""
    both = np.concatenate([new, base])
    exact = len(np.unique(both)) == len(both) and len(both) <= 60
    return float(stats.mannwhitneyu(new, base, method="exact" if exact else "asymptotic").pvalue)


def observations_needed(level):
    """The fewest observations per side with which the exact rank test can reach `level`."""
    count = 2
    while 2 / special.comb(2 * count, count) > 1 - level:
        count += 1
    return count


def percentile_curve(histogram, points=80):
    """[(share of the samples at or below, ns)] of buckets [from, to, count].

    It begins at P10 and ends where fewer than ten samples lie above: a percentile beyond that is
    the luck of single events.
    """
    buckets = np.asarray(histogram, dtype=float)
    reached = np.cumsum(buckets[:, 2]) / buckets[:, 2].sum()
    nines = np.linspace(-np.log10(0.9), max(np.log10(buckets[:, 2].sum() / 10), 0.3), points)
    shares = 1 - 10**-nines
    values = buckets[np.searchsorted(reached, shares - 1e-12).clip(max=len(buckets) - 1), 1]
    return list(zip(shares.tolist(), values.tolist()))
