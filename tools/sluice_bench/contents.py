"""The tables of the page, beside its charts, as plain rows."""

import dataclasses
import math

from . import estimates
from .charts import row
from .compare import comparable_params
from .measure import figure_text, interval_text
from .record import (
    KINDS,
    OVERFLOW,
    counted,
    is_invalid,
    is_left_out,
    needs_floor,
    rejected_share,
    rounds,
    rounds_of,
    stat,
)

MEANINGS = {
    "e2e-throughput": "Messages that a consumer received and read, from the common start to the "
    "last delivery.",
    "raw-enqueue": "Pushing into a queue with room for everything, nobody takes anything out.",
    OVERFLOW: "Pushing far more than the queue holds while nobody takes anything out: what is "
    "refused costs almost nothing, and would look like speed.",
    "loaded-latency": "From the planned time of a message to its delivery, while a steady stream "
    "flows. A stall is charged to every message that was due meanwhile. Each subject is sent a "
    "share of its own capacity, so subjects are not ranked.",
    "flood-latency": "From the planned time of a message to its handler, while more is sent than "
    "the consumer can handle: one message in ten of high priority, three of medium, six of low. "
    "Lost are messages that were refused.",
    "idle-latency": "From a push into an empty queue to its delivery, with rests between.",
    "call-cost": "One call among many on one thread: the time of a batch, divided.",
    "call-latency": "Single calls on one thread, each timed by itself.",
    "event-cost": "One event, listener or change among many: the time of a batch, divided.",
    "log-throughput": "Records of one thread or several, from the common start until the last one is "
    "in the file, which is then read and compared.",
    "resident-memory": "Memory that a process of its own takes.",
}

POISSON = "load, Poisson arrivals"

SECTIONS = {
    "": "",
    "control group": "control group",
    "load": "against load",
    POISSON: "against load, Poisson arrivals",
    "message size": "message sizes",
    "depth": "capacities",
    "flood": "in a flood",
    "bursts": "bursts",
    "overload": "overload",
    "sustained": "sustained",
    "oversubscribed": "more threads than cores",
}

# The parameter in which the scenarios of a section differ: name, axis title, logarithmic or not.
OF_CAPACITY = ("load", "load, as a part of the subject's own capacity", False)
SWEEPS = {
    "load": OF_CAPACITY,
    POISSON: OF_CAPACITY,
    "message size": ("message_bytes", "bytes of a message, logarithmic", True),
    "depth": ("capacity", "capacity, logarithmic", True),
}


def groups(record):
    """[(section, kind, scenarios)]: only results of one kind ever stand together."""
    found = {}
    for scenario in record.scenarios:
        params = scenario.results[0]["params"]
        section = scenario.section or ("oversubscribed" if params.get("oversubscribed") else "")
        found.setdefault((section, scenario.kind), []).append(scenario)
    return [(section, kind, scenarios) for (section, kind), scenarios in found.items()]


def sweeps(record, section, kind, scenarios):
    """Scenarios of this section that differ in its parameter alone, those with the same subjects
    together. The main matrix has a point on each, so it is searched too; of its subjects those are
    taken that were varied."""
    if section not in SWEEPS:
        return []
    parameter = SWEEPS[section][0]
    families = {}
    for scenario in scenarios:
        families.setdefault(family(scenario, parameter), []).append(scenario)
    for scenario in record.scenarios:
        if scenario.section == "" and scenario.kind == kind:
            for (shared, names), members in families.items():
                if shared == shared_of(scenario, parameter) and names <= names_of(scenario):
                    members.append(only(scenario, names))
    return [
        members
        for members in families.values()
        if len({each.results[0]["params"].get(parameter) for each in members}) > 1
    ]


def family(scenario, parameter):
    """The common part of the scenarios of one sweep."""
    return shared_of(scenario, parameter), names_of(scenario)


def shared_of(scenario, parameter):
    params = comparable_params(scenario.results[0])
    return str({name: value for name, value in params.items() if name != parameter})


def names_of(scenario):
    return frozenset(each["subject"] for each in scenario.results)


def only(scenario, names):
    results = tuple(each for each in scenario.results if each["subject"] in names)
    return dataclasses.replace(scenario, results=results)


def title_of(section, kind):
    name = KINDS.get(kind, kind)
    return f"{name}: {SECTIONS.get(section, section)}" if section else name


