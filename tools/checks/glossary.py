"""docs/glossary.md has each type that the folders detail/ and the bridges' sources define at the left edge, and no other."""

import re
from pathlib import Path

from .problem import Problem, cxx_files, lines_of

PAGE = Path("docs/glossary.md")
MODULE = re.compile(r"^## ([\w/]+)$")
ROW = re.compile(r"^\| `([\w:]+)` \| (.+) \|$")
# With a body: no forward declaration. The second group is the name of a member, as in `Store<Event>::Walk`.
DEFINED = re.compile(
    r"^(?:class|struct|enum class) (?:\[\[[^\]]*\]\] |alignas\(.*\) )?(\w+)(?:<[^{]*>(?=::))?((?:::\w+)?)\b(?!;|.*[^}];$)"
)


def module_of(path):
    """The module whose details a file holds: `log`, `bridge/nats`. None for a public header."""
    if {"detail", "src"} & set(path.parts):
        return "/".join(path.parts[:2]) if path.parts[0] == "bridge" else path.parts[2]
    return None


def rows_of(root):
    """The line of each row: (module, name) -> number."""
    module = ""
    rows = {}
    for number, line in enumerate(lines_of(root, PAGE), 1):
        if match := MODULE.match(line):
            module = match[1]
        elif match := ROW.match(line):
            rows[module, match[1]] = number
    return rows


def check(root):
    if not (root / PAGE).is_file():
        return []
    rows = rows_of(root)
    defined = {}
    for path in cxx_files(root, ("include/sluice", "bridge")):
        if module := module_of(path):
            for number, line in enumerate(lines_of(root, path), 1):
                if match := DEFINED.match(line):
                    defined.setdefault((module, match[1] + match[2]), (path, number))
    return [
        Problem(path, number, f"{module}: {name} has no row in {PAGE}")
        for (module, name), (path, number) in defined.items()
        if (module, name) not in rows
    ] + [
        Problem(PAGE, number, f"no folder detail/ of {module} defines {name}")
        for (module, name), number in rows.items()
        if (module, name) not in defined
    ]
