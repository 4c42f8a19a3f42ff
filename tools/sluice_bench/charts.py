"""The charts of the page, as Vega-Lite specifications that Altair has checked.

Bars start at zero; other axes are logarithmic and say so. No chart holds results of two kinds. The
names stand above the marks, because a phone has no room beside them; colours of text and lines come
from the page's style sheet, so that dark mode and print need no second chart.
"""

import math

import altair as alt

from . import estimates
from .colours import colour_of, strokes
from .measure import ends_of, figure_text, time_text, title_of
from .record import has_samples, is_invalid, rounds

# A line for the name, one for the figure, and one for the mark.
ROW = 52
NAME, FIGURE, MARK = -17, -1, 14


def colours(record):
    """A colour for each library of a file."""
    return {each["library"]: colour_of(each["library"]) for each in record.subjects}


class Charts:
    def __init__(self, record):
        self.colours, self.library = {}, {}
        self.add(record)

    def add(self, record):
        """Adds the subjects of one more file."""
        self.colours.update(colours(record))
        self.library.update({each["id"]: each["library"] for each in record.subjects})

    def bars(self, scenario):
        """Medians over the rounds as bars from zero, with 95 % intervals and, on demand, rounds."""
        lines = [self.bar(result) for result in scenario.results]
        dots = [
            {"subject": result["subject"], "value": each, "round": index}
            for result in scenario.results
            if not is_invalid(result)
            for index, each in enumerate(rounds(result))
        ]
        if estimates.can_rank(scenario):
            lines.sort(key=lambda line: (line["value"] is None, line["value"]))
        rows = alt.Y("subject:N", sort=[line["subject"] for line in lines], axis=None)
        base = alt.Chart(alt.Data(values=lines))
        bar = base.mark_bar(height=12, yOffset=MARK).encode(
            x=bar_axis(title_of(scenario.results[0]), lines, dots),
            y=rows,
            color=self.colour(),
            opacity=alt.condition("datum.faded", alt.value(0.45), alt.value(1)),
            tooltip=["subject:N", alt.Tooltip("label:N", title=" ")],
        )
        error = base.mark_rule(yOffset=MARK, strokeWidth=2).encode(x="low:Q", x2="high:Q", y=rows)
        ends = [
            base.mark_tick(yOffset=MARK, thickness=2, size=10, color="black").encode(
                x=f"{end}:Q", y=rows
            )
            for end in ("low", "high")
        ]
        points = (
            alt.Chart(alt.Data(values=dots))
            # Clipped. Otherwise hidden rounds beyond the axis would widen it.
            .mark_point(
                yOffset=MARK, size=22, filled=True, stroke="white", strokeWidth=0.5, clip=True
            )
            .encode(
                x="value:Q",
                y=rows,
                opacity=alt.condition("rounds", alt.value(0.9), alt.value(0)),
                tooltip=["subject:N", "round:Q", "value:Q"],
            )
        )
        layers = alt.layer(bar, error, *ends, points, names(base, rows))
        shown = layers.add_params(alt.param(name="rounds", value=False))
        return finish(shown, ROW * len(lines))

    def bar(self, result):
        if is_invalid(result):
            return self.failed(result)
        value, low, high = ends_of(rounds(result))
        return row(
            result["subject"],
            " · ".join([*marks(result), figure_text(result, value)]),
            library=self.library[result["subject"]],
            value=value,
            low=low,
            high=high,
            faded="UNRELIABLE" in result["flags"],
        )

    def tails(self, scenario):
        """P50 and P99 of each subject: the median over the rounds and its 95 % interval."""
        lines, labels = [], []
        for result in scenario.results:
            subject = result["subject"]
            if is_invalid(result):
                labels.append({**self.failed(result), "rank": float("inf")})
                continue
            for name, values in (("P50", rounds(result)), ("P99", result["rounds_p99_ns"])):
                found = estimates.median_interval(values)
                lines.append(
                    {
                        "subject": subject,
                        "library": self.library[subject],
                        "percentile": name,
                        "value": positive(found.value),
                        "low": positive(found.low),
                        "high": positive(found.high),
                    }
                )
            text = " / ".join(time_text(line["value"]) for line in lines[-2:])
            text = " · ".join([*marks(result), text])
            labels.append(row(subject, text, rank=lines[-2]["value"]))
        if estimates.can_rank(scenario):
            labels.sort(key=lambda line: line["rank"])
        order = [line["subject"] for line in labels]
        for line in labels:
            del line["rank"]
        rows = alt.Y("subject:N", sort=order, axis=None)
        base = alt.Chart(alt.Data(values=lines))
        title = "P50 and P99 of a round, ns, logarithmic, less is better"
        shades = self.colour()
        shapes = alt.Shape(
            "percentile:N",
            scale=alt.Scale(domain=["P50", "P99"], range=["circle", "square"]),
            legend=alt.Legend(orient="top", title=None),
        )
        error = base.mark_rule(yOffset=MARK, strokeWidth=2, opacity=0.6).encode(
            x=log_time("low:Q", title, lines), x2="high:Q", y=rows, color=shades
        )
        dot = base.mark_point(yOffset=MARK, filled=True, size=70, opacity=1).encode(
            x=log_time("value:Q", title, lines),
            y=rows,
            color=shades,
            shape=shapes,
            tooltip=["subject:N", "percentile:N", alt.Tooltip("value:Q", title="ns", format=NANOSECONDS)],
        )
        text = names(alt.Chart(alt.Data(values=labels)), rows)
        return finish(alt.layer(error, dot, text), ROW * len(labels))

    def curves(self, scenario):
        """Latency at every percentile that the samples support; None without histograms."""
        lines = []
        for result in scenario.results:
            if not is_invalid(result) and result.get("histogram"):
                lines += [
                    {
                        "subject": result["subject"],
                        "nines": -math.log10(1 - share),
                        "share": f"P{100 * share:.5g}",
                        "value": positive(ns),
                    }
                    for share, ns in estimates.percentile_curve(result["histogram"])
                ]
        if not lines:
            return None
        x = alt.X(
            "nines:Q",
            title="percentile (every step is ten times rarer)",
            axis=alt.Axis(
                values=[0.30103, 1, 2, 3, 4, 5],
                labelExpr="datum.value < 0.5 ? 'P50' : "
                "'P' + format(100 * (1 - pow(10, -datum.value)), '.6~g')",
            ),
        )
        picked = alt.selection_point(fields=["subject"], bind="legend")
        chart = (
            alt.Chart(alt.Data(values=lines))
            .mark_line(interpolate="step-after", strokeWidth=1.8)
            .encode(
                x=x,
                y=log_time("value:Q", "latency, ns, logarithmic", lines, alt.Y),
                **self.strokes(lines),
                opacity=alt.condition(picked, alt.value(1), alt.value(0.12)),
                tooltip=["subject:N", "share:N", alt.Tooltip("value:Q", title="ns", format=NANOSECONDS)],
            )
            .add_params(picked)
        )
        return finish(chart, 320)

    def sweep(self, scenarios, parameter, title, logarithmic):
        """One measure of several scenarios against the parameter in which they differ."""
        every = [result for scenario in scenarios for result in scenario.results]
        valid = [result for result in every if not is_invalid(result)]
        if has_samples(every[0]):
            charts = [("P50", rounds), ("P99", lambda result: result["rounds_p99_ns"])]
        else:
            charts = [("", rounds)]
        return [
            self.sweep_chart(valid, parameter, title, logarithmic, name, read)
            for name, read in charts
        ]

    def sweep_chart(self, results, parameter, title, logarithmic, name, read):
        samples, lines = has_samples(results[0]), []
        for result in results:
            value, low, high = map(positive if samples else float, ends_of(read(result)))
            lines.append(
                {
                    "subject": result["subject"],
                    "at": result["params"][parameter],
                    "value": value,
                    "low": low,
                    "high": high,
                }
            )
        scale = alt.Scale(type="log", base=2) if logarithmic else alt.Scale(zero=True)
        marks = sorted({line["at"] for line in lines})
        x = alt.X(
            "at:Q",
            title=title,
            scale=scale,
            axis=alt.Axis(values=marks, labelOverlap=True, format=",~g"),
        )
        if samples:
            y = log_time("value:Q", f"{name} of a round, ns, logarithmic", lines, alt.Y)
        else:
            y = alt.Y("value:Q", title=title_of(results[0]), scale=alt.Scale(zero=True))
        base = alt.Chart(alt.Data(values=lines))
        drawn = self.strokes(lines)
        picked = alt.selection_point(fields=["subject"], bind="legend")
        opacity = alt.condition(picked, alt.value(1), alt.value(0.12))
        line = base.mark_line(point=alt.OverlayMarkDef(size=36)).encode(
            x=x, y=y, **drawn, opacity=opacity,
            tooltip=["subject:N", "at:Q", alt.Tooltip("value:Q", title="ns", format=NANOSECONDS)],
        )  # fmt: skip
        error = base.mark_rule(strokeWidth=1.5).encode(
            x=x, y="low:Q", y2="high:Q", color=drawn["color"], opacity=opacity
        )
        return finish(alt.layer(line, error).add_params(picked), 320)

    def ratios(self, lines, title="time with / time without, logarithmic"):
        """Ratios with their intervals about 1; `lines` are rows with value, low, high and library."""
        lines = [
            {
                **line,
                "low": line["low"] if line["low"] > 0 else line["value"],
                "high": line["high"] if math.isfinite(line["high"]) else line["value"],
            }
            for line in lines
        ]
        base = alt.Chart(alt.Data(values=lines))
        rows = alt.Y("subject:N", sort=[line["subject"] for line in lines], axis=None)
        # Never narrower, because a difference of one per cent would then look large.
        reach = [
            min(0.8, *(line["low"] for line in lines)),
            max(1.25, *(line["high"] for line in lines)),
        ]
        if reach[1] / reach[0] < 5:
            values = [0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 4]
        else:
            values = sorted({*steps([{"low": reach[0], "high": reach[1]}]), 1.0})
        x = {
            "scale": alt.Scale(type="log", nice=False, domain=reach, padding=12),
            "axis": alt.Axis(values=values, labelOverlap=True, format="~g"),
            "title": title,
        }
        error = base.mark_rule(yOffset=MARK, strokeWidth=2).encode(
            x=alt.X("low:Q", **x), x2="high:Q", y=rows, color=self.colour()
        )
        dot = base.mark_point(yOffset=MARK, filled=True, size=70, opacity=1).encode(
            x=alt.X("value:Q", **x),
            y=rows,
            color=self.colour(),
            tooltip=["subject:N", alt.Tooltip("label:N", title=" ")],
        )
        one = (
            alt.Chart(alt.Data(values=[{"value": 1}]))
            .mark_rule(strokeDash=[4, 3], opacity=0.6)
            .encode(x=alt.X("value:Q", **x))
        )
        return finish(alt.layer(one, error, dot, names(base, rows)), ROW * len(lines))

    def trend(self, points, labels):
        """The medians of one scenario over several files; `points` are (label, result)."""
        lines = []
        for label, result in points:
            value, low, high = ends_of(rounds(result))
            lines.append(
                {"subject": result["subject"], "at": label, "value": value, "low": low, "high": high}
            )
        base = alt.Chart(alt.Data(values=lines))
        x = alt.X("at:N", sort=labels, title=None, axis=alt.Axis(labelAngle=-30))
        y = alt.Y("value:Q", title=title_of(points[0][1]), scale=alt.Scale(zero=True))
        drawn = self.strokes(lines)
        line = base.mark_line(point=alt.OverlayMarkDef(size=36)).encode(
            x=x, y=y, **drawn,
            tooltip=["subject:N", "at:N", alt.Tooltip("value:Q", format=NANOSECONDS)],
        )  # fmt: skip
        error = base.mark_rule(strokeWidth=1.5).encode(
            x=x, y="low:Q", y2="high:Q", color=drawn["color"]
        )
        return finish(alt.layer(line, error), 280)

    def failed(self, result):
        return row(
            result["subject"],
            "INVALID",
            result.get("error") or "no valid round",
            library=self.library[result["subject"]],
            value=None,
            low=None,
            high=None,
            faded=False,
        )

    def legend(self, scenario):
        """The colours of the libraries in one scenario."""
        here = {self.library[result["subject"]] for result in scenario.results}
        return {library: colour for library, colour in self.colours.items() if library in here}

    def strokes(self, lines):
        """The colour of the library and a stroke of its own for each subject."""
        subjects = list(dict.fromkeys(line["subject"] for line in lines))
        shades = [self.colours[self.library[each]] for each in subjects]
        dashes = strokes(subjects, self.library)
        return {
            "color": alt.Color(
                "subject:N",
                scale=alt.Scale(domain=subjects, range=shades),
                legend=legend(subjects),
            ),
            "strokeDash": alt.StrokeDash(
                "subject:N",
                scale=alt.Scale(domain=subjects, range=dashes),
                legend=legend(subjects),
            ),
        }

    def colour(self):
        scale = alt.Scale(domain=list(self.colours), range=list(self.colours.values()))
        return alt.Color("library:N", scale=scale, legend=None)


