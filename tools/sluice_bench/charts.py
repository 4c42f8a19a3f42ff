"""The charts of the page, as Vega-Lite specifications that Altair has checked.

Bars start at zero; other axes are logarithmic and say so. No chart holds results of two kinds. The
names stand above the marks, because a phone has no room beside them; colours of text and lines come
from the page's style sheet, so that dark mode and print need no second chart.
"""

import math

import altair as alt

from . import estimates
from .measure import Measure, significant, time_text
from .record import has_samples, is_invalid, rounds

ROW = 38
PALETTE = [
    "#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756",
    "#72b7b2", "#eeca3b", "#9d755d", "#ff9da6", "#bab0ac",
]  # fmt: skip


def colours(record):
    """A colour for each library; those that are ours first, so that they keep theirs."""
    subjects = sorted(record.subjects, key=lambda subject: not subject["ours"])
    libraries = dict.fromkeys(subject["library"] for subject in subjects)
    return {library: PALETTE[index % len(PALETTE)] for index, library in enumerate(libraries)}


class Charts:
    def __init__(self, record):
        self.record = record
        self.colours = colours(record)
        self.library = {subject["id"]: subject["library"] for subject in record.subjects}

    def bars(self, scenario):
        """Medians over the rounds as bars from zero, with 95 % intervals and, on demand, rounds."""
        measure = Measure(scenario.results)
        lines = [self.bar(result, measure) for result in scenario.results]
        dots = [
            {"subject": result["subject"], "value": measure.show(each), "round": index}
            for result in scenario.results
            if not is_invalid(result)
            for index, each in enumerate(rounds(result))
        ]
        lines.sort(key=lambda line: measure.rank(line["value"]))
        rows = alt.Y("subject:N", sort=[line["subject"] for line in lines], axis=None)
        base = alt.Chart(alt.Data(values=lines))
        bar = base.mark_bar(height=12, yOffset=8).encode(
            x=bar_axis(measure, lines, dots),
            y=rows,
            color=self.colour(),
            opacity=alt.condition("datum.faded", alt.value(0.45), alt.value(1)),
            tooltip=["subject:N", alt.Tooltip("label:N", title=" ")],
        )
        error = base.mark_rule(yOffset=8, strokeWidth=2).encode(x="low:Q", x2="high:Q", y=rows)
        ends = [
            base.mark_tick(yOffset=8, thickness=2, size=10, color="black").encode(
                x=f"{end}:Q", y=rows
            )
            for end in ("low", "high")
        ]
        points = (
            alt.Chart(alt.Data(values=dots))
            .mark_point(yOffset=8, size=22, filled=True, stroke="white", strokeWidth=0.5)
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

    def bar(self, result, measure):
        if is_invalid(result):
            return self.failed(result)
        value, low, high = measure.interval(rounds(result))
        return row(
            result["subject"],
            " · ".join([*marks(result), significant(value)]),
            library=self.library[result["subject"]],
            value=value,
            low=low,
            high=high,
            faded="UNRELIABLE" in result["flags"],
        )

    def tails(self, scenario):
        """Of each subject P50 and P99: the median over the rounds and its 95 % interval."""
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
                        "percentile": name,
                        "value": positive(found.value),
                        "low": positive(found.low),
                        "high": positive(found.high),
                    }
                )
            text = " / ".join(time_text(line["value"]) for line in lines[-2:])
            text = " · ".join([*marks(result), text])
            labels.append(row(subject, text, rank=lines[-2]["value"]))
        order = [line["subject"] for line in sorted(labels, key=lambda line: line["rank"])]
        for line in labels:
            del line["rank"]
        rows = alt.Y("subject:N", sort=order, axis=None)
        base = alt.Chart(alt.Data(values=lines))
        title = "P50 and P99 of a round, logarithmic, less is better"
        both, legend_on_top = ["P50", "P99"], alt.Legend(orient="top", title=None)
        shades = alt.Color(
            "percentile:N",
            scale=alt.Scale(domain=both, range=PALETTE[:2]),
            legend=legend_on_top,
        )
        shapes = alt.Shape(
            "percentile:N",
            scale=alt.Scale(domain=both, range=["circle", "square"]),
            legend=legend_on_top,
        )
        error = base.mark_rule(yOffset=8, strokeWidth=2, opacity=0.6).encode(
            x=log_time("low:Q", title, lines), x2="high:Q", y=rows, color=shades
        )
        dot = base.mark_point(yOffset=8, filled=True, size=70, opacity=1).encode(
            x=log_time("value:Q", title, lines),
            y=rows,
            color=shades,
            shape=shapes,
            tooltip=["subject:N", "percentile:N", alt.Tooltip("value:Q", title="ns", format=".4s")],
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
                y=log_time("value:Q", "latency, logarithmic", lines, alt.Y),
                color=alt.Color("subject:N", scale=alt.Scale(scheme="tableau20"), legend=legend()),
                opacity=alt.condition(picked, alt.value(1), alt.value(0.12)),
                tooltip=["subject:N", "share:N", alt.Tooltip("value:Q", title="ns", format=".4s")],
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
        measure = Measure(every)
        return [
            self.sweep_chart(valid, parameter, title, logarithmic, name, read, measure)
            for name, read in charts
        ]

    def sweep_chart(self, results, parameter, title, logarithmic, name, read, measure):
        samples, lines = has_samples(results[0]), []
        for result in results:
            if samples:
                found = estimates.median_interval(read(result))
                value, low, high = map(positive, (found.value, found.low, found.high))
            else:
                value, low, high = measure.interval(read(result))
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
            y = log_time("value:Q", f"{name} of a round, logarithmic", lines, alt.Y)
        else:
            y = alt.Y("value:Q", title=measure.title, scale=alt.Scale(zero=True))
        base = alt.Chart(alt.Data(values=lines))
        colour = alt.Color("subject:N", scale=alt.Scale(scheme="tableau20"), legend=legend())
        picked = alt.selection_point(fields=["subject"], bind="legend")
        opacity = alt.condition(picked, alt.value(1), alt.value(0.12))
        line = base.mark_line(point=alt.OverlayMarkDef(size=36)).encode(
            x=x, y=y, color=colour, opacity=opacity, 
            tooltip=["subject:N", "at:Q", alt.Tooltip("value:Q", format=".4s")],
        )  # fmt: skip
        error = base.mark_rule(strokeWidth=1.5).encode(
            x=x, y="low:Q", y2="high:Q", color=colour, opacity=opacity
        )
        return finish(alt.layer(line, error).add_params(picked), 320)

    def ratios(self, lines):
        """Ratios with their intervals about 1; `lines` are rows with value, low and high."""
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
        # Never narrower than this, or a difference of one per cent would look like a large one.
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
            "title": "time with / time without, logarithmic",
        }
        error = base.mark_rule(yOffset=8, strokeWidth=2).encode(
            x=alt.X("low:Q", **x), x2="high:Q", y=rows
        )
        dot = base.mark_point(yOffset=8, filled=True, size=70, opacity=1).encode(
            x=alt.X("value:Q", **x),
            y=rows,
            tooltip=["subject:N", alt.Tooltip("label:N", title=" ")],
        )
        one = (
            alt.Chart(alt.Data(values=[{"value": 1}]))
            .mark_rule(strokeDash=[4, 3], opacity=0.6)
            .encode(x=alt.X("value:Q", **x))
        )
        return finish(alt.layer(one, error, dot, names(base, rows)), ROW * len(lines))

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

    def colour(self):
        scale = alt.Scale(domain=list(self.colours), range=list(self.colours.values()))
        return alt.Color("library:N", scale=scale, legend=None)


