"""Tables for pull requests."""

import html
import math
import re

from .gate import Judgement
from .record import KINDS, is_invalid, rejected_share, stat, unit

# The worst first.
ORDER = ["regression", "slower", "undecided", "improvement", "faster", "pass", "same"]


def credibility(record):
    if not record.doubts:
        return "**Credible: yes.**"
    return f"**Credible: no** - {as_code('; '.join(record.doubts))}."


def as_code(text):
    """Options as code: elsewhere a page shows their two hyphens as a dash."""
    return re.sub(r"(?<!\S)--[a-z-]+", r"`\g<0>`", text)


def table(header, lines, alignment="---:"):
    rows = [header, ["---", *[alignment] * (len(header) - 1)], *lines]
    return [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]


def of_record(record):
    """Every result, one table for each scenario."""
    text = [credibility(record), ""]
    for scenario in record.scenarios:
        text += [f"### {scenario.name}: {KINDS.get(scenario.kind, scenario.kind)}", ""]
        header = ["subject", "median", "mean", "stddev", "cv", "P50", "P95", "P99", "min", "max"]
        lines = [
            [result["subject"], *figures(result), " ".join(result["flags"])]
            for result in scenario.results
        ]
        suffix = unit(scenario.results[0]).replace("mib", "MiB")
        text += [*table([f"{header[0]} ({suffix})", *header[1:], "flags"], lines), ""]
        if scenario.demonstration:
            shares = [f"{each['subject']} {rejected_share(each):.1%}" for each in scenario.results]
            text += [f"A demonstration, not a result. Rejected: {', '.join(shares)}.", ""]
    absent = {}
    for each in record.subjects:
        if not each["present"]:
            absent.setdefault(html.escape(each["absent_because"], quote=False), []).append(each["id"])
    if absent:
        groups = [f"{', '.join(names)} ({as_code(reason)})" for reason, names in absent.items()]
        text += [f"Absent: {'; '.join(groups)}.", ""]
    return "\n".join(text)


def figures(result):
    names = ["median", "mean", "stddev", "cv", "p50", "p95", "p99", "min", "max"]
    if is_invalid(result):
        return ["INVALID" if name == "median" else "" for name in names]
    return [f"{stat(result, name):.4g}" for name in names]


def of_comparison(base, new, lines, notes):
    """`lines` are changes, or judgements of changes."""
    text = [f"`{base.source}` -> `{new.source}`, new / base: above 1 it takes longer.", ""]
    text += [f"- {record.source}: {credibility(record)}" for record in (base, new) if record.doubts is not None]
    text += [f"- {note}" for note in notes]
    text.append("")
    ordered = sorted(lines, key=lambda line: rank(word_of(line)))
    header = ["scenario, subject", "ratio", "interval", "noise floor", "verdict"]
    text += table(header, [row(change_of(line), word_of(line)) for line in ordered])
    return "\n".join(text) + "\n"


def change_of(line):
    return line.change if isinstance(line, Judgement) else line


def word_of(line):
    return line.outcome if isinstance(line, Judgement) else line.verdict


def rank(word):
    return ORDER.index(word) if word in ORDER else len(ORDER)


def row(change, word):
    name = f"{change.scenario}, {change.subject}"
    if change.ratio is None:
        return [name, "", "", "", word if word == change.problem else f"{word} ({change.problem})"]
    ratio = change.ratio
    strong = f"**{word}**" if word in ("regression", "slower") else word
    return [
        name,
        f"{ratio.value:.3f}",
        f"{ratio.low:.3f} .. {ratio.high:.3f}" if math.isfinite(ratio.high) else "not known",
        "not measured" if change.floor is None else f"{change.floor:.3f}",
        f"{strong} ({change.doubt})" if change.doubt else strong,
    ]
