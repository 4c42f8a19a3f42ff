"""No figure of the README, the guides, the how-to pages, the comparison and the published pages is typed by hand.

A number with a unit is generated from docs/evidence (between `<!-- figures: NAME -->` and its end), or its
paragraph, list or table tells where it comes from: by the word "Published" on the published pages, or by a comment
before it, `<!-- a limit -->`, `<!-- a setting -->` or `<!-- counted: by what -->`. Code, tables of defaults and words
such as "at most" need none. A number behind "about", a decimal fraction alone in a cell, and shares of time in words
are figures, too.
"""

import re

from .problem import Problem

PAGES = (
    "README*.md", "docs/guide/*.md", "docs/how-to/*.md", "docs/comparison.md", "docs/migrating-*.md",
    "docs/published/*.md", "docs/tutorial.md",
)  # fmt: skip
GENERATED = re.compile(r"<!-- figures: .*?<!-- end of figures -->", re.DOTALL)
CODE = re.compile(r"^```.*?^```$|^    [^\n]*$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
TOLD = re.compile(r"<!-- (a limit|a setting|counted: [^>]+) -->|\| default \|")
PUBLISHED = re.compile(r"\b(?:P|as p|The p)ublished\b")
UNITS = r"(?:ns|us|µs|ms|s|(?:nano|micro|milli)?seconds|minutes|instructions|[KMG]i?B|%|x|times)"
WITH_UNIT = rf"(?<![\w.,])\d(?:[\d,.]*\d)?(?:(?:&nbsp;|[ \u00a0-])?{UNITS}(?!\w)| (?:to|到) \d+\.\d)"
GUESSED = r"(?:[Aa]bout|[Ss]ome|around|roughly|nearly|almost) \d[\d,.]*"
IN_WORDS = r"(?:[Tt]wice|[Hh]alf|a (?:third|quarter|fifth|sixth|tenth)|(?:several|two|three|four|five|ten) times) " \
    r"(?:of )?(?:the |its |their )?(?:time|instructions|as (?:fast|long|much|slow|high)|faster|slower)"
FIGURE = re.compile(rf"{WITH_UNIT}|\b{GUESSED}|\b{IN_WORDS}|(?<=\| )\d+\.\d+(?= \|)")
# Words before a number, or behind it, that make it a limit, a setting or the level of an interval.
LIMIT = re.compile(r"(?:at most|up to|default|every|again)\W+(?:\w+\W+)?$|最多用?\W*$")
BEHIND = re.compile(r"\d+ % (?:interval|confidence|置信区间)|[^.]*\bby default\b")

# The README says how big the library is. It may be wrong by one part in twenty.
SIZE = re.compile(r"(\d+) (?:headers|个头文件)\D+([\d,]+) ?(?:lines|行)")
ACCURACY = 0.05


def check(root):
    pages = sorted(path for pattern in PAGES for path in root.glob(pattern))
    return [problem for page in pages for problem in (*check_figures(root, page), *check_size(root, page))]


def blank(match):
    """The same number of lines without words."""
    return "\n" * match[0].count("\n") or " "


def check_figures(root, page):
    text = SIZE.sub(blank, CODE.sub(blank, GENERATED.sub(blank, page.read_text(encoding="utf-8"))))
    number = 1
    for block in text.split("\n\n"):
        is_told = TOLD.search(block) or (page.parent.name == "published" and PUBLISHED.search(block))
        for line, words in enumerate(() if is_told else block.split("\n"), number):
            for match in FIGURE.finditer(words):
                if not LIMIT.search(words[: match.start()]) and not BEHIND.match(words, match.start()):
                    yield Problem(
                        page.relative_to(root), line, f"the figure '{match[0]}' has no source (tools/checks/figures.py)"
                    )
        number += block.count("\n") + 2


def check_size(root, page):
    if not page.name.startswith("README"):
        return
    headers = [path for path in (root / "include").rglob("*") if path.suffix in (".hpp", ".h")]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in headers)
    said = SIZE.search(page.read_text(encoding="utf-8"))
    if page.parent == root and not said:
        yield Problem(page.relative_to(root), 1, "it does not say how many headers and lines the library has")
    for number, truth in zip(said.groups() if said else (), (len(headers), lines)):
        if abs(int(number.replace(",", "")) - truth) > ACCURACY * truth:
            yield Problem(page.relative_to(root), 1, f"the library has {truth} headers or lines, and not {number}")
