#!/usr/bin/env python3
"""Writes src/module/sluice.cppm, the C++20 module, from the public headers.

The module exports each public name that a header below sluice.hpp declares. The headers are formatted by
clang-format, so a declaration in a namespace begins in the first column.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULE = Path("src/module/sluice.cppm")
ENTRANCE = "sluice/sluice.hpp"

INCLUDE = re.compile(r"^#include <(sluice/[\w./]+)>", re.MULTILINE)
OPENING = re.compile(r"^(?:inline )?namespace (?:\[\[.*\]\] )?([\w:]+) \{$")
CLOSING = re.compile(r"^\}  // namespace ([\w:]+)$")
DECLARATIONS = (
    # types, except specialisations and members that are defined outside of their class
    re.compile(r"^(?:class|struct|union|enum(?: class)?) (?:\[\[\w+\]\] |alignas\(.+\) )*(\w+)\b(?! *<|::|\()"),
    re.compile(r"^(?:using|concept) (\w+) ="),
    re.compile(r"^(?:inline )?constexpr [\w:<>, ]+? (\w+)(?:\{| =(?: |$)|\[|;)"),
    # functions; they begin with a small letter
    re.compile(
        r"^(?!static_assert|using|class|struct|union|enum)[\w\[][\w:<>,&*.() \[\]]*?"
        r"(?<![\w:])(?!decltype|noexcept|alignas)(operator *[^\w\s(]+|[a-z]\w*)\("
    ),
)


def headers():
    """The texts of the headers that the entrance reaches."""
    found = {}

    def visit(name):
        if name not in found:
            found[name] = (ROOT / "include" / name).read_text(encoding="utf-8")
            for included in INCLUDE.findall(found[name]):
                visit(included)

    visit(ENTRANCE)
    return found.values()


def names_of(text):
    """(namespace, name) of each declaration outside of namespaces for details."""
    spaces = []
    is_specialisation = False
    for line in text.splitlines():
        if opening := OPENING.match(line):
            spaces += opening[1].split("::")
        elif closing := CLOSING.match(line):
            del spaces[-len(closing[1].split("::")) :]
        elif line.startswith("template"):
            is_specialisation = line.startswith("template <>")
        elif line and line[0] not in " /" and "detail" not in spaces and spaces[:1] == ["sluice"]:
            found = next((each for each in (d.match(line) for d in DECLARATIONS) if each), None)
            if found and not is_specialisation:
                yield "::".join(spaces), found[1].replace(" ", "")
            is_specialisation = False


def written():
    spaces = {}
    for text in headers():
        for space, name in names_of(text):
            spaces.setdefault(space, set()).add(name)
    exports = "\n\n".join(
        f"export namespace {space} {{\n"
        + "\n".join(f"using {space}::{name};" for name in sorted(names))
        + f"\n}}  // namespace {space}"
        for space, names in sorted(spaces.items())
    )
    return f"""// The C++20 module. Written by tools/write_module.py from the public headers.
//
// Macros are not exported. A program that needs one, for example SLUICE_ASSERT, includes its header.
module;

#include <{ENTRANCE}>

export module sluice;

{exports}
"""


if __name__ == "__main__":
    (ROOT / MODULE).write_text(written(), encoding="utf-8")
