"""A helper that needs a lock takes the guard as a parameter. A comment cannot ask for the lock."""

import re

from .problem import Problem, cxx_files, lines_of

FOLDERS = ("include", "src", "bridge", "bench", "examples")
ASKED_FOR = re.compile(
    r"///.*\b((under|with) (the|its|the \w+'s) (lock|mutex|claim)|caller (has|holds) the)\b", re.IGNORECASE
)
ASKED_BY_A_CLASS = re.compile(r"\b(changed|called|used) (under|with) (its|the \w+'s) ", re.IGNORECASE)
NAMED = re.compile(r"\b\w+Locked\(")
MESSAGE = "a helper that needs a lock takes the guard as a parameter: see CONTRIBUTING.md"


def check(root):
    return [
        Problem(path, number, MESSAGE)
        for path in cxx_files(root, FOLDERS)
        for number, line in helpers(lines_of(root, path))
        if ASKED_FOR.search(line) or NAMED.search(line)
    ]


def helpers(lines):
    """Numbered lines without the comments of fields, and of classes that do not ask for a lock."""
    comment = []
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("///"):
            comment.append((number, line))
            continue
        if not re.match(r"\s*(template|class|struct|\[\[)", line) and "(" in line:
            yield from comment
            yield number, line.partition("//")[0]
        elif line.lstrip().startswith("template"):
            continue  # the comment belongs to the line that follows
        elif re.match(r"\s*(class|struct)", line):
            yield from (entry for entry in comment if ASKED_BY_A_CLASS.search(entry[1]))
        comment = []
