"""The view of a person at the terminal: exit statuses, and one line for each fault."""

import re

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


# The arguments, the commit, whether it was clean, and the hash of the program.
def test_what_to_type_to_measure_again(run, saved):
    status, out, _ = run("reproduce", saved(run_of(1)))
    assert status == 0
    assert "hash 89abcdef01234567" in out
    assert out.endswith("git checkout 0123456789abcdef\n./dev bench queues --rounds 10\n")


def test_checks_files(run, saved):
    good = saved(run_of(1), "good.json")
    assert run("check", good) == (0, "", "")
    broken = run_of(1)
    del broken["results"][0]["stats"]
    status, _, err = run("check", good, saved(broken, "broken.json"))
    assert status == 2
    assert err.endswith("broken.json: results[0]: 'stats' is a required property\n")


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
