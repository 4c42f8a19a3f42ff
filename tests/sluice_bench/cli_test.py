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


def test_the_gate_can_fail_for_what_is_undecided_or_missing(run, saved, monkeypatch):
    def of_one_process(subjects):
        return sample.content([result("spsc", each, noise(3, 200), processes=1) for each in subjects])

    base = saved(sample.content([result("spsc", "ours/Ring", noise(1, 20), processes=1)]), "base.json")
    slow = saved(of_one_process(["ours/Ring"]), "ten_times_slower.json")
    arguments = ["gate", slow, "--baseline", base]
    monkeypatch.delenv("CI", raising=False)
    assert run(*arguments)[0] == 0
    assert run(*arguments, "--undecided", "fail")[0] == 3
    monkeypatch.setenv("CI", "true")
    assert run(*arguments)[0] == 3
    assert run(*arguments, "--undecided", "pass")[0] == 0
    both = saved(of_one_process(["ours/Ring", "boost/queue"]), "both.json")
    status, _, err = run("gate", slow, "--baseline", both, "--undecided", "pass")
    assert status == 4
    assert "1 missing in ten_times_slower.json" in err


@pytest.mark.parametrize("allocations, status", [(0.0, 0), (0.004, 0), (0.2, 1), (None, 2)])
def test_the_gate_of_allocations_asks_for_no_times_and_judges_these_subjects(run, saved, allocations, status):
    named = ("spsc", "ours/Ring"), ("spsc", "peer/Queue"), ("idle", "ours/Ring")
    base, quick = sample.content([result(*each, noise(3, 20)) for each in named]), run_of(2, 9.0, credible=False)
    base["results"][2]["per_message"] = {}
    quick["results"][0]["per_message"] = {"allocations": allocations}
    files = saved(quick, "new.json"), "--baseline", saved(base, "base.json"), "--metric", "allocations"
    assert run("gate", *files, "--subjects", "^ours", "--undecided", "fail", "--missing", "fail")[0] == status


def google(times, median=None, unit="ns", context=None, **more):
    """A file of Google Benchmark with one benchmark: repetitions, and an aggregate if there is a median."""
    run = {"run_name": "BM_push/64", "time_unit": unit, "cpu_time": 1.0}
    runs = [{**run, "name": "BM_push/64", "run_type": "iteration", "real_time": each, **more} for each in times]
    if median:
        aggregate = {"name": "BM_push/64_median", "run_type": "aggregate", "aggregate_name": "median"}
        runs.append({**run, **aggregate, "real_time": median})
    return {"context": context or {"num_cpus": 2}, "benchmarks": runs}


ROUNDS = [10.0, 10.1, 10.2, 9.9, 9.8, 10.3]
SLOWER = [each * 1.3 for each in ROUNDS]


@pytest.mark.parametrize(
    "new, status, word",
    [
        (google(ROUNDS), 0, "pass"),
        (google([each / 1000 for each in ROUNDS], unit="us"), 0, "pass"),
        (google(SLOWER), 1, "**regression**"),
        (google(SLOWER, median=13.0), 1, "**regression**"),
        (google([], median=13.0), 3, "1 repetition"),
        (google([13.0]), 3, "1 repetition"),
        (google(SLOWER, error_occurred=True), 1, "regression (invalid)"),
        ({"context": {"num_cpus": 2}, "benchmarks": [{"name": "BM_other", "real_time": 1.0}]}, 2, ""),
    ],
)
def test_the_gate_reads_files_of_google_benchmark(run, saved, new, status, word):
    base, fresh = saved(google(ROUNDS), "base.json"), saved(new, "new.json")
    found, out, _ = run("gate", fresh, "--baseline", base, "--undecided", "fail")
    assert found == status
    assert word.replace("1 repetition", "no median, and") in out


def test_the_gate_takes_the_median_if_repetitions_are_missing(run, saved):
    base = saved(google([], median=10.0), "base.json")
    assert run("gate", saved(google([], median=10.4), "new.json"), "--baseline", base)[0] == 0
    assert run("gate", saved(google([], median=10.6), "new.json"), "--baseline", base)[0] == 1


@pytest.mark.parametrize(
    "nonsense",
    [
        *[google([each]) for each in (0.0, "10.0", True, 10**400, 5e-324)],
        *[google([1.0], unit=each) for each in ("weeks", ["ns"], None)],
        *[google([1.0], run_name=each) for each in (["BM"], "two\nlines", None)],
        *[google([1.0], context={"num_cpus": 2, "credible": each}) for each in (False, "false", None)],
        google([1.0], context={"num_cpus": 64, "credible": False, "not_credible_because": "a\nb"}),
        google([1.0], context={"num_cpus": 64}),
        google([1e300], unit="s"),
        google([1.0], run_type="Aggregate"),
        google([1.0], run_type="aggregate", aggregate_name="mean"),
        {"context": {}, "benchmarks": google([], 10.0)["benchmarks"] + google([], 1.0)["benchmarks"]},
        *[{"context": {}, "benchmarks": each} for each in ([], [7])],
        {"benchmarks": 7},
        run_of(1),
    ],
)
def test_the_gate_refuses_nonsense_beside_google_benchmark(run, saved, nonsense):
    base, new = saved(google([1.0]), "base.json"), saved(nonsense, "new.json")
    status, out, err = run("gate", new, "--baseline", base)
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_compares_in_markdown(run, saved, tmp_path):
    base, new = saved(run_of(1), "base.json"), saved(run_of(2, 2.0), "new.json")
    status, out, _ = run("compare", base, new)
    assert status == 0
    assert re.search(r"\n\| spsc, ours/Ring \| (1\.9|2\.0)\d+ \|.*\| \*\*slower\*\* \|\n", out)
    assert run("compare", base, new, "--markdown", tmp_path / "table.md")[1] == ""
    assert (tmp_path / "table.md").read_text(encoding="utf-8") == out


def test_the_scenarios_to_count_again_are_named_to_the_letter(run, saved):
    made = sample.content([result(each, "sluice/Ring", noise(1, 20)) for each in ("8+8B", "2x2")])
    _, out, _ = run("reproduce", saved(made), "--allocations")
    named = [bool(re.search(out.splitlines()[-1], each)) for each in ("8+8B", "2x2", "88B", "12x2")]
    assert named == [True, True, False, False]


def test_checks_files(run, saved):
    good = saved(run_of(1), "good.json")
    assert run("check", good) == (0, "", "")
    broken = run_of(1)
    del broken["results"][0]["stats"]
    status, _, err = run("check", good, saved(broken, "broken.json"))
    assert status == 2
    assert err.endswith("broken.json: results[0]: 'stats' is a required property\n")


NOWHERE = ["report FILE --html /nowhere/page.html", "export FILE --format csv --output /nowhere/file"]
BAD_WORDS = ["", "teach", "report", "check", "check FILE --strict", "export FILE --format poetry", "gate FILE"]
BAD_FILES = ["report nothing.json --html page.html", "compare FILE nothing.json", "doctor nothing.json"]
BAD_OPTIONS = ["--metric beauty", "--threshold -5%", "--subjects ("]


@pytest.mark.parametrize(
    "line", [*NOWHERE, *BAD_WORDS, *BAD_FILES, *(f"gate FILE --baseline FILE {each}" for each in BAD_OPTIONS)]
)
def test_refuses_in_one_line(run, saved, line, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    file = saved(run_of(1))
    status, out, err = run(*[file if each == "FILE" else each for each in line.split()])
    assert status == 2
    assert out == ""
    assert err.startswith("sluice-bench: ")
    assert err.count("\n") == 1
