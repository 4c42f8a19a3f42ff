"""How figures are shown: in nanoseconds, or memory in MiB. Less is better."""

from . import estimates
from .record import unit


def significant(value):
    """Three digits, without an exponent where people expect none."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def time_text(ns):
    return f"{significant(ns)} ns"


def figure_text(result, value):
    """A figure of this result with its unit."""
    return f"{significant(value)} MiB" if unit(result) == "mib" else time_text(value)


def interval_text(values):
    """The ends of the interval of the median of these rounds."""
    found = estimates.median_interval(values)
    return f"{significant(found.low)} .. {significant(found.high)}"


def title_of(result):
    """The title of an axis of such figures."""
    return f"{'MiB' if unit(result) == 'mib' else 'ns'}, less is better"


def ends_of(values):
    """The median of the rounds and the ends of its interval."""
    found = estimates.median_interval(values)
    return found.value, found.low, found.high
