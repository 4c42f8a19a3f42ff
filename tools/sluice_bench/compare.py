"""Two files of measurements, result by result."""

from dataclasses import dataclass

import numpy as np

from . import estimates
from .record import LOADED, OVERFLOW, BadInput, has_samples, is_invalid, rounds


@dataclass(frozen=True)
class Change:
    scenario: str
    kind: str
    subject: str
    ratio: estimates.Ratio | None
    floor: float
    level: float
    flags: tuple
    problem: str = ""

    @property
    def verdict(self):
        return self.ratio.verdict(self.floor, self.level) if self.ratio else self.problem


def time_of(result):
    return rounds(result)


def tail_of(result):
    return result["rounds_p99_ns"] if has_samples(result) else None


def counter(name):
    """What a counter of the CPU says per delivered message, by round; None when a round lacks it."""

    def of(result):
        values = []
        for each in result.get("rounds", []):
            figure = (each.get("perf") or {}).get(name)
            delivered = each.get("counts", {}).get("delivered")
            if figure is None or not delivered:
                return None
            values.append(figure / delivered)
        return values or None

    return of


def allocations_of(result):
    """The program counts them once for each result, in a process that times nothing."""
    amount = (result.get("per_message") or {}).get(ALLOCATIONS)
    return None if amount is None else [amount]


# Of a count that was none, and of one that is none now.
WITH_NONE = ("from none", "to none")

ALLOCATIONS = "allocations"
METRICS = {
    "time": time_of,
    "p99": tail_of,
    "instructions": counter("instructions"),
    "cycles": counter("cycles"),
    "cache_misses": counter("cache_misses"),
    ALLOCATIONS: allocations_of,
}


def observations(result, metric, enough):
    """The values to compare: every round, or the median of every process when they are `enough`.

    Rounds of one process share its layout in memory, so they are no independent observations; but
    a few processes cannot decide anything.
    """
    values = METRICS[metric](result)
    if not values:
        return None
    processes = [each.get("process", 0) for each in result.get("rounds", [])]
    if len(processes) != len(values) or len(set(processes)) < enough:
        return values
    return [
        float(np.median([value for value, owner in zip(values, processes) if owner == process]))
        for process in sorted(set(processes))
    ]


def check_alike(base, new):
    """Refuses files whose figures must not be put side by side."""
    kinds = {scenario.name: scenario.kind for scenario in base.scenarios}
    for scenario in new.scenarios:
        kind = kinds.get(scenario.name, scenario.kind)
        if kind != scenario.kind:
            raise BadInput(
                f"scenario {scenario.name} is of kind {kind} in {base.source} and "
                f"{scenario.kind} in {new.source}: kinds are never compared"
            )
    if base.environment["cpu"] != new.environment["cpu"]:
        raise BadInput(
            f"measured on different CPUs: {base.environment['cpu']} in {base.source}, "
            f"{new.environment['cpu']} in {new.source}"
        )


# What makes two files unlike, and no reason to refuse them.
ENVIRONMENT = ("kernel", "compiler", "flags", "sanitized", "assertions", "governor", "cpus")


def notes(base, new):
    """What else was not the same, or stands in the way of a sure answer, in words."""
    lines = [
        f"{name}: {base.environment.get(name)} / {new.environment.get(name)}"
        for name in ENVIRONMENT
        if base.environment.get(name) != new.environment.get(name)
    ]
    fewest = min(map(process_count, (base, new)))
    enough = estimates.observations_needed(family_level(comparable(base, new)))
    if fewest < enough:
        lines.append(
            f"{fewest} process(es) a side, {enough} would tell the layout of a process apart "
            "from the speed of the code; here both are in the ratios"
        )
    return lines


def process_count(record):
    return len(
        {each.get("process", 0) for result in record.results for each in result.get("rounds", [{}])}
    )


def comparable(base, new):
    """The (scenario, subject) that both files hold in a form that can be compared."""
    before, after = by_name(base), by_name(new)
    return [key for key in before if not why_not(before[key], after.get(key))]


def by_name(record):
    return {(each["scenario"], each["subject"]): each for each in record.results}


def family_level(keys):
    """Bonferroni: the whole table is wrong somewhere as rarely as one line of it would be."""
    return 1 - (1 - estimates.LEVEL) / max(len(keys), 1)


def changes(base, new, metric="time"):
    """Every result of either file. Raises BadInput when nothing can be compared."""
    check_alike(base, new)
    keys = comparable(base, new)
    if not keys:
        raise BadInput(f"{base.source} and {new.source} have no valid result in common")
    level, floors = family_level(keys), floors_of(base, new, metric)
    before, after = by_name(base), by_name(new)
    table = []
    for key in {**before, **after}:
        either = after.get(key) or before[key]
        ratio, problem = None, why_not(before.get(key), after.get(key))
        if not problem:
            ratio, problem = ratio_of(before[key], after[key], metric, level)
        table.append(
            Change(
                scenario=key[0],
                kind=either["kind"],
                subject=key[1],
                ratio=ratio,
                floor=floors.get(key[0], 1.0),
                level=level,
                flags=tuple(either["flags"]),
                problem=problem,
            )
        )
    if not any(change.ratio or change.problem in WITH_NONE for change in table):
        raise BadInput(f"no result has the metric '{metric}' in both files")
    return table


def floors_of(base, new, metric):
    """What equal subjects differ by, by scenario. It was measured of times and of nothing else."""
    if metric != "time":
        return {}
    names = {**base.floors, **new.floors}
    return {name: max(each.floors.get(name, 1.0) for each in (base, new)) for name in names}


def why_not(before, after):
    """Why two results cannot be compared; empty when they can."""
    if before is None:
        return "new"
    if after is None:
        return "missing"
    if OVERFLOW in (before["kind"], after["kind"]):
        return "demonstration"
    if is_invalid(after):
        return "invalid"
    if is_invalid(before):
        return "was invalid"
    if comparable_params(before) != comparable_params(after):
        return "parameters differ"
    if before["kind"] == LOADED and not is_same_rate(before, after):
        return "another rate"
    return ""


def is_same_rate(before, after):
    """Whether both were sent messages at one rate, and not each at a share of its own capacity."""
    intervals = [each.get("rounds_send_interval_ns") for each in (before, after)]
    if not all(intervals):
        return False
    shorter, longer = sorted(float(np.median(each)) for each in intervals)
    return longer <= estimates.SAME * shorter


def comparable_params(result):
    """All but what says how long was measured."""
    ignored = {"messages", "calls", "times", "run_in", "run_in_messages", "run_in_calls"}
    return {name: value for name, value in result["params"].items() if name not in ignored}


def ratio_of(before, after, metric, level):
    enough = estimates.observations_needed(level)
    old, fresh = (observations(result, metric, enough) for result in (before, after))
    if old is None or fresh is None:
        return None, f"no {metric}" if old is None else "not measured"
    if min(old) > 0 and min(fresh) > 0:
        if metric == ALLOCATIONS:
            return exact_ratio(fresh[0] / old[0]), ""
        return estimates.unpaired_ratio(fresh, old, level), ""
    # Allocations are none at all, as a rule: a ratio says nothing then.
    was, now = np.median(old), np.median(fresh)
    if was == now:
        return exact_ratio(1.0), ""
    return None, "from none" if now > was else "to none"


def exact_ratio(value):
    """Of counts, which have no spread."""
    return estimates.Ratio(value, value, value, p=0.0)
