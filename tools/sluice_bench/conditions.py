"""How a file was measured, and whether the rows of the tables are credible: only what the file itself says."""

from dataclasses import dataclass

from . import contents, markdown
from .measure import figure_text
from .record import counted, is_invalid, is_ranked, rounds, stat, unit

UNKNOWN = "not recorded"
# Of bench/harness/run/steady_rounds.hpp.
DISTURBANCE, STEADY_FACTOR = 0.02, 1.5


def facts(record):
    """The conditions of the measurement, as the lines of a table."""
    environment, run = record.environment, record.run
    told = {
        "cpu": environment.get("cpu"),
        "cores": cores(environment),
        "frequency": amount(environment.get("mhz"), "MHz"),
        "L3": amount(environment.get("l3_kib"), "MiB", 1024),
        "governor": environment.get("governor"),
        "virtual machine": spoken(environment.get("virtual_machine")),
        "kernel": environment.get("kernel"),
        "compiler": environment.get("compiler"),
        "flags": environment.get("flags"),
        "cost of reading the clock": amount(environment.get("clock_ns"), "ns"),
        "a cache line from CPU to CPU": line_time(record.machine),
        "warm-ups": spoken(run.get("warmups")),
        "rounds": record.rounds_text,
        "order": run.get("order"),
        "depth": depth(record),
        "pinning": pinning(record),
        "unequal features": unequal(record),
        "git commit": environment.get("git_commit"),
        "started at": environment.get("started_at"),
    }
    return [[name, UNKNOWN if value is None else str(value)] for name, value in told.items()]


def spoken(value):
    return None if value is None else contents.spoken(value)


def amount(value, name, divisor=1):
    return None if value is None else f"{value / divisor:.4g} {name}"


def line_time(states):
    """The shortest and the longest time in all scenarios."""
    lines = [each["line_one_way_ns"] for each in states if each.get("line_one_way_ns")]
    if not lines:
        return None
    return f"{min(each['min'] for each in lines):.3g} to {max(each['max'] for each in lines):.3g} ns"


def cores(environment):
    cpus, places = environment.get("cpus"), environment.get("topology") or []
    if cpus is None:
        return None
    found = {(each.get("package"), each.get("core")) for each in places if each.get("cpu") in cpus}
    of_cores = f", of {counted(len(found), 'core')}" if len(places) >= len(cpus) else ""
    return f"{counted(len(cpus), 'CPU')}{of_cores}"


def depth(record):
    found = {each["params"].get("capacity") for each in record.results} - {None}
    return ", ".join(f"{each:,}" for each in sorted(found)) or None


def pinning(record):
    if "unpinned" not in record.run:
        return None
    if record.run["unpinned"]:
        return "no thread was tied to a CPU"
    pair = record.environment.get("main_pair") or {}
    nearest = f"; two threads: CPUs {' and '.join(map(str, pair['cpus']))}, {pair['distance']}" if pair else ""
    return f"each thread tied to its CPU{nearest}"


def unequal(record):
    known = [each for each in record.comparisons if "feature_differences" in each]
    if not known:
        return None
    number = sum(bool(each["feature_differences"]) for each in known)
    return f"{number} of {counted(len(known), 'comparison')}; the features stand at the end of this page"


def peers(record):
    """The versions of the libraries beside ours, as the lines of a table."""
    found = {}
    for each in record.subjects:
        if each["present"] and not each["ours"]:
            version = (each.get("version") or UNKNOWN).replace("_", ".")
            prebuilt = each.get("prebuilt")
            line = (each["library"], version, UNKNOWN if prebuilt is None else contents.spoken(prebuilt))
            found.setdefault(line, each["id"])
    return markdown.table(["other library", "version", "prebuilt"], map(list, found), "---") if found else []


def features(record):
    """What the subjects promise, where it differs."""
    names, rows, shared = contents.features(record)
    measured = {each["subject"] for each in record.results}
    lines = [[cells[0][0], *(cell[0] for cell in cells[1:-1])] for cells in rows if cells[0][0] in measured]
    text = ["## Features", "", *markdown.table(["subject", *names], lines, "---"), ""]
    return [*text, f"The same for all: {shared}.", ""] if shared else text


@dataclass
class Judgement:
    """Whether the figures of a file in the tables are credible, even if other results of the file are not."""

    has_figures: bool  # in the tables
    of_the_run: list  # doubts that concern every figure
    of_figures: list  # (scenario, subject, cause)

    @property
    def answer(self):
        """None if the question does not arise."""
        if not self.has_figures:
            return None
        return "no" if self.of_the_run or self.of_figures else "yes"

    def lines(self):
        start = "**Credible for the rows of the tables:"
        if self.answer is None:
            return [f"{start}** no table has a row of this file.", ""]
        if self.answer == "yes":
            return [f"{start} yes.**", ""]
        whole = f"the whole run: {markdown.as_code('; '.join(self.of_the_run))}."
        lines = [f"- {scenario}, {subject}: {cause}." for scenario, subject, cause in self.of_figures]
        reason = whole if self.of_the_run else "these figures are not:"
        return [f"{start} no** - {reason}", "", *lines, *([""] if lines else [])]


def judge(record, figures):
    """Judges the results among these figures, each (SUITE/SCENARIO, subject)."""
    shown = [each for each in record.results if (f"{each['suite']}/{each['scenario']}", each["subject"]) in figures]
    causes = [(each["scenario"], each["subject"], "; ".join(causes_of(record, each))) for each in shown if is_ranked(each["kind"])]
    return Judgement(bool(shown), record.doubts_of_the_run, [each for each in causes if each[2]])


def causes_of(record, result):
    if is_invalid(result):
        return [f"INVALID: {result.get('error') or UNKNOWN}"]
    causes = []
    state = next((each for each in record.machine if each["scenario"] == result["scenario"]), {})
    if "UNRELIABLE" in result["flags"]:
        causes.append(f"UNRELIABLE: {spread(result)}")
    if result["scenario"] in record.unsteady:
        causes.append("the machine was not steady")
    return [*causes, *machine(state)] if causes else []


def spread(result):
    """How far the rounds differ, and what the file knows of the round farthest from the median."""
    values, cv = rounds(result), stat(result, "cv")
    low, high = (figure_text(result, value) for value in (min(values), max(values)))
    text = f"cv {UNKNOWN if cv is None else format(cv, '.2f')}, {counted(len(values), 'round')} of {low} to {high}"
    middle = stat(result, "median")
    far = max(result.get("rounds", []), key=lambda each: abs((each.get(unit(result)) or middle) - middle), default={})
    if "involuntary_switches" in far:
        text += f", {far['involuntary_switches']} involuntary context switches in the round farthest from the median"
    return text


def disturbances(state):
    """(reason, its values): why the state of the machine was not steady, by the limits of the program."""
    line = state.get("line_one_way_ns") or {"min": 0, "max": 0}
    shares = [(name, state.get(f"{name}_share") or 0) for name in ("others", "stolen")]
    found = [(name, {"share": f"{share:.1%}"}) for name, share in shares if share > DISTURBANCE]
    return [*found, *([("line", {"low": line["min"], "high": line["max"]})] if line["max"] > STEADY_FACTOR * line["min"] else [])]


def machine(state):
    told = {"others_share": "other processes had {:.1%} of the time of the CPUs", "stolen_share": "other virtual machines {:.1%}"}
    found = [text.format(state[name]) for name, text in told.items() if state.get(name) is not None]
    line = state.get("line_one_way_ns")
    if line:
        found.append(f"a cache line took {line['min']:.3g} to {line['max']:.3g} ns from CPU to CPU")
    return [", ".join(found)] if found else []