def bar_axis(measure, lines, dots):
    """From zero, but for memory that was given back; with room for outliers when they are shown."""
    highest = max([line["high"] or 0 for line in lines] + [1e-9])
    furthest = max([dot["value"] for dot in dots] + [highest])
    return alt.X(
        "value:Q",
        title=measure.title,
        axis=alt.Axis(tickCount=8),
        scale=alt.Scale(
            domainMin=min([dot["value"] for dot in dots] + [0]),
            domainMax=alt.ExprRef(f"rounds ? {furthest * 1.04} : {highest * 1.04}"),
            nice=False,
        ),
    )


def marks(result):
    """What the reader must not overlook."""
    return [flag for flag in ("INVALID", "UNRELIABLE") if flag in result["flags"]]


def row(subject, label, note="", **more):
    """What stands above the marks of a subject: its name, and at the right end the label."""
    reserved = 8 * len(label) + 12
    return {"subject": subject, "label": label, "reserved": reserved, "note": note, **more}


def names(base, rows):
    """The name gives way where there is no room for both: a verdict is never cut off. It loses its
    beginning, because variants differ in their ends."""
    text = {"baseline": "middle", "fontSize": 12}
    name = base.mark_text(
        align="left", yOffset=-7, dir="rtl", limit=alt.ExprRef("width - datum.reserved"), **text
    ).encode(x=alt.value(2), y=rows, text="subject:N")
    figure = base.mark_text(align="right", yOffset=-7, **text).encode(
        x=alt.value("width"), y=rows, text="label:N"
    )
    # In the place of the bar that is not there.
    note = base.mark_text(align="left", yOffset=8, limit=alt.ExprRef("width - 4"), **text).encode(
        x=alt.value(2), y=rows, text="note:N"
    )
    return alt.layer(name, figure, note)


def positive(ns):
    """A logarithmic axis has no zero, and the clock no half nanoseconds."""
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
    expression = (
        "datum.value >= 1e9 ? format(datum.value / 1e9, '~g') + ' s' : "
        "datum.value >= 1e6 ? format(datum.value / 1e6, '~g') + ' ms' : "
        "datum.value >= 1e3 ? format(datum.value / 1e3, '~g') + ' µs' : "
        "format(datum.value, '~g') + ' ns'"
    )
    return channel(
        field,
        title=title,
        scale=alt.Scale(type="log", nice=False, padding=10),
        axis=alt.Axis(labelExpr=expression, values=steps(lines), labelOverlap=True),
    )


def legend():
    return alt.Legend(
        orient="bottom",
        title="click to single out",
        columns=3,  # as many as there is room for, once the page is open
        labelLimit=240,
        symbolType="stroke",
    )


def finish(chart, height):
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    chart = chart.properties(width="container", height=height, autosize=fit)
    # This one comes first: it replaces what the others have set.
    chart = chart.configure(font="system-ui, sans-serif", background="transparent")
    chart = chart.configure_view(stroke="transparent")
    chart = chart.configure_axis(grid=True, titleFontWeight="normal", labelFontSize=11)
    return {name: value for name, value in chart.to_dict().items() if name != "$schema"}