def bar_axis(title, lines, dots):
    """Begins at zero, except for memory that was given back. Has room for shown outliers."""
    highest = max([line["high"] or 0 for line in lines] + [1e-9])
    furthest = max([dot["value"] for dot in dots] + [highest])
    return alt.X(
        "value:Q",
        title=title,
        axis=alt.Axis(tickCount=8),
        scale=alt.Scale(
            domainMin=min([dot["value"] for dot in dots] + [0]),
            domainMax=alt.ExprRef(f"rounds ? {furthest * 1.04} : {highest * 1.04}"),
            nice=False,
        ),
    )


def marks(result):
    """The facts that the reader must see."""
    return [flag for flag in ("INVALID", "UNRELIABLE") if flag in result["flags"]]


def row(subject, label, note="", **more):
    """The text above the mark of a subject: its name, and the label below the name."""
    return {"subject": subject, "label": label, "note": note, **more}


def names(base, rows):
    """Cuts nothing off: a text that is too long for its line gets smaller letters."""

    def text(field, offset):
        size = alt.ExprRef(f"min(12, (width - 4) / (0.62 * max(1, length(datum.{field}))))")
        return base.mark_text(
            align="left", baseline="middle", yOffset=offset, fontSize=size
        ).encode(x=alt.value(2), y=rows, text=f"{field}:N")

    # The note stands in the place of the missing mark.
    return alt.layer(text("subject", NAME), text("label", FIGURE), text("note", MARK))


