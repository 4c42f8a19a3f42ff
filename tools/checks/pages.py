"""The pages name things that exist: links, files, and the types of docs/architecture.md."""

import re
from pathlib import Path

from .problem import Problem, cxx_files, lines_of

LINK = re.compile(r"\]\((?!\w+:|#)([^)#]+)")
# The end and the beginning of the lines between which the text of a link is broken.
OPEN, SHUT = re.compile(r"(?<!!)\[[^\[\]]*$"), re.compile(r"^[^\[\]]*\]\(")
STAR = re.compile(r"^\s*\\\*")
QUOTED = re.compile(r"`([^`]+)`")
# Pages whose `quoted/paths` are checked, from the root of the tree.
ENTRANCES = (Path("README.md"), Path("README.zh-CN.md"), Path("CONTRIBUTING.md"), Path("docs/architecture.md"))
FILE = re.compile(r"(?:\./)?[\w.-]+(?:/[\w.-]+)+/?$")
# The page whose tables name tests in their last column, and the folder of the tests.
GUARANTEES = Path("docs/guide/distributed.md")
TESTS = Path("bridge/nats/tests")
CASE = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)", re.MULTILINE)
ROW = re.compile(r"^\|.*\|([^|]*)\|$")
# The page whose `Types` and `Types::members` are checked.
NAMES = Path("docs/architecture.md")
TYPE = re.compile(r"([A-Z]\w+)(?:::~?(\w+))?(?:\(\))?$")
DECLARED = re.compile(r"\b(?:class|struct|using|enum class) (\w+)")


def check(root):
    below = sorted(path.relative_to(root) for path in (root / "docs").rglob("*.md"))
    pages = [page for page in dict.fromkeys((*ENTRANCES, *below)) if (root / page).is_file()]
    problems = []
    for page in pages:
        problems += check_links(root, page)
        problems += check_texts(root, page)
        problems += check_stars(root, page)
        if page.name == "README.md" and page not in ENTRANCES:
            problems += check_index(root, page)
    for page in ENTRANCES:
        if page in pages:
            problems += check_files(root, page)
    if GUARANTEES in pages:
        problems += check_tests(root, GUARANTEES)
    if NAMES in pages:
        problems += check_names(root, NAMES)
    return problems


def found(root, page, pattern):
    """(line number, match) of each match outside of code blocks."""
    is_code = False
    for number, line in enumerate(lines_of(root, page), 1):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield from ((number, match) for match in pattern.finditer(line))


def check_tests(root, page):
    """Each row of a table whose last column is `test` names tests that exist: `Suite.Case`, `Case` or `Suite`."""
    cases = set()
    for file in sorted((root / TESTS).glob("*.cpp")):
        for suite, case in CASE.findall(file.read_text(encoding="utf-8")):
            cases |= {suite, case, f"{suite}.{case}"}
    problems = []
    last, names_tests = -1, True
    for number, row in found(root, page, ROW):
        if number != last + 1:
            names_tests = row[1].strip() == "test"
        last = number
        if not names_tests:
            continue
        cell = row[1].strip()
        names = QUOTED.findall(cell)
        if not names and cell != "test" and cell.strip("-"):
            problems.append(Problem(page, number, "the row names no test"))
        problems += [
            Problem(page, number, f"there is no test {name}") for name in names if name not in cases
        ]
    return problems


def check_links(root, page):
    return [
        Problem(page, number, f"the link leads nowhere: {match[1]}")
        for number, match in found(root, page, LINK)
        if not (root / page.parent / match[1]).exists()
    ]


def check_texts(root, page):
    """The site shows no link whose text has two lines."""
    ends = {number for number, _ in found(root, page, SHUT)}
    return [Problem(page, number, "the text of a link is broken") for number, _ in found(root, page, OPEN) if number + 1 in ends]


def check_stars(root, page):
    """Doxygen takes a quoted star that begins a line for the mark of a list."""
    return [
        Problem(page, number, "a line begins with \\*, which becomes a list on the site")
        for number, _ in found(root, page, STAR)
    ]


def check_index(root, page):
    """The page of a folder has a link to each page of the folder."""
    named = {match[1] for _, match in found(root, page, LINK)}
    beside = sorted(path.name for path in (root / page).parent.glob("*.md") if path.name != page.name)
    return [Problem(page, 1, f"no link to {name}") for name in beside if name not in named]


def check_files(root, page):
    """A quoted path, alone or at the beginning of a command."""
    words = ((number, match[1].split()[0]) for number, match in found(root, page, QUOTED))
    return [
        Problem(page, number, f"there is no file or folder {word}")
        for number, word in words
        if FILE.match(word) and not word.startswith("build/") and not (root / word).exists()
    ]


def check_names(root, page):
    text = "\n".join(
        (root / path).read_text(encoding="utf-8") for path in cxx_files(root, ("include/sluice",))
    )
    declared, words = set(DECLARED.findall(text)), set(re.findall(r"\w+", text))
    return [
        Problem(page, number, f"no header declares {match[1].removesuffix('()')}")
        for number, match in found(root, page, QUOTED)
        if (name := TYPE.match(match[1]))
        and (name[1] not in declared or (name[2] and name[2] not in words))
    ]
