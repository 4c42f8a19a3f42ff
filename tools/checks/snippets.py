"""Every C++ block of the README and of docs/ is part of a file that is compiled and run.

A block counts as compiled when its lines stand in a row in one file of docs/snippets or examples,
at whatever indentation.
"""

from pathlib import Path

from .problem import Problem, cxx_files, lines_of

FENCE = "```"
COMPILED = ("docs/snippets", "examples")


def check(root):
    texts = [strip(lines_of(root, path)) for path in cxx_files(root, COMPILED)]
    pages = [
        Path("README.md"),
        Path("README.zh-CN.md"),
        *sorted(path.relative_to(root) for path in (root / "docs").rglob("*.md")),
    ]
    problems = []
    for page in pages:
        if not (root / page).is_file():
            continue
        for number, block in cxx_blocks(lines_of(root, page)):
            if not any(contains(text, block) for text in texts):
                problems.append(
                    Problem(page, number, f"this block is in no file of {' or '.join(COMPILED)}")
                )
    return problems


def cxx_blocks(lines):
    """(line number, stripped lines) of every ```cpp block."""
    block, start = None, 0
    for number, line in enumerate(lines, 1):
        if block is None and line.strip() in (FENCE + "cpp", FENCE + "c++"):
            block, start = [], number
        elif block is not None and line.strip() == FENCE:
            yield start, strip(block)
            block = None
        elif block is not None:
            block.append(line)


def strip(lines):
    return [line.strip() for line in lines if line.strip()]


def contains(text, block):
    return any(text[at : at + len(block)] == block for at in range(len(text) - len(block) + 1))
