"""The chart of the README, with which a report opens, too: our time beside others' for each kind of work.

The table `chart` of docs/evidence/tables.toml has its rows. Bars begin at zero, and each row has a scale of
its own, because a log record takes a hundred times as long as a callback.
"""

import tomllib
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import median
from textwrap import wrap

from . import estimates
from .measure import ends_of, figure_text
from .record import is_invalid, rounds

TABLES = Path(__file__).resolve().parents[2] / "docs/evidence/tables.toml"
WIDTH, TOP, BAR, GAP = 860, 62, 17, 14
NAMES, BARS, LONGEST = 408, 416, 260

# Every rule names the picture, because a report holds it inside its page.
STYLE = """
    .times .ground { fill: #ffffff; stroke: #d0d7de } .times .own { fill: #0969da } .times .other { fill: #afb8c1 }
    .times line { stroke: #1f2328; stroke-width: 1.5 } .times .rule { stroke: #d0d7de; stroke-width: 1 }
    .times text { font: 12.5px system-ui, "Segoe UI", "DejaVu Sans", "Noto Sans CJK SC", sans-serif; fill: #1f2328 }
    .times .title { font-size: 15px; font-weight: 600 } .times .quiet { fill: #59636e; font-size: 12px }
    .times .faster { fill: #1a7f37; font-weight: 600 } .times .slower { fill: #bc4c00; font-weight: 600 }
    @media (prefers-color-scheme: dark) {
      .times .ground { fill: #0d1117; stroke: #3d444d } .times .own { fill: #4493f8 } .times .other { fill: #656c76 }
      .times line { stroke: #f0f6fc } .times .rule { stroke: #3d444d } .times text { fill: #f0f6fc }
      .times .quiet { fill: #b7bfc8 } .times .faster { fill: #3fb950 } .times .slower { fill: #f0883e }
    }"""


@dataclass(frozen=True)
class Row:
    work: str
    bars: list  # (name, result), ours first
    unsteady: bool


def ratio_of(first, second):
    """First divided by second: the median over pairs of rounds, and the ends of the sign test's interval."""
    pairs = [a / b for a, b in zip(rounds(first), rounds(second))]
    return (median(pairs), *estimates.sign_interval(pairs))


def text(x, y, words, style="", anchor="start"):
    return f'<text class="{style}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x, y, to_x, to_y, style=""):
    return f'<line class="{style}" x1="{x:.1f}" y1="{y:g}" x2="{to_x:.1f}" y2="{to_y:g}"/>'


def draw_bar(y, scale, name, result, is_ours, mark):
    middle = y + BAR / 2
    parts = [text(NAMES, middle + 4, name, "", "end")]
    if is_invalid(result):
        return [*parts, text(BARS + 6, middle + 4, "INVALID")]
    value, low, high = ends_of(rounds(result))
    parts.append(
        f'<rect class="{"own" if is_ours else "other"}" x="{BARS}" y="{y + 2:g}" width="{value * scale:.1f}" height="{BAR - 4}"/>'
    )
    parts.append(line(BARS + low * scale, middle, BARS + high * scale, middle))
    parts += [line(BARS + end * scale, middle - 4, BARS + end * scale, middle + 4) for end in (low, high)]
    return [*parts, text(BARS + high * scale + 7, middle + 4, figure_text(result, value) + mark)]


def draw_row(y, row, words):
    results = [result for _, result in row.bars]
    highest = max((ends_of(rounds(each))[2] for each in results if not is_invalid(each)), default=1)
    height = max(BAR * len(results), 34)
    lines = wrap(row.work, words.get("columns", 34))
    parts = [
        text(16, y + height / 2 + 4 + 16 * (number - (len(lines) - 1) / 2), each) for number, each in enumerate(lines)
    ]
    for number, (name, result) in enumerate(row.bars):
        mark = " *" if row.unsteady or "UNRELIABLE" in result["flags"] else ""
        top = y + (height - BAR * len(results)) / 2 + BAR * number
        parts += draw_bar(top, LONGEST / highest, name, result, number == 0, mark)
        if number and not is_invalid(results[0]) and not is_invalid(result):
            value, low, high = ratio_of(results[0], result)
            style = "faster" if high < 1 else "slower" if low > 1 else "quiet"
            at = top + BAR / 2 + 4 if len(results) > 2 else y + height / 2 + 4
            parts.append(text(WIDTH - 16, at, f"{value:.2f}", style, "end"))
    return parts, height


def draw(rows, words):
    """`words`: title, note, ratio and unsteady, in the language of the picture."""
    parts = [text(16, 27, words["title"], "title"), text(16, 47, words["note"], "quiet")]
    parts.append(text(WIDTH - 16, 47, words["ratio"], "quiet", "end"))
    y = TOP
    for row in rows:
        drawn, height = draw_row(y + GAP / 2, row, words)
        parts += [line(16, y, WIDTH - 16, y, "rule"), *drawn]
        y += height + GAP
    if any(" *" in part for part in parts):
        parts.append(text(16, y + 14, words["unsteady"], "quiet"))
        y += 22
    height = y + 6
    return (
        f'<svg class="times" xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img">\n  <title>{escape(words["title"])}</title>\n'
        f'  <style>{STYLE}\n  </style>\n  <rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" '
        f'height="{height - 1}" rx="6"/>\n  ' + "\n  ".join(parts) + "\n</svg>\n"
    )


def version(record, subject):
    """Without the commits since a release, which have no room."""
    return (record.subject(subject).get("version") or "").replace("_", ".").partition("-")[0]


def rows_of(record, described, language="work"):
    """The described rows whose scenario and subjects this file holds."""
    found = []
    for each in described:
        suite, _, name = each["scenario"].partition("/")
        here = {r["subject"]: r for r in record.results if (r["suite"], r["scenario"]) == (suite, name)}
        subjects = [(each[f"name_{letter}"], each[letter]) for letter in "abc" if letter in each]
        if here and all(subject in here for _, subject in subjects):
            bars = [(f"{shown} {version(record, subject)}".strip(), here[subject]) for shown, subject in subjects]
            found.append(Row(each[language], bars, name in record.unsteady or bool(record.doubts_of_the_run)))
    return found


def of_record(record):
    """The chart of one file, or nothing if it holds no row of the chart."""
    if not TABLES.is_file():
        return None
    words = tomllib.loads(TABLES.read_text(encoding="utf-8"))["chart"]
    rows = rows_of(record, words["rows"])
    return draw(rows, words) if rows else None
