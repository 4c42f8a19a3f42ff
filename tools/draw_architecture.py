#!/usr/bin/env python3
"""Draws the pictures of docs/architecture.md and docs/guide/bus.md into docs/pictures/: `draw_architecture.py`.

The levels come from cmake/modules.cmake, as for the layering check. The words come from the tables
of the pages: change a row there, and run this script again.
"""

import sys
from html import escape
from itertools import groupby
from pathlib import Path
from textwrap import wrap

from checks import layering

PAGE = Path("docs/architecture.md")
BUS_PAGE = Path("docs/guide/bus.md")
PICTURES = Path("docs/pictures")
PRODUCER = "producer"

# Each picture has a background, so that it is readable on a page of any colour.
STYLE = """
    .ground { fill: #ffffff; stroke: #d0d7de } .band { fill: #f6f8fa }
    .box { fill: #f6f8fa; stroke: #818b98 }
    .producer { fill: #ddf4ff; stroke: #0969da } .consumer { fill: #dafbe1; stroke: #1a7f37 }
    .urgent { fill: #ffd8b5; stroke: #bc4c00 } .refused { fill: none; stroke: #bc4c00; stroke-dasharray: 4 3 }
    .line { fill: none; stroke: #59636e; stroke-width: 1.5 } .head { fill: #59636e }
    text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
    .name { font-weight: 600; font-size: 15px } .quiet { fill: #59636e; font-size: 12px }
    .code { font: 12px ui-monospace, "DejaVu Sans Mono", monospace }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0d1117; stroke: #3d444d } .band { fill: #151b23 }
      .box { fill: #1c2128; stroke: #9198a1 }
      .urgent { fill: #5a2e0c; stroke: #f0883e } .refused { stroke: #f0883e }
      .producer { fill: #0c2d6b; stroke: #58a6ff } .consumer { fill: #0f3d20; stroke: #3fb950 }
      .line { stroke: #9198a1 } .head { fill: #9198a1 }
      text { fill: #f0f6fc } .quiet { fill: #b7bfc8 }
    }"""


class Incomplete(Exception):
    """A table of the page and the list of modules do not agree; the text is one line."""


def read_table(page, heading, source=PAGE):
    """The rows of the table whose first line begins with `heading`, each a list of cells."""
    lines = page.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith(heading)), None)
    if start is None:
        raise Incomplete(f"{source} has no table that begins with '{heading}'")
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().replace("`", "") for cell in line.strip("| ").split("|")])
    return rows


class Drawing:
    def __init__(self, width, height, title):
        self.width, self.height, self.title = width, height, title
        self.parts = []
        self.box(0.5, 0.5, width - 1, height - 1, "ground")

    def box(self, x, y, width, height, style):
        self.parts.append(
            f'<rect class="{style}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        )

    def text(self, x, y, words, style="", anchor="middle"):
        style = f' class="{style}"' if style else ""
        self.parts.append(
            f'<text{style} x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'
        )

    def paragraph(self, x, y, words, columns, style=""):
        for number, line in enumerate(wrap(words, columns)):
            self.text(x, y + 17 * number, line, style)

    def line(self, path):
        self.parts.append(f'<path class="line" d="{path}"/>')

    def arrow(self, x, y, length):
        """To the right."""
        end = x + length
        self.line(f"M{x} {y}H{end - 6}")
        self.parts.append(f'<path class="head" d="M{end} {y}l-8 -5v10z"/>')

    def svg(self):
        width, height = self.width, self.height
        size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        body = "\n  ".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n'
            f"  <title>{escape(self.title)}</title>\n"
            f"  <style>{STYLE}\n  </style>\n  {body}\n</svg>\n"
        )


def draw_path(stations, ways):
    """`stations`: name, thread, words. `ways`: module, and its type at each station."""
    left, step, width, row = 102, 204, 178, 34
    height = 188 + row * len(ways)
    drawing = Drawing(left + step * len(stations) - 8, height, "The path of a message")
    for thread, group in groupby(enumerate(stations), key=lambda station: station[1][1]):
        places = [left + step * number for number, _ in group]
        end = places[-1] + width
        drawing.line(f"M{places[0]} 42v-8H{end}v8")
        drawing.text((places[0] + end) / 2, 24, f"{thread}'s thread", "quiet")
    drawing.text(14, 92, "message", anchor="start")
    for number, (name, thread, words) in enumerate(stations):
        x = left + step * number
        drawing.arrow(x - 23, 88, 21)
        drawing.box(x, 50, width, 84, "producer" if thread == PRODUCER else "consumer")
        drawing.text(x + width / 2, 74, name, "name")
        drawing.paragraph(x + width / 2, 95, words, 25, "quiet")
    drawing.text(14, 168, "The types at each station", "quiet", "start")
    for number, (module, *types) in enumerate(ways):
        y = 180 + row * number
        drawing.box(8, y, drawing.width - 16, row - 6, "band")
        drawing.text(18, y + 18.5, module, "name", "start")
        for column, name in enumerate(types):
            drawing.text(left + step * column + width / 2, y + 18.5, name, "code")
    return drawing.svg()


