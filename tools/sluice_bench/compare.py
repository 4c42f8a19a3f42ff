"""Two files of measurements, result by result."""

from dataclasses import dataclass

import numpy as np

from . import estimates
from .record import (
    CALLS,
    LOADED,
    OVERFLOW,
    BadInput,
    counted,
    has_samples,
    is_invalid,
    needs_floor,
    rounds,
    unit,
)


@dataclass(frozen=True)
class Change:
    scenario: str
    kind: str
    subject: str
    ratio: estimates.Ratio | None
    floor: float | None
    level: float
    problem: str = ""  # why there is no ratio
    doubt: str = ""  # why the ratio has no verdict

    @property
    def verdict(self):
        if self.doubt:
            return "undecided"
        return self.ratio.verdict(self.floor or 1.0, self.level) if self.ratio else self.problem


def time_of(result):
    return rounds(result)


def tail_of(result):
    return result["rounds_p99_ns"] if has_samples(result) else None


def counter(name):
    """The value of a counter of the CPU per delivered message; None if a round lacks it."""

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
    """The program counts allocations once for each result, in a process that measures no time."""
    amount = (result.get("per_message") or {}).get(ALLOCATIONS)
    return None if amount is None else [amount if amount > OF_A_ROUND else 0.0]


# A pool grows when a thread lags. Fewer allocations for each message than these are no allocation of a message.
OF_A_ROUND = 0.01

# The words for a count that was 0 before, and for a count that is 0 now.
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

# The layout of a process in memory shifts these figures in all its rounds, so only processes are
# independent of each other.
SHIFTED = ("time", "p99", "cycles", "cache_misses")


def is_shifted(result, metric):
    return metric in SHIFTED and unit(result) == "ns"


def observations(result, metric):
    """The values to compare, a list for each process; None when there are none."""
    values = METRICS[metric](result)
    if not values:
        return None
    owners = [each.get("process", 0) for each in result.get("rounds", [])]
    if len(owners) != len(values):
        owners = [0] * len(values)
    processes = {}
    for owner, value in zip(owners, values):
        processes.setdefault(owner, []).append(value)
    return list(processes.values())


def check_alike(base, new):
    """Refuses files whose figures cannot be compared."""
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


# Differences that make two files unlike, but are no reason to refuse them.
ENVIRONMENT = ("kernel", "compiler", "flags", "sanitized", "assertions", "governor", "cpus")


def notes(base, new, metric="time"):
    """Other differences, and obstacles to a decision, in words."""
    lines = [
        f"{name}: {base.environment.get(name)} / {new.environment.get(name)}"
        for name in ENVIRONMENT
        if base.environment.get(name) != new.environment.get(name)
    ]
    keys = comparable(base, new)
    enough = estimates.observations_needed(family_level(keys))
    before, after = by_name(base), by_name(new)
    if any(too_few(before[key], after[key], metric, enough) for key in keys):
        lines.append(
            f"to get a decision on {counted(len(keys), 'result')}, measure both sides with "
            f"`--processes {enough}`: the memory layout of a process shifts all its rounds"
        )
    return lines


def too_few(before, after, metric, enough):
    """Why the processes of a side are too few for a verdict; empty if they are enough."""
    sides = [observations(result, metric) for result in (before, after)]
    if not all(sides) or not is_shifted(after, metric):
        return ""
    fewest = min(map(len, sides))
    return f"{counted(fewest, 'process')} a side, {enough} needed" if fewest < enough else ""


def comparable(base, new):
    """The (scenario, subject) that both files hold in a form that can be compared."""
    before, after = by_name(base), by_name(new)
    return [key for key in before if not why_not(before[key], after.get(key))]


def by_name(record):
    return {(each["scenario"], each["subject"]): each for each in record.results}


def family_level(keys):
    """Bonferroni: the whole table has an error as rarely as a single line would."""
    return 1 - (1 - estimates.LEVEL) / max(len(keys), 1)


def changes(base, new, metric="time"):
    """Every result of either file. Raises BadInput when nothing can be compared."""
    check_alike(base, new)
    keys = comparable(base, new)
    if not keys:
        raise BadInput(f"{base.source} and {new.source} have no valid result in common")
    level = family_level(keys)
    before, after = by_name(base), by_name(new)
    table = [
        change_of(key, before.get(key), after.get(key), floor_of(base, new, key[0]), metric, level)
        for key in {**before, **after}
    ]
    if not any(change.ratio or change.problem in WITH_NONE for change in table):
        raise BadInput(f"no result has the metric '{metric}' in both files")
    return table


def floor_of(base, new, scenario):
    """The difference between equal subjects; None unless both files have measured it."""
    floors = [each.floors.get(scenario) for each in (base, new)]
    return None if None in floors else max(floors)


def change_of(key, before, after, floor, metric, level):
    if metric != "time":
        floor = None  # the floor is known for times only
    kind = (after or before)["kind"]
    ratio, problem, doubt = None, why_not(before, after), ""
    if problem == "missing" and not observations(before, metric):
        problem = f"no {metric}"
    if not problem:
        ratio, problem = ratio_of(before, after, metric, level)
        doubt = too_few(before, after, metric, estimates.observations_needed(level))
        if not doubt and metric == "time" and floor is None and needs_floor(after):
            doubt = "no noise floor"
        if not doubt and problem in WITH_NONE and is_shifted(after, metric):
            doubt = "no test knows a ratio to none"
    return Change(key[0], kind, key[1], ratio, floor, level, problem, doubt)


def why_not(before, after):
    """Why two results cannot be compared; empty when they can."""
    if before is None:
        return "new"
    if after is None:
        return "missing"
    if OVERFLOW in (before["kind"], after["kind"]):
        return "demonstration"
    if CALLS in (before["kind"], after["kind"]):
        return "mostly the clock"
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
    """Whether both got messages at the same rate, and not at a share of their own capacities."""
    intervals = [each.get("rounds_send_interval_ns") for each in (before, after)]
    if not all(intervals):
        return False
    shorter, longer = sorted(float(np.median(each)) for each in intervals)
    return longer <= estimates.SAME * shorter


def comparable_params(result):
    """All parameters except the length of the measurement. Older files get the values of their time."""
    ignored = {"messages", "records", "calls", "times", "run_in", "run_in_messages", "run_in_calls"}
    params = {"pinned": True, **result["params"]}
    if result["kind"] == LOADED:
        params = {"schedule": "constant", **params}
    return {
        name: value for name, value in params.items() if name not in ignored and value is not None
    }


def ratio_of(before, after, metric, level):
    old, fresh = (observations(result, metric) for result in (before, after))
    if old is None or fresh is None:
        return None, f"no {metric}" if old is None else "not measured"
    was, now = (np.concatenate(side) for side in (old, fresh))
    if min(was) > 0 and min(now) > 0:
        if metric == ALLOCATIONS:
            return exact_ratio(now[0] / was[0]), ""
        few = min(len(old), len(fresh)) < estimates.observations_needed(level)
        if few and not is_shifted(after, metric):
            old, fresh = was[:, None], now[:, None]
        return estimates.unpaired_ratio(fresh, old, level), ""
    # Most counts of allocations are 0, and then there is no ratio.
    was, now = np.median(was), np.median(now)
    if was == now:
        return exact_ratio(1.0), ""
    return None, "from none" if now > was else "to none"


def exact_ratio(value):
    """The ratio of counts, which have no spread."""
    return estimates.Ratio(value, value, value, p=0.0)
