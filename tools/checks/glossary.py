"""docs/glossary.md has each type that the folders detail/ declare, and no other."""

import re
from pathlib import Path

from .problem import Problem, cxx_files, lines_of

PAGE = Path("docs/glossary.md")
ROW = re.compile(r"^\| `(\w+)` \| (.+) \|$")
# At the left edge, with a body: neither a forward declaration nor a class inside of another one.
DECLARED = re.compile(r"^(?:class|struct|enum class) (?:\[\[[^\]]*\]\] |alignas\(.*\) )?(\w+)\b(?!.*>::|::|;|.*[^}];$)")


def check(root):
    if not (root / PAGE).is_file():
        return []
    rows = {
        match[1]: number
        for number, line in enumerate(lines_of(root, PAGE), 1)
        if (match := ROW.match(line))
    }
    declared = {}
    for path in cxx_files(root, (Path("include/sluice"),)):
        if "detail" not in path.parts:
            continue
        for number, line in enumerate(lines_of(root, path), 1):
            if match := DECLARED.match(line):
                declared.setdefault(match[1], (path, number))
    return [
        Problem(path, number, f"{name} has no row in {PAGE}")
        for name, (path, number) in declared.items()
        if name not in rows
    ] + [
        Problem(PAGE, number, f"no folder detail/ declares {name}")
        for name, number in rows.items()
        if name not in declared
    ]
