"""The chart of the README, with which a report opens, too: our time beside others' for each kind of work.

The table `chart` of docs/evidence/tables.toml has its rows. Bars begin at zero, and each row has a scale of
its own, because a log record takes a hundred times as long as a callback. The work stands above its bars, and
the picture is narrow, so that a phone shows it with letters that can be read.
"""

import re
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
WIDTH, EDGE, LINE, BAR, GAP = 460, 14, 18, 18, 9
# The bars begin behind the names, and the longest leaves room for its time and the ratio.
BARS, LONGEST = 174, 138

# Every rule names the picture, because a report holds it inside its page.
STYLE = """
    .times { color-scheme: light dark }
    .times .ground { fill: #ffffff; stroke: #d0d7de } .times .own { fill: #0969da } .times .other { fill: #afb8c1 }
    .times line { stroke: #1f2328; stroke-width: 1.5 } .times .rule { stroke: #d0d7de; stroke-width: 1 }
    .times text { font: 14px system-ui, "Segoe UI", "DejaVu Sans", "Noto Sans CJK SC", sans-serif; fill: #1f2328 }
    .times .title { font-size: 15px; font-weight: 600 } .times .work { font-weight: 600 } .times .quiet { fill: #59636e }
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
    parts = [text(EDGE, middle + 5, name)]
    if is_invalid(result):
        return [*parts, text(BARS + 6, middle + 5, "INVALID")]
    value, low, high = ends_of(rounds(result))
    parts.append(
        f'<rect class="{"own" if is_ours else "other"}" x="{BARS}" y="{y + 2:g}" width="{value * scale:.1f}" height="{BAR - 4}"/>'
    )
    parts.append(line(BARS + low * scale, middle, BARS + high * scale, middle))
    parts += [line(BARS + end * scale, middle - 4, BARS + end * scale, middle + 4) for end in (low, high)]
    return [*parts, text(BARS + high * scale + 6, middle + 5, figure_text(result, value) + mark)]


def draw_row(y, row, words):
    results = [result for _, result in row.bars]
    highest = max((ends_of(rounds(each))[2] for each in results if not is_invalid(each)), default=1)
    parts, top = paragraph(y, row.work, words, "work")
    for number, (name, result) in enumerate(row.bars):
        mark = " *" if row.unsteady or "UNRELIABLE" in result["flags"] else ""
        parts += draw_bar(top, LONGEST / highest, name, result, number == 0, mark)
        if number and not is_invalid(results[0]) and not is_invalid(result):
            value, low, high = ratio_of(results[0], result)
            style = "faster" if high < 1 else "slower" if low > 1 else "quiet"
            parts.append(text(WIDTH - EDGE, top + BAR / 2 + 5, f"{value:.2f}", style, "end"))
        top += BAR
    return parts, top


def paragraph(y, words, settings, style):
    """The lines of a text, and the y below them."""
    lines = [each for part in words.split("\n") for each in wrap(part, settings.get("columns", 52))]
    return [text(EDGE, y + LINE * number - 4, each, style) for number, each in enumerate(lines, 1)], y + LINE * len(lines)


def draw(rows, words):
    """`words`: title, note, ratio and unsteady, in the language of the picture."""
    parts = [text(EDGE, 28, words["title"], "title")]
    note, y = paragraph(36, words["note"], words, "quiet")
    parts += [*note, text(WIDTH - EDGE, y - 4, words["ratio"], "quiet", "end")]
    y += 6
    for row in rows:
        parts.append(line(EDGE, y, WIDTH - EDGE, y, "rule"))
        drawn, y = draw_row(y + GAP / 2, row, words)
        parts += drawn
        y += GAP
    if any(" *" in part for part in parts):
        note, y = paragraph(y, words["unsteady"], words, "quiet")
        parts += note
    height = y + 6
    return (
        f'<svg class="times" xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {WIDTH} {height:g}" role="img">\n  <title>{escape(words["title"])}</title>\n'
        f'  <style>{STYLE}\n  </style>\n  <rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" '
        f'height="{height - 1:g}" rx="6"/>\n  ' + "\n  ".join(parts) + "\n</svg>\n"
    )


def version(record, subject):
    """Without what stands behind the number of a release: commits since, or a packager's suffix."""
    return re.split("[-+]", (record.subject(subject).get("version") or "").replace("_", "."))[0]


def name(row, letter, language):
    return row.get(f"name_{letter}_{language}", row[f"name_{letter}"])


def rows_of(record, described, language="work"):
    """The described rows whose scenario and subjects this file holds."""
    found = []
    for each in described:
        suite, _, scenario = each["scenario"].partition("/")
        here = {r["subject"]: r for r in record.results if (r["suite"], r["scenario"]) == (suite, scenario)}
        subjects = [(name(each, letter, language), each[letter]) for letter in "abc" if letter in each]
        if here and all(subject in here for _, subject in subjects):
            bars = [(f"{shown} {version(record, subject)}".strip(), here[subject]) for shown, subject in subjects]
            found.append(Row(each[language], bars, scenario in record.unsteady or bool(record.doubts_of_the_run)))
    return found


def of_record(record):
    """The chart of one file, or nothing if it holds no row of the chart."""
    if not TABLES.is_file():
        return None
    words = tomllib.loads(TABLES.read_text(encoding="utf-8"))["chart"]
    rows = rows_of(record, words["rows"])
    return draw(rows, words) if rows else None
