"""Commands that repeat the measurements of a file."""

import re
import shlex

from .compare import allocations_of

OURS = "^sluice"

def recipe(record):
    """Shell lines that repeat the measurement, after comments on facts that they cannot restore."""
    environment, lines = record.environment, []
    measured_on = [environment.get("cpu"), environment.get("kernel"), environment.get("compiler")]
    lines.append(f"# {record.source}: " + ", ".join(str(part) for part in measured_on))
    lines.append(f"# flags: {environment.get('flags')}")
    if environment.get("program_hash"):
        lines.append(
            f"# the program that measured had the FNV-1a hash {environment['program_hash']}"
        )
    commit = environment.get("git_commit")
    if commit:
        if environment.get("git_dirty"):
            lines.append(
                "# sources had changes that were not committed: they are not in this commit"
            )
        lines.append(f"git checkout {shlex.quote(commit)}")
    else:
        lines.append("# the file names no commit: the sources are those you have")
    lines.append(f"./dev bench {command(record)}")
    return "\n".join(lines) + "\n"


def command(record):
    run = record.run
    if "arguments" in run:
        return shlex.join(without_outputs(run["arguments"]))
    # Older files hold only the suite and the number of rounds.
    arguments = [run.get("suite") or " ".join(record.suites)]
    if run["quick"]:
        arguments.append("--quick")
    return shlex.join([*arguments, "--rounds", str(run["rounds"])])


def recount(record):
    """The arguments that count the allocations of our subjects again, one a line; none if the file has none."""
    counted = {each["scenario"] for each in record.results if allocations_of(each) and each["subject"].startswith(OURS[1:])}
    if not counted:
        return ""
    short = ["--quick", "--rounds", "1", "--messages", "20000"]
    names = f"^({'|'.join(map(re.escape, sorted(counted)))})$"
    return "\n".join([record.run["suite"], *short, "--filter", OURS, "--scenario", names, ""])


def without_outputs(arguments):
    """The arguments without output files, so that no old file is overwritten."""
    kept, skip = [], False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in ("--json", "--html"):
            skip = True
        elif not argument.startswith(("--json=", "--html=")):
            kept.append(argument)
    return kept
