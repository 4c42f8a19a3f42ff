"""Rules for whole files: how long, and in which umbrella."""

import re
from pathlib import Path

from .problem import Problem, cxx_files, lines_of

TOO_LONG = 900
NAMED_PATH = re.compile(r"\b(?:tests|docs|bench|examples)/[\w/*-]+(?:\.(?:cpp|hpp|md)\b)?")
UMBRELLA_INCLUDE = re.compile(r"^#include <sluice/([\w/]+\.hpp)>$")
INCLUDE_ROOT = Path("include/sluice")
MODULE_LIST = Path("cmake/modules.cmake")
SEPARATE_MODULE = re.compile(r"^\s*sluice_module\((\w+)\s[^)]*\bPACKAGE\b", re.MULTILINE)
SEPARATE_HEADER = re.compile(r"^\s*sluice_separate_header\(\w+\s+([\w/]+\.hpp)\b", re.MULTILINE)

# It declares names of another library, so it conflicts with a header of that library.
NAMES_OF_ANOTHER = {"log/spdlog_async.hpp"}


def check_length(root):
    """No file is longer than 900 lines; most stay below 500."""
    return [
        Problem(path, length, f"{length} lines; {TOO_LONG} is the limit")
        for path in cxx_files(root)
        if (length := len(lines_of(root, path))) > TOO_LONG
    ]


def public_headers(root):
    """Every public header below include/sluice, as a path relative to that folder; no umbrellas."""
    inside = (path.relative_to(INCLUDE_ROOT) for path in cxx_files(root, (INCLUDE_ROOT,)))
    return [path for path in inside if len(path.parts) > 1 and "detail" not in path.parts]


def check_named_paths(root):
    """Each path that a comment of a header names exists. It may have a `*`."""
    problems = []
    for path in cxx_files(root, (INCLUDE_ROOT,)):
        for number, line in enumerate(lines_of(root, path), 1):
            comment = line.partition("//")[2]
            problems += [
                Problem(path, number, f"it names {named}, which does not exist")
                for named in NAMED_PATH.findall(comment)
                if not any(root.glob(named))
            ]
    return problems


def that_need_a_package(root, pattern):
    """The parts of cmake/modules.cmake, headers or modules, that need a package of another project."""
    modules = root / MODULE_LIST
    return set(pattern.findall(modules.read_text("utf-8"))) if modules.is_file() else set()


def check_umbrellas(root):
    """<sluice/<module>.hpp> includes all public headers of the module, sluice.hpp all umbrellas.

    A header that needs a package of others, or declares names of another library, is in none. A
    module that needs a package is not in sluice.hpp.
    """
    separate = that_need_a_package(root, SEPARATE_HEADER) | NAMES_OF_ANOTHER
    wanted = {}
    for header in public_headers(root):
        headers = wanted.setdefault(header.parts[0], set())
        if header.as_posix() not in separate:
            headers.add(header.as_posix())
    apart = that_need_a_package(root, SEPARATE_MODULE)
    wanted["sluice"] = {f"{module}.hpp" for module in wanted if module not in apart}

    problems = []
    for module, headers in wanted.items():
        umbrella = INCLUDE_ROOT / f"{module}.hpp"
        if not (root / umbrella).is_file():
            problems.append(Problem(umbrella, 1, "the umbrella is missing"))
            continue
        lines = lines_of(root, umbrella)
        found = [match[1] for match in map(UMBRELLA_INCLUDE.match, lines) if match]
        problems += [
            Problem(umbrella, 1, f"it lacks #include <sluice/{header}>")
            for header in sorted(headers - set(found))
        ]
        problems += [
            Problem(
                umbrella,
                lines.index(f"#include <sluice/{header}>") + 1,
                f"<sluice/{header}> does not belong here",
            )
            for header in sorted(set(found) - headers)
        ]
    return problems
