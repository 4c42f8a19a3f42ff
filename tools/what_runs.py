#!/usr/bin/env python3
"""The tests that run in each build, as the table of CONTRIBUTING.md has them.

`what_runs.py pattern BUILD` prints the regular expression of the tests that .ci/run takes for a build.
`what_runs.py check BUILD_DIR` holds the table to the tests that are there: each kind of test has a
row, and each row has tests.
"""

import re
import sys
from pathlib import Path

from select_tests import read_programs, static_tests

PAGE = Path(__file__).resolve().parent.parent / "CONTRIBUTING.md"
HEADING = "| tests |"
RUNS = "yes"


def read_table(page):
    """{build: [kinds of tests that run there]} and the kinds, in the table's order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith(HEADING)), None)
    if start is None:
        sys.exit(f"{page.name}: no table begins with '{HEADING}'")
    builds = cells_of(lines[start])[2:]
    table = {build: [] for build in builds}
    kinds = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        kind, _, *runs = cells_of(line)
        kinds.append(kind)
        for build, cell in zip(builds, runs):
            if cell == RUNS:
                table[build].append(kind)
    return table, kinds


def cells_of(line):
    return [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]


def pattern_of(page, build):
    table, kinds = read_table(page)
    if build not in table:
        sys.exit(f"{page.name}: its table has no build '{build}'; it has {', '.join(table)}")
    if table[build] == kinds:
        return "."
    return f"^({'|'.join(table[build])})\\."


def kinds_that_exist(build):
    """The part of the tests' names before the first dot."""
    names = [program.prefix for program in read_programs(build)] + static_tests(build)
    return {name.split(".")[0] for name in names}


def problems_of(page, build):
    _, kinds = read_table(page)
    there = kinds_that_exist(build)
    yield from (f"the tests '{kind}' have no row" for kind in sorted(there - set(kinds)))
    yield from (f"the row '{kind}' has no tests" for kind in sorted(set(kinds) - there))
    yield from (f"the row '{kind}' stands twice" for kind in sorted(set(kinds)) if kinds.count(kind) > 1)


def main(what, where):
    if what == "pattern":
        print(pattern_of(PAGE, where))
        return 0
    problems = list(problems_of(PAGE, Path(where)))
    for problem in problems:
        print(f"{PAGE.name}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
