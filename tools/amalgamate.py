"""Writes single-header editions: one file for each module, which needs no other file of Sluice.

    amalgamate.py OUTPUT [MODULE...]

OUTPUT is a folder, for example build/single. It gets sluice_queue.hpp for the module queue, and
sluice.hpp for all modules except the log, which needs spdlog.

Each header of the tree keeps an include guard of its own in every edition. So a program may include
the editions of several modules, also where both hold the same header.
"""

import re
import sys
from pathlib import Path

from checks.layering import read_levels

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>")
CONDITION = re.compile(r"^\s*#\s*(if|ifdef|ifndef|endif)\b")
# The second part of a header of the log: functions that the compiled library has, too. What it includes may need
# the first part.
FUNCTIONS = "#if defined(SLUICE_LOG_INLINE)\n"
LICENCE = """\
// Sluice {version}: {umbrella} in one file. Written by tools/amalgamate.py.
// SPDX-License-Identifier: Apache-2.0

#pragma once
"""


class Edition:
    """The text of one edition. Headers come before the headers that include them."""

    def __init__(self, root):
        self.include_dir = root / "include"
        self.headers = set()
        self.foreign = set()
        self.lines = []

    def add(self, header):
        """Adds the header after the headers that it includes, unless the edition holds it already."""
        if header in self.headers:
            return
        self.headers.add(header)
        text = (self.include_dir / header).read_text(encoding="utf-8")
        classes, _, functions = text.partition(FUNCTIONS)
        guard = "SLUICE_SINGLE_" + re.sub(r"\W", "_", header).upper()
        self.add_part(header, guard, classes)
        if functions:
            body = functions.rstrip().removesuffix("#endif")
            self.add_part(header, f"{guard}_FUNCTIONS", body, FUNCTIONS.strip(), "#endif")

    def add_part(self, header, guard, text, *around):
        """Adds a part of a header after the headers that the part includes."""
        body = []
        depth = 0
        for line in text.splitlines():
            if line.strip() == "#pragma once":
                continue
            if match := CONDITION.match(line):
                depth += -1 if match[1] == "endif" else 1
            match = INCLUDE.match(line)
            if not match:
                body.append(line)
            elif match[1].startswith("sluice/"):
                self.add(match[1])  # also under a condition: then all programs get it
            elif depth:
                body.append(line)
            elif match[1] not in self.foreign:
                self.foreign.add(match[1])
                body.append(line)
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(body)).strip("\n")
        text = "\n".join([*around[:1], text, *around[1:]])
        self.lines += ["", f"// <{header}>", f"#ifndef {guard}", f"#define {guard}", text, "#endif"]


def amalgamate(root, module):
    """The edition of a module; `sluice` is the edition of all modules without other packages."""
    cmake = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", cmake)[1]
    umbrella = f"sluice/{module}.hpp"
    edition = Edition(root)
    edition.add(umbrella)
    notice = LICENCE.format(version=version, umbrella=f"<{umbrella}>")
    return notice + "\n".join(edition.lines) + "\n"


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    output = Path(arguments[0])
    known = [*read_levels(ROOT), "sluice"]
    modules = arguments[1:] or known
    if unknown := [module for module in modules if module not in known]:
        sys.exit(f"There is no module {', '.join(unknown)}; the modules are: {', '.join(known)}")
    output.mkdir(parents=True, exist_ok=True)
    for module in modules:
        name = "sluice.hpp" if module == "sluice" else f"sluice_{module}.hpp"
        (output / name).write_text(amalgamate(ROOT, module), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
