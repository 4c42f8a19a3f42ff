"""The table of all figures of one scenario. A cell is (text, sort key, class)."""

import statistics

from . import estimates
from .measure import figure_text, interval_text, significant
from .record import has_samples, is_invalid, rounds, stat, unit

STATISTICS = {
    "median": "median",
    "mean": "mean",
    "stddev": "stddev",
    "cv": "cv",
    "p50": "P50",
    "p95": "P95",
    "p99": "P99",
    "p999": "P99.9",
    "min": "min",
    "max": "max",
}
COUNTS = [
    "attempted", "accepted", "rejected", "dropped", "delivered", "timed_out", "lost", "late_sends",
]  # fmt: skip
# The rounds of a statistic. Other statistics describe one run, and have no interval.
ROUNDS = {"median": rounds, "p99": lambda result: result.get("rounds_p99_ns")}
ALARMING = {"INVALID", "UNRELIABLE", "OVERFLOW", "INTERRUPTED", "UNPINNED"}
EMPTY = ("-", -1, "")

# Switches per message are too few to read, so the column has the switches per round.
SWITCHES = "context_switches"


def peak_memory(result):
    """The most memory of the whole process in any round, in MiB."""
    peaks = [each.get("peak_memory_mib") for each in result.get("rounds", [])]
    return max((peak for peak in peaks if peak is not None), default=None)


def switches(result):
    """Context switches of a round, the median over the rounds."""
    kinds = ("voluntary_switches", "involuntary_switches")
    counts = [
        sum(each[kind] for kind in kinds)
        for each in result.get("rounds", [])
        if all(kind in each for kind in kinds)
    ]
    return statistics.median(counts) if counts else None


OF_THE_SYSTEM = {"peak memory, MiB": peak_memory, "context switches / round": switches}


def table(scenario):
    """(header, rows): a column for everything that any result of the scenario has."""
    columns = [("subject", lambda result: (result["subject"], result["subject"], "name"))]
    first = scenario.results[0]
    interval = "95 % interval" if estimates.can_rank(scenario) else "lowest to highest round"
    if not has_samples(first) and unit(first) == "ns":
        columns.append(("per second", rate))
    for name, heading in STATISTICS.items():
        if any(stat(result, name) is not None for result in scenario.results):
            columns.append((heading, reader(figure, name)))
            if name in ROUNDS and any(ROUNDS[name](each) for each in scenario.results):
                columns.append((f"{interval} of {heading}", reader(interval_of, name)))
    for name in COUNTS:
        if any(name in result["counts"] for result in scenario.results):
            columns.append((name.replace("_", " "), reader(count, name)))
    names = dict.fromkeys(n for r in scenario.results for n in r.get("per_message") or {})
    for name in (each for each in names if each != SWITCHES):
        columns.append((f"{name.replace('_', ' ')} / message", reader(per_message, name)))
    for heading, read in OF_THE_SYSTEM.items():
        if any(read(each) is not None for each in scenario.results):
            columns.append((heading, reader(of_the_system, read)))
    columns.append(("flags", flags))
    rows = [[read(result) for _, read in columns] for result in scenario.results]
    return [heading for heading, _ in columns], rows


def reader(read, name):
    return lambda result: read(result, name)


def rate(result):
    if is_invalid(result) or not stat(result, "median"):
        return EMPTY
    value = result.get("per_second", {}).get("value", 1e9 / stat(result, "median"))
    return (f"{significant(value / 1e6)} M" if value >= 1e6 else significant(value), value, "")


def figure(result, name):
    value = stat(result, name)
    if value is None:
        return EMPTY
    if name == "cv":
        return (f"{value:.2f}", value, "bad" if value > 0.3 and not has_samples(result) else "")
    return (figure_text(result, value), value, "")


def interval_of(result, name):
    values = ROUNDS[name](result)
    return (interval_text(values), estimates.median_interval(values).low, "") if values else EMPTY


def count(result, name):
    value = result["counts"].get(name, 0)
    return (f"{value:,}", value, "bad" if name == "timed_out" and value else "")


def per_message(result, name):
    value = (result.get("per_message") or {}).get(name)
    return EMPTY if value is None else (significant(value), value, "")


def of_the_system(result, read):
    value = read(result)
    return EMPTY if value is None else (significant(value), value, "")


def flags(result):
    text = " ".join(result["flags"])
    if result.get("suspects"):
        text += f" (suspects: {', '.join(result['suspects'])})"
    return (text, text, "bad flags" if ALARMING & set(result["flags"]) else "flags")
