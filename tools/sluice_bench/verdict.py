"""The verdict of a file on our own subjects: the first thing on the page."""

from . import contents, estimates
from .measure import significant
from .record import is_invalid, rounds

WORDS = ("slower", "undecided", "same", "faster")


def of_ours(record):
    """[(ours, peer, {word: [scenario]})], the worst first: our subjects beside those of others."""
    ours = {each["id"]: each["ours"] for each in record.subjects}
    found = {}
    for scenario, rows in contents.comparisons(record).items():
        for cells in rows:
            subject, word, baseline = cells[0][0], cells[1][0], cells[4][0]
            if ours.get(subject) and not ours.get(baseline, True):
                words = found.setdefault((subject, baseline), {name: [] for name in WORDS})
                if scenario not in words[word]:
                    words[word].append(scenario)
    lines = [(subject, peer, words) for (subject, peer), words in found.items()]
    return sorted(lines, key=lambda line: (-len(line[2]["slower"]), -len(line[2]["undecided"])))


def sentence(lines):
    """The number of these comparisons that ended with each word."""
    counts = {word: sum(len(words[word]) for _, _, words in lines) for word in WORDS}
    return ", ".join(f"{counts[word]} {word}" for word in reversed(WORDS) if counts[word])


def without_ranking(record):
    """The ranked scenarios with too few rounds for a verdict."""
    return [
        each.name
        for each in record.scenarios
        if each.ranked and not estimates.can_rank(each)
    ]


def figure(target):
    """The figure that was reached: a ratio, a median or a P99."""
    return next(target[name] for name in ("ratio", "median", "p99") if name in target)


def reached(record, target):
    """The figure that was reached, and its interval."""
    value, values = figure(target), rounds_behind(record, target)
    text = f"{value:.3f}" if value < 100 else significant(value)
    if len(values) < estimates.FEWEST_PAIRS:
        return text
    low, high = estimates.sign_interval(values)
    return f"{text} ({significant(low)} .. {significant(high)})"


def rounds_behind(record, target):
    """The rounds whose median is the figure of a target; empty if the file lacks them."""
    found = {
        each["subject"]: each
        for each in record.results
        if each["scenario"] == target["scenario"] and not is_invalid(each)
    }
    ours, other = found.get(target["subject"]), found.get(target.get("baseline"))
    if ours is None:
        return []
    if "ratio" in target:
        return [a / b for a, b in zip(rounds(ours), rounds(other))] if other else []
    return rounds(ours) if "median" in target else ours["rounds_p99_ns"]


def is_missed(target):
    """Whether the target is missed. Older files do not tell: an unmet target may be undecided."""
    return target.get("missed", not target["met"] and figure(target) > target["at_most"])


def content(record):
    lines = of_ours(record)
    missed = [each for each in record.targets if is_missed(each)]
    undecided = [each for each in record.targets if not each["met"] and not is_missed(each)]
    return {
        "lines": lines,
        "sentence": sentence(lines),
        "missed": missed,
        "undecided": undecided,
        "targets": len(record.targets),
        "few": without_ranking(record),
        "fewest": estimates.FEWEST_PAIRS,
    }
