#!/usr/bin/env python3
"""Compiles one case of a negative compile test: `check_case.py FILE CASE -- COMPILER FLAG...`.

FILE is written as

    #include <sluice/...>
    #if CASE == 0
    ... compiles: the positive control ...
    #elif CASE == 1
    // EXPECT: <regular expression of a line of the compiler's errors>
    ... must be refused ...
    #endif

Case 0 has to compile. Any other case has to be refused, with an error that matches its EXPECT.
`// EXPECT ONLY:` says that there is no other error either.
"""

import re
import subprocess
import sys
from pathlib import Path

CASE = re.compile(r"^#(?:el)?if CASE == (\d+)\b")
EXPECT = re.compile(r"^\s*// EXPECT( ONLY)?: (.+)$")
ERROR = re.compile(r"\berror: (.*)")


def expectations(lines):
    """The EXPECT lines of every case: {case: [(pattern, whether it is the only one), ...]}."""
    found, case = {}, None
    for line in lines:
        if match := CASE.match(line):
            case = int(match[1])
            found[case] = []
        elif (match := EXPECT.match(line)) and case is not None:
            found[case].append((match[2].strip(), match[1] is not None))
    return found


def compile_case(file, case, command):
    """(compiled?, what the compiler printed)"""
    # Not -fsyntax-only: templates are instantiated at the end of a real compilation only.
    arguments = [*command, f"-DCASE={case}", "-c", str(file), "-o", "/dev/null"]
    result = subprocess.run(arguments, capture_output=True, text=True, check=False)
    return result.returncode == 0, result.stderr


def judge(case, patterns, compiled, output):
    """What is wrong with the outcome of a case, or None."""
    if case == 0:
        if patterns:
            return "case 0 is the positive control and expects no error"
        return None if compiled else "the positive control does not compile"
    if len(patterns) != 1:
        return f"it needs one EXPECT line and has {len(patterns)}"
    if compiled:
        return "it compiles and must not"
    pattern, is_only = patterns[0]
    errors = ERROR.findall(output)
    if not any(re.search(pattern, error) for error in errors):
        return f"no error of the compiler matches: {pattern}"
    if is_only and len(errors) != 1:
        return f"there are {len(errors)} errors and must be one"
    return None


def check(file, case, command):
    patterns = expectations(file.read_text(encoding="utf-8").splitlines())
    if case not in patterns:
        return f"there is no case {case}", ""
    compiled, output = compile_case(file, case, command)
    return judge(case, patterns[case], compiled, output), output


def main(arguments):
    if len(arguments) < 4 or arguments[2] != "--":
        print(__doc__, file=sys.stderr)
        return 2
    file, case, command = Path(arguments[0]), int(arguments[1]), arguments[3:]
    message, output = check(file, case, command)
    if message:
        print(f"{file.name}, case {case}: {message}\n{output}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
