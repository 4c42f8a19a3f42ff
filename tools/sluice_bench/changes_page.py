"""Pages of more than one file: the changes between two, and the course of figures over several."""

from . import compare, markdown
from .charts import Charts, row
from .measure import figure_text
from .page import fill
from .record import counted, is_invalid, stat


def of_two(base, new, lines, notes):
    """`lines` are the changes from `base` to `new`."""
    ordered = sorted(lines, key=lambda line: markdown.rank(line.verdict))
    return fill(
        "compare.html",
        {
            "base": base,
            "new": new,
            "notes": notes,
            "counted": counted,
            "counts": {
                word: sum(line.verdict == word for line in lines)
                for word in dict.fromkeys(line.verdict for line in ordered)
            },
            "slower": [line for line in ordered if line.verdict == "slower"],
            "rows": [[(text, text, "") for text in cells_of(line)] for line in ordered],
            "charts": charts_of(new, ordered),
        },
    )


def cells_of(line):
    scenario, *others = markdown.row(line, line.verdict)
    return [scenario, *(text.replace("**", "") for text in others)]


def charts_of(new, lines):
    """{scenario: chart} of the ratios."""
    charts, found = Charts(new), {}
    for line in lines:
        if line.ratio is not None and line.subject in charts.library:
            ratio = line.ratio
            found.setdefault(line.scenario, []).append(
                row(
                    line.subject,
                    f"{ratio.value:.2f} · {line.verdict}",
                    library=charts.library[line.subject],
                    value=ratio.value,
                    low=ratio.low,
                    high=ratio.high,
                )
            )
    title = "time new / time base, logarithmic"
    return {name: charts.ratios(rows, title) for name, rows in found.items()}


def of_several(records):
    """The medians of every result over files in the order in which they were given."""
    first, last = records[0], records[-1]
    for each in records[1:]:
        compare.check_alike(first, each)
    charts = Charts(last)
    for each in records:
        charts.add(each)
    keys = dict.fromkeys(key for each in records for key in compare.by_name(each))
    lines = compare.changes(first, last)
    verdicts = {(line.scenario, line.subject): line for line in lines}
    rows = [trend_row(key, records, verdicts.get(key)) for key in keys]
    names = dict.fromkeys(scenario for scenario, _ in keys)
    return fill(
        "trend.html",
        {
            "records": records,
            "labels": labels_of(records),
            "counted": counted,
            "counts": {
                word: sum(line.verdict == word for line in lines)
                for word in dict.fromkeys(line.verdict for line in lines)
            },
            "slower": [line for line in lines if line.verdict == "slower"],
            "rows": rows,
            "charts": {name: chart for name in names if (chart := trend_chart(charts, name, records))},
            "notes": compare.notes(first, last),
        },
    )


def labels_of(records):
    """A different name for each file, for an axis."""
    return [f"{number}: {each.source}" for number, each in enumerate(records, 1)]


def trend_row(key, records, change):
    cells = [(key[0], key[0], "name"), (key[1], key[1], "name")]
    for each in records:
        result = compare.by_name(each).get(key)
        if result is None or is_invalid(result):
            cells.append(("-" if result is None else "INVALID", -1, ""))
        else:
            value = stat(result, "median")
            cells.append((figure_text(result, value), value, ""))
    word = change.verdict if change else "-"
    return [*cells, (word, word, f"verdict {word}")]


def trend_chart(charts, scenario, records):
    points = [
        (label, result)
        for label, each in zip(labels_of(records), records)
        for result in each.results
        if result["scenario"] == scenario and not is_invalid(result)
    ]
    return charts.trend(points, labels_of(records)) if points else None
