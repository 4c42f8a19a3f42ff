#!/usr/bin/env python3
"""Prints the targets that hold the tests whose names match: `select_tests.py BUILD_DIR REGEX`.

BUILD_DIR/test_programs.txt lists the programs, one a line: target, how its tests' names begin, its
sources. A program that was built before has a list of its tests. A program without one is known by
the suites and cases in its sources and in the headers that they include; the names of types are not known before it is built.

Exits with 2 when no test matches, and names the programs that there are.
"""

import functools
import re
import sys
from pathlib import Path

CASE = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)", re.MULTILINE)
INSTANCE = re.compile(r"^\s*INSTANTIATE_(?:TYPED_)?TEST_SUITE_P\(\s*(\w+),\s*(\w+)", re.MULTILINE)
INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# Expressions that Python and ctest read in different ways.
PYTHON_ONLY = re.compile(r"\\\w|\(\?|[*+?][*+?]|\{\d")
LISTED = re.compile(r"^add_test\(\[==\[(.+?)\]==\]", re.MULTILINE)
# Tests that ctest has without a program.
WITHOUT_PROGRAM = ("compile_fail.", "package.", "sources.", "tools.")


@functools.cache
def read(file):
    return file.read_text(encoding="utf-8")


def cases_in(list_of_tests):
    """The suites follow: see cmake/discover_tests.cmake."""
    return list_of_tests.partition("else()")[0]


class Program:
    def __init__(self, build, line):
        self.target, self.prefix, sources = f"{line} ".split(" ", 2)
        self.sources = [Path(source) for source in sources.strip().split("|") if source]
        self.build = build

    def names(self):
        listed = list(self.build.rglob(f"{self.target}.tests.cmake"))
        known = {name for file in listed for name in LISTED.findall(cases_in(read(file)))}
        if not self.sources:
            return {self.prefix}
        return known | {self.prefix + name for name in self.names_in_sources()}

    def names_in_sources(self):
        for text in map(read, with_headers(self.sources)):
            yield from (".".join(pair) for pair in CASE.findall(text))
            yield from ("/".join(pair) + "/" for pair in INSTANCE.findall(text))


@functools.cache
def included(file):
    """The headers that the file names in quotes: beside it, or below a folder that it lies in."""
    names = INCLUDED.findall(read(file))
    found = (next((f / name for f in file.parents if (f / name).is_file()), None) for name in names)
    return [header for header in found if header]


def with_headers(sources):
    files, waiting = set(), list(sources)
    while waiting:
        file = waiting.pop()
        if file not in files:
            files.add(file)
            waiting += included(file)
    return files


def read_programs(build):
    lines = (build / "test_programs.txt").read_text(encoding="utf-8").splitlines()
    return [Program(build, line) for line in lines if line]


def as_pattern(text, programs):
    """The name of a program selects all of its tests."""
    exact = [program.prefix for program in programs if program.prefix == f"{text}."]
    return re.compile(f"^{re.escape(exact[0])}" if exact else text)


def select(build, text):
    """(the pattern for ctest, the targets to build)"""
    programs = read_programs(build)
    pattern = as_pattern(text, programs)
    chosen = {p.target for p in programs if any(map(pattern.search, p.names()))}
    return pattern.pattern, sorted(chosen)


def main(build, text):
    build = Path(build)
    # An escaped sign means the same to Python and to ctest.
    unknown = PYTHON_ONLY.search(re.sub(r"\\\W", ".", text))
    if unknown:
        print(
            f"dev: ctest knows no '{unknown[0]}', as '{text}' has it; it knows ^ $ . * + ? [] | ()",
            file=sys.stderr,
        )
        return 2
    try:
        pattern, targets = select(build, text)
    except re.error as error:
        print(f"dev: '{text}' is no regular expression: {error}", file=sys.stderr)
        return 2
    if not targets and not any(re.search(pattern, name) for name in static_tests(build)):
        there_are = " ".join(sorted({p.prefix.split(".")[0] for p in read_programs(build)}))
        print(f"dev: no test matches '{text}'; the programs are: {there_are}", file=sys.stderr)
        return 2
    print(pattern, *targets, sep="\n")
    return 0


def static_tests(build):
    """Names of the tests that need no program, from the files that ctest reads."""
    files = build.glob("tests/*/CTestTestfile.cmake")
    names = (re.findall(r"^add_test\(\W*([\w.]+)", f.read_text("utf-8"), re.MULTILINE) for f in files)
    return [name for some in names for name in some if name.startswith(WITHOUT_PROGRAM)]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
