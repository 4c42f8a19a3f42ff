"""Which constructs the core uses, and where: as docs/coding-rules.md says."""

import re
from pathlib import Path

from .problem import Problem, cxx_files, lines_of

PAGE = Path("docs/coding-rules.md")
CORE = ("base", "fixed", "memory", "wait", "queue", "bus")
ROW = re.compile(r"\| (?:`(?P<word>[\w:]+)`|(?P<macro>function-like macro))[^|]*\|[^|]*\|(?P<files>[^|]*)\|")
QUOTED = re.compile(r"`([^`]+)`")
MACRO = re.compile(r"^\s*#\s*define \w+\(")
COMMENT = re.compile(r"//.*|\"(?:[^\"\\]|\\.)*\"")
FORBIDDEN = ("goto", "va_list", "setjmp", "dynamic_cast", "typeid")


def check(root):
    if not (root / PAGE).is_file():
        return []
    allowed = deviations(lines_of(root, PAGE))
    used = {}
    for folder in CORE:
        for path in cxx_files(root, (f"include/sluice/{folder}",)):
            for number, line in enumerate(lines_of(root, path), 1):
                for construct in constructs(line, allowed):
                    used.setdefault(construct, {}).setdefault(path, number)
    problems = []
    for construct, places in used.items():
        for path, number in places.items():
            if short(path) not in allowed.get(construct, {}):
                problems.append(Problem(path, number, f"'{construct}' needs a row in {PAGE}, or another way"))
    for construct, files in allowed.items():
        named = {short(path) for path in used.get(construct, {})}
        problems += [
            Problem(PAGE, number, f"{file} has no '{construct}'")
            for file, number in files.items()
            if file not in named
        ]
    return problems


def deviations(lines):
    """{construct: {file: number of the line}}"""
    found = {}
    for number, line in enumerate(lines, 1):
        if (row := ROW.match(line)) and ".hpp" in row["files"]:
            files = found.setdefault(row["word"] or row["macro"], {})
            files.update(dict.fromkeys(QUOTED.findall(row["files"]), number))
    return found


def constructs(line, allowed):
    """The constructs that a line uses."""
    if MACRO.match(line):
        yield "function-like macro"
    code = COMMENT.sub("", line)
    for word in (*allowed, *FORBIDDEN):
        if re.search(rf"(?<![\w:]){word}(?!\w)", code):
            yield word


def short(path):
    """The name of a header on the page: without include/sluice/."""
    return path.relative_to("include/sluice").as_posix()
