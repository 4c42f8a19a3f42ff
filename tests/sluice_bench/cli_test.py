"""The view of a person at the terminal: exit statuses, and one line for each fault."""

import json
import re
import subprocess
import sys

import pytest
import sample
from sample import noise, result
from sluice_bench.cli import main


def run_of(seed, factor=1.0, **more):
    rounds = noise(seed, 20 * factor)
    return sample.content([result("spsc", "ours/Ring", rounds, processes=10)], **more)


@pytest.fixture
def run(capsys):
    """Runs the tool: (exit status, standard output, standard error)."""

    def command(*arguments):
        status = main([str(each) for each in arguments])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return command


def test_the_gate_passes_fails_and_refuses(run, saved):
    base = saved(run_of(1), "base.json")
    gate = ["--baseline", base, "--threshold", "5%"]
    assert run("gate", saved(run_of(2), "new.json"), *gate)[0] == 0
    status, out, err = run("gate", saved(run_of(2, 1.3), "slow.json"), *gate)
    assert status == 1
    assert "**regression**" in out
    assert err == "sluice-bench: 1 slower than 5.0% allows\n"
    assert run("gate", saved(run_of(2, credible=False), "bad.json"), *gate)[0] == 2


def test_undecided_passes_with_a_warning(run, saved):
    base, new = saved(run_of(1), "base.json"), saved(run_of(2, 1.05), "new.json")
    status, out, err = run("gate", new, "--baseline", base)
    assert status == 0
    assert "| undecided |" in out
    assert "1 undecided, so not shown to have held" in err


def test_compares_in_markdown(run, saved, tmp_path):
    base, new = saved(run_of(1), "base.json"), saved(run_of(2, 2.0), "new.json")
    status, out, _ = run("compare", base, new)
    assert status == 0
    assert re.search(r"\n\| spsc, ours/Ring \| (1\.9|2\.0)\d+ \|.*\| \*\*slower\*\* \|\n", out)
    assert run("compare", base, new, "--markdown", tmp_path / "table.md")[1] == ""
    assert (tmp_path / "table.md").read_text(encoding="utf-8") == out


def test_a_file_as_markdown_begins_with_its_credibility(run, saved):
    status, out, _ = run("export", saved(sample.whole()), "--format", "markdown")
    assert status == 0
    assert out.startswith("**Credible: no** - 1 result is INVALID; 1 result is UNRELIABLE.")
    assert "| peer/Slow | INVALID |" in out
    assert "A demonstration, not a result. Rejected: ours/Ring 87.2%" in out
    assert "Absent: absent/Queue (not compiled in" in out


def test_markdown_escapes_what_would_be_a_tag(run, saved):
    _, out, _ = run("export", saved(sample.whole()), "--format", "markdown")
    assert "-DABSENT=&lt;folder&gt;" in out


# The arguments, the commit, whether it was clean, and the hash of the program.
def test_what_to_type_to_measure_again(run, saved):
    status, out, _ = run("reproduce", saved(run_of(1)))
    assert status == 0
    assert "hash 89abcdef01234567" in out
    assert out.endswith("git checkout 0123456789abcdef\n./dev bench queues --rounds 10\n")


def test_reproducing_tells_what_it_cannot_bring_back(run, saved):
    made = run_of(1)
    made["environment"]["git_dirty"] = True
    assert "not committed" in run("reproduce", saved(made))[1]
    made["environment"]["git_commit"] = None
    del made["run"]["arguments"]
    made["run"]["quick"] = True
    out = run("reproduce", saved(made))[1]
    assert "names no commit" in out
    assert out.endswith("./dev bench queues --quick --rounds 10\n")


def test_checks_files(run, saved):
    good = saved(run_of(1), "good.json")
    assert run("check", good) == (0, "", "")
    broken = run_of(1)
    del broken["results"][0]["stats"]
    status, _, err = run("check", good, saved(broken, "broken.json"))
    assert status == 2
    assert err.endswith("broken.json: results[0]: 'stats' is a required property\n")


