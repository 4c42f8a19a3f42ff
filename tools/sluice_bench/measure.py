"""How figures are shown: units, digits, and which way is better."""

from . import estimates
from .record import is_invalid, is_rate, stat, unit

TIMES = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (0, "ns")]


def significant(value):
    """Three digits, without an exponent where people expect none."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def time_unit(ns):
    return next((factor or 1, name) for factor, name in TIMES if ns >= factor)


def time_text(ns):
    factor, name = time_unit(ns)
    return f"{significant(ns / factor)} {name}"


class Measure:
    """How the figures of one scenario are shown: which unit, and which way is better."""

    def __init__(self, results):
        first = results[0]
        self.is_rate = is_rate(first)
        middles = [stat(result, "median") for result in results if not is_invalid(result)]
        if self.is_rate:
            noun = first.get("per_second", {}).get("unit", "msg/s")
            self.factor, self.unit = 1e3, f"million {noun}"
        elif unit(first) == "mib":
            self.factor, self.unit = 1, "MiB"
        else:
            self.factor, self.unit = time_unit(max(middles, default=1))
        self.better = "more is better" if self.is_rate else "less is better"

    @property
    def title(self):
        return f"{self.unit}, {self.better}"

    def show(self, figure):
        """A figure of the file in the unit of the chart."""
        if self.is_rate:
            return self.factor / figure if figure else 0.0
        return figure / self.factor

    def interval(self, values):
        """The median and its interval, the lower end first."""
        found = estimates.median_interval(values)
        ends = sorted([self.show(found.low), self.show(found.high)])
        return self.show(found.value), *ends

    def rank(self, figure):
        """The best first, what has no figure last."""
        return (figure is None, (figure or 0) * (-1 if self.is_rate else 1))

    def text(self, figure):
        return f"{significant(figure)} {self.unit.replace('million ', 'M ')}"
