#!/usr/bin/env python3
"""Counts the instructions of each path for one message, and compares them with the budgets.

`count.py PROGRAM [PART] [--json FILE]` runs PROGRAM (bench/count) under callgrind: all paths, or
those whose names contain PART. Exits with 1 if a path exceeds its budget, and with 2 if an argument
or the file of budgets is wrong.
"""

import argparse
import json
import math
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BUDGETS = Path(__file__).resolve().parent.parent / "bench/count/budgets.txt"
OURS = "sluice"
EMPTY = "empty"
TOLERANCE = 0.02
FAR_BELOW = 0.10

# The program gets only this environment. The C library has copies of memcpy() for each kind of
# processor; without these features it takes the same copy everywhere. Symbols are resolved at the
# start, so that no path counts this work.
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C",
    "TZ": "UTC0",
    "LD_BIND_NOW": "1",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM,"
    "-SSSE3,-SSE4_1,-SSE4_2,-BMI2",
}


class Refused(Exception):
    """A fault that the caller can mend; the text is one line."""


def read_budgets(file):
    """{path: instructions}"""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise Refused(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Refused(f"{file}: it is no text in UTF-8") from error
    budgets = {}
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or not words[1].isdecimal() or int(words[1]) == 0:
            raise Refused(f"{file}:{number}: '{line}': a line is a path and a whole number above 0")
        if words[0] in budgets:
            raise Refused(f"{file}:{number}: '{words[0]}' has a budget already")
        budgets[words[0]] = int(words[1])
    return budgets


def read_dump(text):
    """{(path, subject): instructions per message} from the file that callgrind wrote."""
    rounds = {}
    label = None
    for line in text.splitlines():
        if trigger := re.fullmatch(r"desc: Trigger: Client Request: (.*\|.*\|.*\|.*)", line):
            label = trigger[1]
        elif label and (summary := re.fullmatch(r"summary: (\d+)", line)):
            rounds.setdefault(tuple(label.split("|")), []).append(int(summary[1]))
            label = None
    totals = {key: statistics.median(counts) for key, counts in rounds.items()}
    figures = {}
    for (path, subject, kind, messages), total in totals.items():
        empty = totals.get((EMPTY, OURS, kind, messages))
        if empty is None or not messages.isdecimal() or int(messages) == 0:
            raise Refused(f"callgrind's file holds no empty round of the kind '{kind}|{messages}'")
        if path != EMPTY:
            figures[path, subject] = round((total - empty) / int(messages), 1)
    if not figures:
        raise Refused("callgrind's file holds no counts")
    return figures


def selected(paths, part):
    wanted = [path for path in paths if part.lower() in path.lower()]
    if not wanted:
        raise Refused(f"no path contains '{part}'; there are {', '.join(paths)}")
    return wanted


def check_names(paths, budgets, file):
    gone = [path for path in budgets if path not in paths]
    if gone:
        raise Refused(f"{file}: a budget without a path: {', '.join(gone)}")


class Report:
    """The printed lines of `paths`, and the paths that passed."""

    def __init__(self, paths, figures, budgets, file):
        missing = [path for path in paths if (path, OURS) not in figures]
        if missing:
            raise Refused(f"not counted: {', '.join(missing)}")
        self.paths, self.figures, self.budgets = paths, figures, budgets
        self.file = file
        self.failures, self.hints = [], []
        for path in paths:
            self.judge(path, figures[path, OURS], budgets.get(path))

    def judge(self, path, count, budget):
        if budget is None:
            self.failures.append(
                f"FAILED {path}: no budget; it takes {count:.1f} instructions: "
                f"add the line '{path} {math.ceil(count)}' to {self.file}"
            )
        elif count > budget * (1 + TOLERANCE):
            self.failures.append(
                f"FAILED {path}: {count:.1f} instructions, {count / budget - 1:.1%} above the "
                f"budget of {budget}: mend it, or raise the budget in {self.file} and give the "
                "reason in docs/decisions"
            )
        elif math.ceil(count) < budget * (1 - FAR_BELOW):
            self.hints.append(
                f"hint: {path}: {count:.1f} instructions, {1 - count / budget:.0%} below the "
                f"budget of {budget}: lower it to {math.ceil(count)} in {self.file}"
            )

    def peers(self, path):
        """[(subject, instructions)], the best first."""
        peers = [
            (subject, count)
            for (of, subject), count in self.figures.items()
            if of == path and subject != OURS
        ]
        return sorted(peers, key=lambda peer: peer[1])

    def table(self):
        width = max(len(path) for path in self.paths)
        yield f"{'instructions per message':{width}}  {'count':>7} {'budget':>7} {'ratio':>6}  peers"
        for path in self.paths:
            count, peers = self.figures[path, OURS], self.peers(path)
            ratio = f"{count / peers[0][1]:.2f}" if peers and peers[0][1] > 0 else ""
            others = ", ".join(f"{subject} {count:.1f}" for subject, count in peers)
            budget = self.budgets.get(path, "none")
            yield f"{path:{width}}  {count:7.1f} {budget:>7} {ratio:>6}  {others}".rstrip()

    def lines(self):
        yield from self.table()
        yield "ratio: ours divided by the best peer's; below 1 ours is cheaper"
        yield from self.hints
        yield from self.failures
        yield f"{len(self.paths) - len(self.failures)} passed, {len(self.failures)} failed"

    def as_json(self):
        return {
            path: {
                "instructions": self.figures[path, OURS],
                "budget": self.budgets.get(path),
                "peers": dict(self.peers(path)),
            }
            for path in self.paths
        }


def list_paths(program):
    try:
        listing = subprocess.run([program, "--list"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise Refused(f"{program}: {error.strerror}") from error
    if listing.returncode != 0 or not listing.stdout:
        raise Refused(f"{program}: --list lists nothing")
    return listing.stdout.split()


def run_callgrind(valgrind, program, paths):
    """The text that callgrind wrote."""
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder, "counts")
        command = [
            valgrind,
            "--tool=callgrind",
            "--combine-dumps=yes",
            f"--callgrind-out-file={dump}",
            f"./{program.name}",
            *paths,
        ]
        try:
            run = subprocess.run(
                command, cwd=program.parent, env=ENVIRONMENT, capture_output=True, text=True,
                check=False,
            )
        except OSError as error:
            raise Refused(f"{valgrind}: {error.strerror}; Debian's package is valgrind") from error
        if run.returncode != 0 or not dump.is_file():
            said = [line for line in run.stderr.splitlines() if not line.startswith("==")]
            reason = said[-1] if said else f"it ended with {run.returncode}"
            raise Refused(f"{program.name} did not finish under valgrind: {reason}")
        return dump.read_text(encoding="utf-8", errors="replace")


def shown(file):
    """The path as a developer types it."""
    try:
        return file.resolve().relative_to(BUDGETS.parent.parent.parent)
    except ValueError:
        return file


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        raise Refused(message)


def run(arguments):
    parser = Arguments(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path, help="the program bench/count")
    parser.add_argument("part", nargs="?", default="", help="count only paths whose names contain this")
    parser.add_argument("--json", type=Path, help="write the counts to this file, too")
    parser.add_argument("--budgets", type=Path, default=BUDGETS, help="the file of budgets")
    parser.add_argument("--valgrind", default="valgrind", help="the command that starts valgrind")
    options = parser.parse_args(arguments)
    if platform.machine() != "x86_64":
        raise Refused(f"the budgets are for x86_64; this machine is {platform.machine()}")

    file = shown(options.budgets)
    program = options.program.resolve()
    budgets = read_budgets(options.budgets)
    every_path = list_paths(program)
    check_names(every_path, budgets, file)
    paths = selected(every_path, options.part)
    counted = run_callgrind(options.valgrind, program, [] if paths == every_path else paths)
    report = Report(paths, read_dump(counted), budgets, file)
    if options.json:
        try:
            options.json.write_text(json.dumps(report.as_json(), indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise Refused(f"{options.json}: {error.strerror}") from error
    print("\n".join(report.lines()))
    return 1 if report.failures else 0


def main(arguments):
    try:
        return run(arguments)
    except Refused as refused:
        print(f"count: {refused}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
