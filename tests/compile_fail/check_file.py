#!/usr/bin/env python3
"""Checks a file of code that must not compile: `check_file.py FILE -- COMPILER FLAG...`.

FILE is written as

    #include <sluice/...>
    #if CASE == 0
    ... compiles: the positive control ...
    #elif CASE == 1
    // EXPECT: <regular expression of a line of the compiler's errors>
    ... must be refused ...
    #endif

Case 0 has to compile. Every other case has to be refused, with an error that matches its EXPECT.
`// EXPECT ONLY:` says that there is no other error either.

Case 0 is compiled alone. The other cases are compiled together, each in a scope of its own, so they
may use the same names. An error belongs to the case with the line that the compiler names: as the
place of the error, or as the place that required the template with the error. A template that
several cases instantiate with the same arguments reports its errors for the first of them only: use
a type that is declared inside the case. A case that cannot be compiled with others says why, and is
compiled alone: `// ALONE: <reason>`.
"""

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

CASE = re.compile(r"^#(?:el)?if CASE == (\d+)\b")
END = re.compile(r"^#endif\b")
EXPECT = re.compile(r"^\s*// EXPECT( ONLY)?: (.+)$")
ALONE = re.compile(r"^\s*// ALONE: \S")
# A line of the compiler's output: `file:line:column: rest`.
PLACED = re.compile(r"^(?:In file included from )?(\S.*?):(\d+)(?::\d+)?:(.*)$")
DIAGNOSTIC = re.compile(r"^ (?:fatal )?(error|warning|note): (.*)$")
# Ties an error in a header to a line of the file; g++ writes it above the error, clang++ below.
REQUIRED = re.compile(
    r"required (?:from|by)|required here|requested here|in .constexpr. expansion|expansion of macro"
)
UNLIMITED = ["-fmax-errors=0", "-ftemplate-backtrace-limit=0"]


@dataclass
class Case:
    number: int
    first_line: int = 0  # the number, in the file, of the first of its lines
    lines: list = field(default_factory=list)

    def expectations(self):
        """[(pattern, whether it is the only error), ...]"""
        found = [EXPECT.match(line) for line in self.lines]
        return [(match[2].strip(), match[1] is not None) for match in found if match]

    def is_alone(self):
        return any(ALONE.match(line) for line in self.lines)

    def holds(self, line):
        return self.first_line <= line < self.first_line + len(self.lines)


@dataclass
class Error:
    message: str
    own: list  # the numbers of the lines of the file that the compiler names with the error
    required: list  # and those that required the template with the error


class CaseFile:
    """A file, cut into the text above the cases, the cases, and the text below them."""

    def __init__(self, path):
        self.path = path
        self.head, self.cases, self.tail, self.tail_line = [], {}, [], 0
        part = self.head
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if match := CASE.match(line):
                case = Case(int(match[1]), number + 1)
                self.cases[case.number] = case
                part = case.lines
            elif self.cases and part is not self.tail and END.match(line):
                part, self.tail_line = self.tail, number + 1
            else:
                part.append(line)

    def source(self, cases):
        """A unit that holds these cases; the compiler names its lines as those of the file."""
        # Text below the cases ends a function that the text above them begins.
        opening = "{{" if any(self.tail) else "namespace case_{} {{"
        parts = [(1, self.head)]
        for case in cases:
            parts.append((case.first_line - 1, [opening.format(case.number), *case.lines, "}"]))
        parts.append((self.tail_line, self.tail))
        return "".join(
            "".join(f"{line}\n" for line in (f'#line {first} "{self.path}"', *lines))
            for first, lines in parts
        )

    def compile(self, cases, command):
        """(whether it compiled, the output of the compiler)"""
        # Not -fsyntax-only: templates are instantiated at the end of a real compilation only.
        arguments = [*command, *UNLIMITED, "-x", "c++", "-S", "-", "-o", "/dev/null"]
        result = subprocess.run(
            arguments, input=self.source(cases), capture_output=True, text=True, check=False
        )
        return result.returncode == 0, result.stderr


def errors_of(output, file):
    """The errors in the compiler's output, in its order."""
    errors, required, last = [], [], None
    for line in output.splitlines():
        if not (match := PLACED.match(line)):
            continue
        here = [int(match[2])] if match[1] == str(file) else []
        diagnostic = DIAGNOSTIC.match(match[3])
        if not diagnostic:
            required += here if REQUIRED.search(match[3]) else []
        elif diagnostic[1] == "note":
            if last and REQUIRED.search(diagnostic[2]):
                last.required += here
        else:
            last = Error(diagnostic[2], here, required)
            required = []
            errors += [last] if diagnostic[1] == "error" else []
    return errors


def attribute(errors, cases):
    """({case: messages of its errors}, messages that belong to no case)"""
    found, stray, owner = {case.number: [] for case in cases}, [], None
    first_line = min(case.first_line for case in cases)
    for error in errors:
        # The innermost line first; all of them lie in the same case, or above the cases.
        lines = [*error.own, *reversed(error.required)]
        holders = [case.number for line in lines for case in cases if case.holds(line)]
        if holders:
            owner = holders[0]
        elif error.required or any(line >= first_line for line in error.own):
            owner = None
        # Otherwise the instantiation is that of the error before: the compiler names it once.
        found.get(owner, stray).append(error.message)
    return found, stray


def judge(case, errors):
    """The fault in the errors of a case that must be refused, or None."""
    expectations = case.expectations()
    if len(expectations) != 1:
        return f"it needs one EXPECT line and has {len(expectations)}"
    if not errors:
        return "it compiles and must not"
    pattern, is_only = expectations[0]
    if not any(re.search(pattern, error) for error in errors):
        return f"no error of the compiler matches: {pattern}"
    if is_only and len(errors) != 1:
        return f"there are {len(errors)} errors and must be one"
    return None


def check_control(file, command):
    """The faults of case 0: [(what, the compiler's output), ...]"""
    control = file.cases.get(0)
    if control is None:
        return [("there is no case 0: a positive control is needed", "")]
    if control.expectations():
        return [("case 0: it is the positive control and expects no error", "")]
    compiled, output = file.compile([control], command)
    return [] if compiled else [("case 0: the positive control does not compile", output)]


def check_cases(file, cases, command):
    """The same for cases that are compiled together."""
    output = file.compile(cases, command)[1]
    found, stray = attribute(errors_of(output, file.path), cases)
    problems = [(f"an error belongs to no case: {message}", output) for message in stray]
    for case in cases:
        wrong = judge(case, found[case.number])
        if wrong and len(cases) > 1 and not check_cases(file, [case], command):
            wrong += "; alone it is refused as expected, so another case disturbs it"
        problems += [(f"case {case.number}: {wrong}", output)] if wrong else []
    return problems


def check(path, command):
    """The faults of the file: [(what, the compiler's output), ...]"""
    file = CaseFile(path)
    refused = [case for number, case in file.cases.items() if number != 0]
    if not refused:
        return [("there is no case that must be refused", "")]
    together = [case for case in refused if not case.is_alone()]
    groups = [together] if together else []
    groups += [[case] for case in refused if case.is_alone()]
    problems = check_control(file, command)
    for group in groups:
        problems += check_cases(file, group, command)
    return problems


def main(arguments):
    if len(arguments) < 3 or arguments[1] != "--":
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(arguments[0])
    problems = check(path, arguments[2:])
    for message, _ in problems:
        print(f"{path.name}: {message}", file=sys.stderr)
    for output in dict.fromkeys(output for _, output in problems):
        print(output, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
