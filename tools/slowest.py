#!/usr/bin/env python3
"""Prints the ten programs that take longest to build and run: `slowest.py BUILD_DIR...`.

The seconds to build are those of the compilers, from Ninja's log: two that run side by side count
both. The seconds to run are those of ctest's report.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

TARGET = re.compile(r"CMakeFiles/(\w+)\.dir/")
SHOWN = 10


def built(folder):
    """{target: seconds}"""
    log = folder / ".ninja_log"
    last = {}  # the last line of an output counts: Ninja adds a line for each build
    for line in log.read_text(encoding="utf-8").splitlines()[1:] if log.is_file() else []:
        start, end, _, output, *_ = line.split("\t")
        last[output] = (int(end) - int(start)) / 1000
    seconds = Counter()
    for output, taken in last.items():
        if target := TARGET.search(output):
            seconds[target[1].removesuffix("_test")] += taken
    return seconds


def run(folder):
    """{the beginning of the tests' names: seconds}"""
    seconds = Counter()
    report = folder / "tests.xml"
    for case in ElementTree.parse(report).iter("testcase") if report.is_file() else []:
        seconds[case.get("name").split(".")[0]] += float(case.get("time") or 0)
    return seconds


def rows_of(folders):
    """(build, program, seconds to build, seconds to run), the dearest first."""
    rows = []
    for folder in folders:
        building, running = built(folder), run(folder)
        rows += [(folder.name, name, building[name], running[name]) for name in {*building, *running}]
    return sorted(rows, key=lambda row: (-row[2] - row[3], row))


def main(folders):
    print("build          program                           to build    to run")
    for build, program, building, running in rows_of(map(Path, folders))[:SHOWN]:
        print(f"{build:<14} {program:<32} {building:>8.0f} s {running:>7.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