# The format of tooltips: four digits, and no letters for thousands.
NANOSECONDS = ",.4~r"


def positive(ns):
    """A logarithmic axis has no zero, and the clock has no half nanoseconds."""
    return max(ns, 1.0)


def steps(lines):
    """Round values between the extremes of the lines: 1, 2, 5, 10, or 1, 10, 100 if far apart."""
    figures = [line[name] for line in lines for name in ("value", "low", "high") if name in line]
    low, high = min(figures, default=1.0), max(figures, default=1.0)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if high / low < 1000 else (1,)
    values = [digit * 10.0**decade for decade in decades for digit in digits]
    return [value for value in values if low <= value <= high] or [low]


def log_time(field, title, lines, channel=alt.X):
    """A logarithmic axis for the times of `lines`."""
    return channel(
        field,
        title=title,
        scale=alt.Scale(type="log", nice=False, padding=10),
        axis=alt.Axis(format=",~f", values=steps(lines), labelOverlap=True),
    )


def legend(names):
    """Cuts no name off: the page makes as many columns as fit."""
    longest = max(map(len, names))
    return alt.Legend(
        orient="bottom",
        title="click to single out",
        columns=7 * longest + 40,  # the width of one column, until the page is open
        labelLimit=0,
        symbolLimit=0,  # no entry is left out
        labelFontSize=11 if longest <= 45 else 9,
        symbolType="stroke",
    )


def finish(chart, height):
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    chart = chart.properties(width="container", height=height, autosize=fit)
    # This call comes first, because it replaces the settings of the other calls.
    chart = chart.configure(font="system-ui, sans-serif", background="transparent")
    chart = chart.configure_view(stroke="transparent")
    chart = chart.configure_axis(grid=True, titleFontWeight="normal", labelFontSize=11)
    return {name: value for name, value in chart.to_dict().items() if name != "$schema"}
