"""Files in the JSON format of Google Benchmark, for the gate."""

import math
from dataclasses import dataclass, field
from statistics import median

from . import compare, estimates
from .gate import Judgement, outcome
from .record import BadInput, counted

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
# A time outside of these many ns, an attosecond and 30 years, is no time.
SHORTEST, LONGEST = 1e-9, 1e18
# Aggregates of a family of benchmarks, which have no time: how the times grow.
GROWTH = ("BigO", "RMS")
CONTEXT = ("host_name", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "library_build_type")


@dataclass
class Times:
    """The real times of one benchmark in ns."""

    repetitions: list = field(default_factory=list)
    median: float | None = None
    failed: bool = False

    @property
    def value(self):
        return self.median or median(self.repetitions)


class GoogleFile:
    """A file that --benchmark_out wrote."""

    doubts = None  # such a file does not tell whether it is credible

    def __init__(self, content, source):
        self.source = source
        self.context = content["context"]
        if self.context.get("credible", True) is not True:
            raise BadInput(f"{source} is not credible: {self.context.get('not_credible_because')}")
        self.times = {}
        for number, run in enumerate(content["benchmarks"]):
            self.add(run, f"{source}: benchmarks[{number}]")
        if not self.times:
            raise BadInput(f"{source}: no benchmark has a time")
        for name, each in self.times.items():
            if not (each.failed or each.median or each.repetitions):
                raise BadInput(f"{source}: {name} has neither repetitions nor a median")

    def add(self, run, place):
        run = run if isinstance(run, dict) else {}
        name, kind = run.get("run_name", run.get("name")), run.get("run_type", "iteration")
        if not isinstance(name, str) or not name.isprintable():
            raise BadInput(f"{place} has no name")
        if kind not in ("iteration", "aggregate"):
            raise BadInput(f"{place}: the run_type '{kind}' is not known")
        if run.get("aggregate_name") in GROWTH:
            return
        times = self.times.setdefault(name, Times())
        if run.get("error_occurred") or run.get("skipped"):
            times.failed = True
        elif kind == "iteration":
            times.repetitions.append(time_of(run, place))
        elif run.get("aggregate_name") == "median":
            if times.median:
                raise BadInput(f"{place}: {name} has two medians")
            times.median = time_of(run, place)


def time_of(run, place):
    time, unit = run.get("real_time"), run.get("time_unit", "ns")
    if isinstance(time, (int, float)) and not isinstance(time, bool) and isinstance(unit, str) and unit in UNITS:
        # A whole number of many digits is too large for a product with a float.
        if SHORTEST <= time <= LONGEST and SHORTEST <= time * UNITS[unit] <= LONGEST:
            return time * UNITS[unit]
    raise BadInput(f"{place}: no time: real_time {time!r:.40}, time_unit {unit!r:.40}")


def is_google(content):
    return isinstance(content, dict) and isinstance(content.get("benchmarks"), list) and isinstance(content.get("context"), dict)


def gate(base, new, threshold):
    """Judges every benchmark of two files."""
    if failed := [name for name, each in base.times.items() if each.failed]:
        raise BadInput(f"{base.source} is no baseline: {failed[0]} failed")
    if base.context.get("num_cpus") != new.context.get("num_cpus"):
        raise BadInput(f"{base.source} and {new.source} were measured on different numbers of CPUs")
    common = base.times.keys() & new.times.keys()
    if not common:
        raise BadInput(f"{base.source} and {new.source} have no benchmark in common")
    level = compare.family_level(common)
    changes = [
        change(name, base.times.get(name), new.times.get(name), level) for name in {**base.times, **new.times}
    ]
    return [Judgement(each, outcome(each, threshold)) for each in changes]


def change(name, before, after, level):
    ratio, problem, doubt = None, "", ""
    if before is None:
        problem = "new"
    elif after is None:
        problem = "missing"
    elif after.failed:
        problem = "invalid"
    else:
        ratio, doubt = ratio_of(before, after, level)
    return compare.Change(name, "", "real time", ratio, None, level, problem, doubt)


def ratio_of(before, after, level):
    """The ratio of the medians of the repetitions; if there are too few, of the aggregates, without an interval."""
    fewest = min(len(before.repetitions), len(after.repetitions))
    if fewest >= estimates.FEWEST_A_SIDE:
        found = estimates.unpaired_ratio(*([[each] for each in side.repetitions] for side in (after, before)), level)
        needed = estimates.observations_needed(level)
        few = f"{counted(fewest, 'repetition')} a side, {needed} needed" if fewest < needed else ""
        return found, few
    value = after.value / before.value
    if before.median and after.median:
        return compare.exact_ratio(value), ""
    return estimates.Ratio(value, 0.0, math.inf), f"no median, and {counted(fewest, 'repetition')} a side"


def notes(base, new):
    differ = [name for name in CONTEXT if base.context.get(name) != new.context.get(name)]
    return [f"{name}: {base.context.get(name)!r} / {new.context.get(name)!r}" for name in differ]
