"""The measuring program itself: its output keeps to the schema and makes a page."""

import os
import shlex
import signal
import subprocess
from pathlib import Path

import pytest
from sluice_bench import record, reproduce

PROGRAM = os.environ.get("SLUICE_BENCH")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="SLUICE_BENCH names no measuring program")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    path = tmp_path_factory.mktemp("measured") / "queues.json"
    terminal = path.with_suffix(".txt")
    arguments = ["--quick", "--filter", "SpscRing|rigtorp", "--scenario", "^(spsc-8B|idle|loaded)"]
    with terminal.open("w") as out:
        subprocess.run([PROGRAM, "queues", *arguments, "--json", path], check=True, stdout=out)
    loaded = record.load(path)
    loaded.terminal = terminal.read_text(encoding="utf-8")
    return loaded


def asked_for(of):
    """Scenarios and subjects, also those that a quick run had no time for."""
    scenarios = {*of.run["skipped_scenarios"], *(each.name for each in of.scenarios)}
    return scenarios, {each["subject"] for each in of.results}


# One command measures the same again, with the program that the file names.
def test_what_it_says_to_type_measures_the_same_again(measured, tmp_path):
    *_, last = reproduce.recipe(measured).splitlines()
    typed = shlex.split(last)
    assert typed[:3] == ["./dev", "bench", "queues"]
    path = tmp_path / "again.json"
    command = [PROGRAM, *typed[2:], "--messages", "20000", "--json", path]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    again = record.load(path)
    assert asked_for(again) == asked_for(measured)
    for name in ("program_hash", "git_commit", "flags"):
        assert again.environment[name] == measured.environment[name]


def text_of(path):
    """Of a process that may be gone meanwhile."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


def interrupt_a_worker(program):
    """The effect of Ctrl-C as soon as the program has started another one."""
    while program.poll() is None:
        # Only its first thread starts processes.
        for child in text_of(f"/proc/{program.pid}/task/{program.pid}/children").split():
            if "--worker" in text_of(f"/proc/{child}/cmdline"):
                os.killpg(program.pid, signal.SIGINT)
                return
    pytest.fail("it has ended without starting another process")


@pytest.mark.parametrize("mode", [["--quick"], ["--processes", "100"]])
def test_an_interrupt_leaves_a_partial_file_that_names_what_is_missing(tmp_path, mode):
    path = tmp_path / "partial.json"
    chosen = ["--scenario", "^spsc-(8|64|512)B$", "--filter", "SpscRing$", "--messages", "20000"]
    with subprocess.Popen(
        [PROGRAM, "queues", *chosen, *mode, "--json", path],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as program:
        interrupt_a_worker(program)
        complaint = program.stderr.read().decode()
    assert program.returncode == 130, complaint
    partial = record.load(path)
    assert partial.run["interrupted"] is True
    run = {each["scenario"] for each in partial.results}
    skipped = {*partial.run["skipped_scenarios"]}
    assert skipped == {"spsc-8B", "spsc-64B", "spsc-512B"} - run
    assert skipped
    # Nor are all processes started that the scenario was to have.
    processes = {each["process"] for result in partial.results for each in result["rounds"]}
    assert len(processes) < 100
