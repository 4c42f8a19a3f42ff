"""The tree speaks of the product: no paths of somebody's machine, no tickets, no registry hosts,
nothing left undone.

Each word is written with a character class around one letter, so that this file does not find
itself.
"""

import re

from .problem import Problem

IGNORED_FOLDERS = {".git", "build", "__pycache__"}
# Text that others wrote.
IGNORED_FILES = {"LICENSE"}

REFUSED = [
    (re.compile(r"(?<![\w.])/(wor[k]|roo[t]|hom[e])/"), "a path of one machine"),
    (re.compile(r"\b(issu[e]|ticke[t])s? ?#?\d", re.IGNORECASE), "the number of an issue"),
    (re.compile(r"(?<![\w&])[#]\d+\b"), "the number of an issue"),
    (re.compile(r"\b(busil[y]|quietl[y]) "), "a tool of one machine"),
    (re.compile(r"\b(TOD[O]|FIXM[E]|XX[X])\b"), "something left undone"),
    (
        re.compile(r"\b((pypi|npmjs|golang|maven)\.or[g]|crates\.i[o]|deb\.debian\.or[g])\b"),
        "the host of a registry",
    ),
]


def check(root):
    problems = []
    for path in text_files(root):
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            problems += [
                Problem(path, number, f"{what}: {match[0].strip()}")
                for pattern, what in REFUSED
                if (match := pattern.search(line))
            ]
    return problems


def text_files(root):
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if relative.parts[0] in IGNORED_FOLDERS or path.parent.name in IGNORED_FOLDERS:
            continue
        if (
            path.is_file()
            and relative.name not in IGNORED_FILES
            and b"\0" not in path.read_bytes()[:1024]
        ):
            yield relative
