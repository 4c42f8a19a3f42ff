"""docs/glossary.md has each type that the folders detail/, the namespaces detail of other headers, and the bridges'
sources define at the left edge, and no other."""

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
DETAIL = re.compile(r"^namespace (?:\w+::)*detail \{$")
END_OF_DETAIL = re.compile(r"^\}  // namespace (?:\w+::)*detail$")


def module_of(path):
    """The module of a file: `log`, `bridge/nats`."""
    return "/".join(path.parts[:2]) if path.parts[0] == "bridge" else path.parts[2]


def details_of(path, lines):
    """The types that a file defines for the library itself: (name, line)."""
    if "tests" in path.parts:
        return
    is_detail = is_whole = bool({"detail", "src"} & set(path.parts))
    for number, line in enumerate(lines, 1):
        if DETAIL.match(line):
            is_detail = True
        elif END_OF_DETAIL.match(line):
            is_detail = is_whole
        elif is_detail and (match := DEFINED.match(line)):
            yield match[1] + match[2], number


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
        for name, number in details_of(path, lines_of(root, path)):
            defined.setdefault((module_of(path), name), (path, number))
    return [
        Problem(path, number, f"{module}: {name} has no row in {PAGE}")
        for (module, name), (path, number) in defined.items()
        if (module, name) not in rows
    ] + [
        Problem(PAGE, number, f"nothing in the details of {module} defines {name}")
        for (module, name), number in rows.items()
        if (module, name) not in defined
    ]