def draw_overtake(steps):
    """`steps`: number and words. A row of slots for each priority, and the order in which messages are handled."""
    slots, left, size, row = 12, 236, 28, 50
    drawing = Drawing(910, 252 + 20 * len(steps), "A stop overtakes a flood")
    drawing.text(left + slots * size / 2, 32, "three rings of one bus, one for each priority", "quiet")
    drawing.text(802, 32, "order of handling", "quiet")

    def slot(x, y, style, number="", width=size):
        drawing.box(x, y, width - 4, size - 4, style)
        drawing.text(x + (width - 4) / 2, y + 17, number, "code")

    for line, (priority, queued, style) in enumerate((("high", 1, "urgent"), ("medium", 2, "consumer"), ("low", slots, "producer"))):
        y = 48 + row * line
        drawing.text(222, y + 17, priority, "name", "end")
        for place in range(slots):
            slot(left + size * place, y, style if place < queued else "box")
    for y, sender in ((48, "stop switch"), (48 + 2 * row, "sensors")):
        drawing.text(14, y + 17, sender, anchor="start")
        drawing.arrow(106, y + 12, 44)
    slot(left, 48, "urgent", "2")
    slot(left + size * 11, 48 + 2 * row, "producer", "1")
    slot(120, 44 + 3 * row, "refused", "1")
    drawing.text(152, 61 + 3 * row, "full: the sender keeps this reading", "quiet", "start")
    for line, (words, style, step) in enumerate(
        (("a reading, running now", "producer", "3"), ("the stop", "urgent", "4"), ("messages of medium", "consumer", ""), ("readings", "producer", ""))
    ):
        y = 48 + 38 * line
        drawing.box(712, y, 180, 26, style)
        drawing.text(802, y + 17, words)
        drawing.text(702, y + 17, step, "code", "end")
    drawing.arrow(left + slots * size + 16, 60 + row, 76)
    drawing.line(f"M8 228H902")
    for number, (step, words) in enumerate(steps):
        drawing.text(24, 250 + 20 * number, step, "code")
        drawing.text(42, 250 + 20 * number, words, anchor="start")
    return drawing.svg()


def draw_layers(levels, holds):
    band, left, right = 68, 74, 842
    highest_first = sorted(set(levels.values()), reverse=True)
    drawing = Drawing(right + 48, 24 + band * len(highest_first), "The modules by level")
    for row, level in enumerate(highest_first):
        modules = [module for module in levels if levels[module] == level]
        y = 12 + band * row
        drawing.text(14, y + 33, f"level {level}", "quiet", "start")
        width = (right - left - 12 * (len(modules) - 1)) // len(modules)
        for column, module in enumerate(modules):
            x = left + (width + 12) * column
            drawing.box(x, y, width, band - 12, "box")
            drawing.text(x + width / 2, y + 23, module, "name")
            drawing.paragraph(x + width / 2, y + 44, holds[module], width // 7, "quiet")
    bottom = drawing.height - 20
    drawing.line(f"M{right + 24} 16V{bottom - 6}")
    drawing.parts.append(f'<path class="head" d="M{right + 24} {bottom}l-5 -8h10z"/>')
    drawing.parts.append(
        f'<text class="quiet" text-anchor="middle" transform="translate({right + 16} '
        f'{drawing.height / 2}) rotate(-90)">includes only what is below</text>'
    )
    return drawing.svg()


def same_modules(rows, modules, table):
    found = [row[0] for row in rows]
    if missing := [module for module in modules if module not in found]:
        raise Incomplete(f"{PAGE}: {table} lacks the module {', '.join(missing)}")
    if unknown := [module for module in found if module not in modules]:
        raise Incomplete(f"{PAGE}: {table} has {', '.join(unknown)}, which is not in "
                         f"{layering.MODULE_LIST}")


def draw(root):
    """{file: its text}; raises Incomplete."""
    levels = layering.read_levels(root)
    page = (root / PAGE).read_text(encoding="utf-8")
    holds = read_table(page, "| module | holds |")
    ways = read_table(page, "| module | admission |")
    same_modules(holds, levels, "the table of the layers")
    # A module below `queue` carries nothing, `inspect` only reads counts, `wire` only converts,
    # and `eventpp` is carried by `event`.
    carrying = [
        module
        for module in levels
        if levels[module] >= levels["queue"] and module not in ("eventpp", "inspect", "wire")
    ]
    same_modules(ways, carrying, "the table of the path")
    return {
        PICTURES / "overtake.svg": draw_overtake(
            read_table((root / BUS_PAGE).read_text(encoding="utf-8"), "| step |", BUS_PAGE)
        ),
        PICTURES / "path.svg": draw_path(read_table(page, "| station |"), ways),
        PICTURES / "layers.svg": draw_layers(levels, {row[0]: row[1] for row in holds}),
    }


def main(root):
    try:
        for file, text in draw(root).items():
            (root / file).write_text(text, encoding="utf-8")
    except Incomplete as reason:
        sys.exit(str(reason))


if __name__ == "__main__":
    main(Path(__file__).resolve().parent.parent)
