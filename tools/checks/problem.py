"""The report of a check, and the search for the files that it looks at."""

from dataclasses import dataclass
from pathlib import Path

CXX_FOLDERS = ("include", "src", "tests", "bench", "examples", "docs")
CXX_SUFFIXES = (".hpp", ".h", ".cpp")


@dataclass(frozen=True)
class Problem:
    path: Path
    line: int
    message: str
    refused: bool = True  # False: printed, but the check does not fail

    def __str__(self):
        return f"{self.path}:{self.line}: {'' if self.refused else 'note: '}{self.message}"


def cxx_files(root, folders=CXX_FOLDERS):
    """Every C++ file of the project, relative to the root, in a stable order."""
    return sorted(
        path.relative_to(root)
        for folder in folders
        for path in (root / folder).rglob("*")
        if path.suffix in CXX_SUFFIXES and path.is_file()
    )


def lines_of(root, path):
    return (root / path).read_text(encoding="utf-8").splitlines()