def parameters(scenario):
    """The parameters that all subjects of a scenario have, in one line."""
    shown = scenario.results[0]["params"]
    return ", ".join(
        f"{name.replace('_', ' ')} {spoken(value)}"
        for name, value in shown.items()
        if value not in ("", [], None)
    )


def spoken(value):
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def unchecked_loops(results):
    """The reasons why no check has shown that no loop was optimised away, each once."""
    checks = [each["loop_check"] for each in results if each.get("loop_check")]
    reasons = [each.get("because") or "no reason given" for each in checks if not each["checked"]]
    return list(dict.fromkeys(reasons))


def quickest(record):
    """Per scenario the lowest median with its interval, and the subjects that no paired test can tell from it.

    [(scenario, kind, figure, names, remark)]; kinds that are not ranked, floors and invalid results
    are left out, unreliable ones are marked.
    """
    lines = []
    for scenario in record.scenarios:
        fit = [
            result
            for result in scenario.results
            if not is_invalid(result) and not result["subject"].startswith("floor/")
        ]
        if not scenario.ranked:
            continue
        if not fit:
            lines.append((scenario.name, scenario.kind, "-", ["no valid result"], ""))
            continue
        if not estimates.can_rank(scenario):
            lines.append((scenario.name, scenario.kind, "-", ["no ranking"], too_few(scenario)))
            continue
        fit.sort(key=lambda result: stat(result, "median"))
        best = fit[0]
        equals = [each for each in fit if each is best or not is_slower(each, best, record)]
        lines.append(
            (
                scenario.name,
                scenario.kind,
                f"{figure_text(best, stat(best, 'median'))} ({interval_text(rounds(best))})",
                [marked(each) for each in equals],
                why_equal(best, record),
            )
        )
    return lines


def marked(result):
    return result["subject"] + (" (unreliable)" if "UNRELIABLE" in result["flags"] else "")


def too_few(scenario):
    return f"{counted(rounds_of(scenario), 'round')}, {estimates.FEWEST_PAIRS} are needed"


def why_equal(best, record):
    """Why no test can tell a subject from this one; empty if a test can."""
    if needs_floor(best) and best["scenario"] not in record.floors:
        return "without a noise floor no two are told apart"
    return ""


def is_slower(result, best, record):
    ratio = ratio_of_rounds(result, best)
    return ratio is not None and verdict_of(ratio, result, record) == "slower"


def verdict_of(ratio, result, record):
    floor = record.floors.get(result["scenario"])
    if floor is None and needs_floor(result):
        return "undecided"
    return ratio.verdict(floor or 1.0)


def ratio_of_rounds(new, base):
    """The paired ratio, if both have figures above zero."""
    if min(rounds(new)) <= 0 or min(rounds(base)) <= 0:
        return None
    return estimates.paired_ratio(rounds(new), rounds(base))


def variants(record):
    """The cost of a feature: {scenario: [line]}, a line for each variant of a subject.

    A variant has the name of its subject and more behind a slash or colon, such as "x/paced".
    """
    lines = {each.name: variants_of(each, record) for each in record.scenarios if each.ranked}
    return {name: found for name, found in lines.items() if found}


def variants_of(scenario, record):
    valid = {each["subject"]: each for each in scenario.results if not is_invalid(each)}
    lines = []
    for name, result in valid.items():
        plain = next((cut for cut in prefixes(name) if cut in valid), None)
        ratio = ratio_of_rounds(result, valid[plain]) if plain else None
        if ratio is not None:
            variant = f"{plain}, {name[len(plain) :].lstrip('/:')}"
            text = f"{ratio.value:.2f} · {verdict_of(ratio, result, record)}"
            ends = {"value": ratio.value, "low": ratio.low, "high": ratio.high}
            lines.append(row(variant, text, library=record.subject(name)["library"], **ends))
    return lines


def prefixes(name):
    return [name[:at] for at in range(len(name) - 1, 0, -1) if name[at] in "/:"]