def test_the_doctor_of_a_file(run, saved):
    made = run_of(1)
    assert run("doctor", saved(made)) == (0, "nothing found that spoils measurements\n", "")
    made["environment"]["sanitized"] = True
    status, out, _ = run("doctor", saved(made))
    assert status == 1
    assert out.startswith("spoils: the program was built with a sanitizer\n")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["teach"],
        ["report"],
        ["report", "FILE"],
        ["report", "FILE", "--html", "/nowhere/page.html"],
        ["report", "FILE", "--html", "."],
        ["report", "nothing.json", "--html", "page.html"],
        ["export", "FILE", "--format", "poetry"],
        ["export", "FILE", "--format", "csv", "--output", "/nowhere/file"],
        ["compare", "FILE"],
        ["compare", "FILE", "nothing.json"],
        ["compare", "FILE", "FILE", "--metric", "beauty"],
        ["gate", "FILE"],
        ["gate", "FILE", "--baseline", "FILE", "--threshold", "five"],
        ["gate", "FILE", "--baseline", "FILE", "--threshold", "-5%"],
        ["gate", "FILE", "--baseline", "FILE", "--threshold", "5"],
        ["doctor", "nothing.json"],
        ["reproduce", "nothing.json"],
        ["check"],
        ["check", "FILE", "--strict"],
    ],
)
def test_refuses_in_one_line(run, saved, arguments, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    file = saved(run_of(1))
    status, out, err = run(*[file if each == "FILE" else each for each in arguments])
    assert status == 2
    assert out == ""
    assert err.startswith("sluice-bench: ")
    assert err.count("\n") == 1


def test_it_is_a_program(saved):
    """Also when the reader of its output stops reading."""
    command = [sys.executable, "-m", "sluice_bench", "export", "--format", "csv", saved(run_of(1))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        program.stdout.close()
        assert program.stderr.read() == b""


def test_an_interrupt_is_no_traceback(run, saved, monkeypatch):
    def interrupt(file):
        raise KeyboardInterrupt

    monkeypatch.setattr("sluice_bench.cli.load", interrupt)
    assert run("check", saved(run_of(1))) == (130, "", "")


def test_google_benchmark_reads_every_round_as_a_repetition(run, saved):
    made = sample.whole()
    status, out, _ = run("export", "--format", "google", saved(made))
    assert status == 0
    exported = json.loads(out)
    assert exported["context"]["credible"] is False
    ring = [each for each in exported["benchmarks"] if each["run_name"] == "spsc-64B/ours/Ring"]
    rounds = [each["real_time"] for each in ring if each["run_type"] == "iteration"]
    assert rounds == made["results"][0]["rounds_ns"]
    median = next(each for each in ring if each.get("aggregate_name") == "median")
    assert median["real_time"] == made["results"][0]["stats"]["median_ns"]
    assert exported["context"]["invalid"] == ["size-8/peer/Slow: 2 messages were lost"]
    assert not [each for each in exported["benchmarks"] if "size-8/peer/Slow" in each["name"]]
    assert not [each for each in exported["benchmarks"] if "over-64B" in each["name"]]


def test_google_benchmark_is_told_nothing_that_was_not_measured(run, saved):
    made = run_of(1)
    made["environment"].update(governor=None, aslr=None, mhz=None)
    context, runs = json.loads(run("export", "--format", "google", saved(made))[1]).values()
    unknown = {"cpu_scaling_enabled", "aslr_enabled", "mhz_per_cpu", "load_avg", "caches"}
    assert unknown & {*context} == set()
    # compare.py stops at an entry that has no times.
    assert {(each["cpu_time"], each["time_unit"]) for each in runs} == {(0.0, "ns")}
    assert all(each["real_time"] > 0 for each in runs)
    assert context["cpu_time"] == "not measured: 0 everywhere"


def test_other_formats_hold_every_round(run, saved):
    file = saved(sample.whole())
    go = run("export", "--format", "go", file)[1].splitlines()
    assert sum(line.startswith("Benchmark/spsc-64B/ours/Ring ") for line in go) == 10
    assert not [line for line in go if "over-64B" in line]
    table = run("export", "--format", "csv", file)[1].splitlines()
    assert table[0] == "suite,scenario,kind,subject,round,value,unit,flags"
    assert sum(",spsc-64B,e2e-throughput,ours/Ring," in line for line in table) == 10
