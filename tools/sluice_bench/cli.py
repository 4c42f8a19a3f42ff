"""The command line: `sluice-bench <command> --help` tells each.

Exit status: 0 all well, 1 a regression or something that spoils measurements, 2 wrong arguments or
files, told in one line; of the gate also 3 for undecided results and 4 for missing ones.
"""

import argparse
import os
import re
import sys
from pathlib import Path

from . import doctor, facts
from .record import BadInput, content_of, load, of_content, one_line

FAILED = 1
USAGE = 2
UNDECIDED = 3
MISSING = 4
INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """Prints the fault in one line, without the usage."""

    def error(self, message):
        raise BadInput(f"{message}; see {self.prog} --help")


def share(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", text)
    value = float(found[1]) / (100 if found[2] else 1) if found else -1
    if not 0 <= value < 10 or (found and not found[2] and value >= 1):
        raise argparse.ArgumentTypeError(f"'{text}' is no threshold such as 5% or 0.05")
    return value


def pattern(text):
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from None


def report(options):
    from . import page

    write(options.html, page.render(load(options.file)))


def export(options):
    from . import export as formats
    from . import markdown

    if options.format == "hgrm":
        from . import hgrm

        if options.output in (None, "-"):
            raise BadInput("hgrm is a file for each result: name a folder with --output")
        hgrm.write_all(load(options.file), options.output)
        return
    writers = {**formats.FORMATS, "markdown": markdown.of_record}
    write(options.output, writers[options.format](load(options.file)))


def compare(options):
    from . import compare as comparing
    from . import markdown

    base, new = load(options.base), load(options.new)
    lines = comparing.changes(base, new, options.metric)
    notes = comparing.notes(base, new, options.metric)
    if options.html:
        from . import changes_page

        write(options.html, changes_page.of_two(base, new, lines, notes))
    if options.markdown or not options.html:
        write(options.markdown, markdown.of_comparison(base, new, lines, notes))


def trend(options):
    from . import changes_page

    if len(options.files) < 2:
        raise BadInput("a trend needs two files at least")
    write(options.html, changes_page.of_several([load(file) for file in options.files]))


def gate(options):
    from . import compare as comparing
    from . import gate as gating
    from . import google, markdown

    first, second = content_of(options.baseline), content_of(options.file)
    if google.is_google(first) != google.is_google(second):
        raise BadInput(f"only one of {options.baseline} and {options.file} is in the format of Google Benchmark")
    if google.is_google(first):
        if options.subjects.pattern:
            raise BadInput("the format of Google Benchmark has no subjects")
        if options.metric != "time":
            raise BadInput(f"the format of Google Benchmark has no metric '{options.metric}'")
        base, new = (
            google.GoogleFile(content, Path(path).name)
            for content, path in ((first, options.baseline), (second, options.file))
        )
        judgements = google.gate(base, new, options.threshold)
        differences = google.notes(base, new)
    else:
        base, new = of_content(first, options.baseline), of_content(second, options.file)
        for record in (base, new):
            record.results = [each for each in record.results if options.subjects.search(each["subject"])]
        judgements = gating.gate(base, new, options.threshold, options.metric)
        differences = comparing.notes(base, new, options.metric)
    notes = [f"metric {options.metric}, threshold {options.threshold:.1%}", *differences]
    write(options.markdown, markdown.of_comparison(base, new, judgements, notes))
    slower = sum(each.outcome == "regression" for each in judgements)
    missing = sum(each.change.problem == "missing" for each in judgements)
    undecided = sum(each.outcome == "undecided" for each in judgements) - missing
    if undecided:
        warn(f"{undecided} undecided, so not shown to have held; the table says why")
    if missing:
        warn(f"{missing} missing in {new.source}")
    if slower:
        warn(f"{slower} slower than {options.threshold:.1%} allows")
        return FAILED
    if missing and options.missing == "fail":
        return MISSING
    return UNDECIDED if undecided and options.undecided == "fail" else 0


def see_doctor(options):
    found = (
        facts.of_record(load(options.file)) if options.file else facts.of_machine(facts.Machine())
    )
    findings = doctor.examine(found)
    sys.stdout.write(doctor.describe(findings))
    return FAILED if any(finding.spoils for finding in findings) else 0


def reproduce(options):
    from . import reproduce as reproducing

    written = reproducing.recount if options.allocations else reproducing.recipe
    sys.stdout.write(written(load(options.file)))


def evidence(options):
    from . import evidence as evidences

    for page in evidences.write(options.root, options.root / "docs/evidence"):
        print(page)


def check(options):
    for file in options.files:
        load(file)


def warn(text):
    print(f"sluice-bench: {text}", file=sys.stderr)


def write(path, text):
    """Writes to a file, or to the terminal if no file is named."""
    if path is None or path == "-":
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None


def parser():
    top = Parser(prog="sluice-bench", description=__doc__.splitlines()[0])
    commands = top.add_subparsers(dest="command", required=True, metavar="command")

    def add(name, function, text):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(function=function)
        return command

    metrics = ["time", "p99", "instructions", "cycles", "cache_misses", "allocations"]

    command = add("report", report, "one self-contained HTML page")
    command.add_argument("file", metavar="FILE.json")
    command.add_argument("--html", required=True, metavar="PAGE.html")

    command = add("export", export, "write the results in the format of another tool")
    command.add_argument("file", metavar="FILE.json")
    command.add_argument("--format", required=True, choices=["google", "go", "csv", "markdown", "hgrm"])
    command.add_argument("--output", metavar="FILE", help="the file to write; for hgrm, a folder")

    command = add("compare", compare, "compare two files, result by result")
    command.add_argument("base", metavar="BASE.json")
    command.add_argument("new", metavar="NEW.json")
    command.add_argument("--metric", choices=metrics, default="time")
    command.add_argument("--markdown", metavar="FILE", help="write to this file instead of printing")

    command.add_argument("--html", metavar="PAGE.html", help="write a page instead of printing")

    command = add("trend", trend, "write a page: how the results changed from file to file")
    command.add_argument("files", nargs="+", metavar="FILE.json", help="the oldest first")
    command.add_argument("--html", required=True, metavar="PAGE.html")

    command = add("gate", gate, "fail if a result is slower than the baseline allows")
    command.add_argument("file", metavar="NEW.json")
    command.add_argument("--baseline", required=True, metavar="BASE.json")
    command.add_argument("--threshold", type=share, default=0.05, metavar="PERCENT")
    strict = "fail" if os.environ.get("CI", "") not in ("", "0", "false") else "pass"
    for what in ("undecided", "missing"):
        command.add_argument(
            f"--{what}", choices=["pass", "fail"], default=strict, help="fail is the default if CI is set"
        )
    command.add_argument("--subjects", type=pattern, default="", metavar="REGEX", help="judge only these")
    command.add_argument("--metric", choices=metrics, default="time")
    command.add_argument("--markdown", metavar="FILE", help="write to this file instead of printing")

    command = add("doctor", see_doctor, "show what disturbs measurements here, or disturbed those of a file")
    command.add_argument("file", nargs="?", metavar="FILE.json")

    command = add("reproduce", reproduce, "print the commands that measure the same again")
    command.add_argument("file", metavar="FILE.json")
    command.add_argument(
        "--allocations", action="store_true", help="print arguments that count the allocations of ours again"
    )

    command = add("evidence", evidence, "write the tables of the pages from docs/evidence")
    command.add_argument("--root", type=Path, default=Path("."), metavar="FOLDER")

    command = add("check", check, "check whether files match the schema")
    command.add_argument("files", nargs="+", metavar="FILE.json")
    return top


def main(arguments=None):
    try:
        options = parser().parse_args(arguments)
        return options.function(options) or 0
    except BadInput as problem:
        warn(one_line(str(problem)))
        return USAGE
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