def comparisons(record):
    """{scenario: rows} of every ratio. An interval that the file lacks is computed."""
    results = {(each["scenario"], each["subject"]): each for each in record.results}
    found = {}
    for line in record.comparisons:
        if "verdict" in line:
            low, high, verdict = line.get("ci_low"), line.get("ci_high"), line["verdict"]
        else:
            sides = [
                results.get((line["scenario"], line[side])) for side in ("subject", "baseline")
            ]
            low, high, verdict = from_rounds(*sides, record)
        interval = f"{low:.3f} .. {high:.3f}" if low is not None else "too few rounds"
        found.setdefault(line["scenario"], []).append(
            [
                (line["subject"], line["subject"], "name"),
                (verdict, verdict, f"verdict {verdict}"),
                (f"{line['ratio']:.3f}", line["ratio"], ""),
                (interval, line["ratio"] if low is None else low, ""),
                (line["baseline"], line["baseline"], "name"),
                ("; ".join(line.get("feature_differences", [])), "", "wide"),
            ]
        )
    return found


def tally(rows):
    """The number of results with each verdict, such as "3 faster, 1 undecided"."""
    verdicts = [cells[1][0] for cells in rows]
    words = [word for word in ("faster", "slower", "same", "undecided") if word in verdicts]
    return ", ".join(f"{verdicts.count(word)} {word}" for word in words)


def from_rounds(result, baseline, record):
    """(low, high, verdict); without low and high if no test can decide."""
    ratio = ratio_of_rounds(result, baseline) if result and baseline else None
    if ratio is None or not math.isfinite(ratio.high):
        return None, None, "undecided"
    return ratio.low, ratio.high, verdict_of(ratio, result, record)


def features(record):
    """(names, rows, shared): promises in which subjects differ, and promises of all of them."""
    names = [
        "pacing",
        *dict.fromkeys(name for each in record.subjects for name in each["features"]),
    ]
    values = {name: {feature(each, name) for each in record.subjects} for name in names}
    different = [name for name in names if len(values[name]) > 1]
    rows = [
        [
            (each["id"], each["id"], "name"),
            *((feature(each, name), feature(each, name), "") for name in different),
            (each.get("use", ""), each.get("use", ""), "wide"),
        ]
        for each in record.subjects
    ]
    shared = [
        f"{name.replace('_', ' ')} {min(values[name])}"
        for name in names
        if len(values[name]) == 1 and values[name] != {"-"}
    ]
    return [name.replace("_", " ") for name in different], rows, ", ".join(shared)


def feature(subject, name):
    value = subject.get("pacing") if name == "pacing" else subject["features"].get(name)
    return "-" if value is None else spoken(value)


def subjects(record):
    """Every subject of the file and its outcome: [(id, library, version, state, detail)]."""
    rows = []
    for each in record.subjects:
        mine = [result for result in record.results if result["subject"] == each["id"]]
        failed = [result for result in mine if is_invalid(result)]
        if not each["present"]:
            state = "left out" if is_left_out(each) else "absent"
            detail = each["absent_because"]
        elif failed:
            state = "failed"
            detail = "; ".join(f"{r['scenario']}: {r.get('error') or 'INVALID'}" for r in failed)
        elif mine:
            state, detail = "measured", counted(len(mine), "scenario")
        else:
            state, detail = "not measured", "takes part in none of these scenarios"
        rows.append((each["id"], each["library"], version(each) or "-", state, detail))
    return rows


def version(subject):
    """ "0.17.6, prebuilt"; empty if the file does not tell. """
    words = [(subject.get("version") or "").replace("_", "."), "prebuilt" if subject.get("prebuilt") else ""]
    return ", ".join(word for word in words if word)


def control_group(record):
    """(scenarios, rows): raw, overflow and end-to-end of each subject side by side, unranked."""
    chosen = [s for s in record.scenarios if s.section == "control group"]
    if not chosen:
        chosen = [s for s in record.scenarios if s.demonstration]
    names = list(dict.fromkeys(r["subject"] for s in chosen for r in s.results))
    rows = []
    for name in names:
        cells = [(name, name, "name")]
        for scenario in chosen:
            result = next((r for r in scenario.results if r["subject"] == name), None)
            cells.append(control_cell(scenario, result))
        rows.append(cells)
    return chosen, rows


def control_cell(scenario, result):
    if result is None:
        return ("-", -1, "")
    if is_invalid(result):
        return (" · ".join(["INVALID", result.get("error") or "no valid round"]), -1, "bad")
    value = stat(result, "median")
    text = figure_text(result, value)
    if scenario.kind == OVERFLOW:
        text += f", {rejected_share(result):.1%} rejected"
    return (text, value, "demonstration" if scenario.kind == OVERFLOW else "")
