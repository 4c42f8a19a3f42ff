"""A module includes only modules of a lower level, and only their public headers.

The levels are those of cmake/modules.cmake, from which the link order of the targets comes too. The
same file names the modules whose headers also exist under another library's names.
"""

import re
from pathlib import Path

from .problem import Problem, cxx_files, lines_of

MODULE_LIST = Path("cmake/modules.cmake")
MODULE = re.compile(r"^\s*sluice_module\((\w+)\s+LEVEL\s+(\d+)\b")
FORWARDING = re.compile(r"^\s*sluice_module\((\w+)\s[^)]*\bFORWARDING\b")
FORWARDING_LINE = re.compile(
    r"#pragma once$|#include <|//|namespace \w+ \{$|\}|$"
    r"|using (\w+ = )?sluice::[\w<>, :]+;$|template <.*>$|#(ifndef|define|else|error|endif)\b"
    r"|#if (__cplusplus < |defined\(__APPLE__\))"
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
FENCE = re.compile(r"\batomic_(thread|signal)_fence\b")
COMMENT = re.compile(r"//.*")
HOME_OF_FENCES = "base"
# A module that is built from the parts of another one, so it may include that one's details.
BUILT_FROM = {"eventpp": "event"}


def read_levels(root):
    matches = map(MODULE.match, lines_of(root, MODULE_LIST))
    return {match[1]: int(match[2]) for match in matches if match}


def read_forwardings(root):
    """The modules that have headers under another library's names, in include/<module>/."""
    matches = map(FORWARDING.match, lines_of(root, MODULE_LIST))
    return {match[1] for match in matches if match}


def check(root):
    levels = read_levels(root)
    if not levels:
        return [Problem(MODULE_LIST, 1, "it lists no module: nothing could be checked")]
    return check_modules(root, levels) + check_forwardings(root, levels)


def check_modules(root, levels):
    problems = []
    for path in cxx_files(root, ("include/sluice",)):
        inside = path.relative_to("include/sluice")
        if len(inside.parts) == 1:
            continue  # umbrellas: headers.check_umbrellas knows what they may include
        module = inside.parts[0]
        if module not in levels:
            problems.append(Problem(path, 1, f"module '{module}' is not in {MODULE_LIST}"))
            continue
        for number, line in enumerate(lines_of(root, path), 1):
            message = judge(line, module, levels)
            if message:
                problems.append(Problem(path, number, message))
    return problems


def check_forwardings(root, levels):
    forwardings = read_forwardings(root)
    problems = []
    for path in cxx_files(root, ("include",)):
        folder = path.parts[1]
        if folder == "sluice":
            continue
        if folder not in forwardings:
            problems.append(Problem(path, 1, f"folder '{folder}' is no FORWARDING module of {MODULE_LIST}"))
            continue
        for number, line in enumerate(lines_of(root, path), 1):
            message = judge_forwarding(line, folder, levels)
            if message:
                problems.append(Problem(path, number, message))
    return problems


def judge_forwarding(line, module, levels):
    """The fault of one line of a header that forwards to `module`, or None."""
    if not FORWARDING_LINE.match(line):
        return "a forwarding header includes, and gives names to what there is, and nothing else"
    if f"<sluice/{module}/detail/" in line:
        return f"details of '{module}' are its own"
    # A forwarding header may include the module, and all that the module itself may include.
    return judge(line, module, levels)


def judge(line, module, levels):
    """The fault of one line of a header of `module`, or None."""
    if module != HOME_OF_FENCES and FENCE.search(COMMENT.sub("", line)):
        return f"a stand-alone fence outside {HOME_OF_FENCES}; ThreadSanitizer cannot see it"
    include = INCLUDE.match(line)
    if not include:
        return None
    bracket, target = include.groups()
    if bracket == '"':
        return f'write #include <sluice/...> instead of "{target}"'
    parts = target.split("/")
    if parts[0] != "sluice":
        return None
    if len(parts) == 2:
        return f"<{target}> is an umbrella; include the header that is needed"
    used = parts[1]
    if used not in levels:
        return f"<{target}> is in no module of {MODULE_LIST}"
    if used == module:
        return None
    if levels[used] >= levels[module]:
        return (
            f"'{module}' (level {levels[module]}) may not include <{target}>: "
            f"'{used}' is level {levels[used]}"
        )
    if "detail" in parts and BUILT_FROM.get(module) != used:
        return f"<{target}> belongs to '{used}' alone"
    return None
