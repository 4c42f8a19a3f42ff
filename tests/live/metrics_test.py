"""`/metrics` as the parsers of prometheus_client read it, and promtool, where that is installed."""

import shutil
import subprocess
import urllib.request

import pytest
from peer import peer
from prometheus_client import parser
from prometheus_client.openmetrics import parser as open_parser

OPEN = "application/openmetrics-text;version=1.0.0"


def get(address, accept):
    request = urllib.request.Request(address + "metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.headers["Content-Type"], answer.read().decode("utf-8")


@pytest.fixture(scope="module")
def paused():
    with peer() as program:
        program.command("flood")
        yield program, program.command("pause")


def samples_of(families):
    return {(s.name, *sorted(s.labels.items())): s.value for family in families for s in family.samples}


def still(samples):
    return {key: value for key, value in samples.items() if "time" not in key[0] and "thread" not in key[0]}


def total(samples, name, bus="control"):
    return sum(value for key, value in samples.items() if key[0] == f"sluice_bus_{name}_total" and ("object", bus) in key)


def test_both_formats_have_the_counts_of_the_bus(paused):
    program, counts = paused
    kind, text = get(program.address, OPEN)
    assert kind.startswith("application/openmetrics-text")
    # The program is read in intervals: the last counts stand in the text soon.
    while True:
        open_samples = samples_of(open_parser.text_string_to_metric_families(text))
        done = [total(open_samples, "delivered", bus) for bus in ("control", "mapper")]
        if done == [counts["delivered"], counts["handled"]]:
            break
        _, text = get(program.address, OPEN)
    kind, text = get(program.address, "text/plain")
    assert kind.startswith("text/plain; version=0.0.4")
    classic = samples_of(parser.text_string_to_metric_families(text))
    assert total(classic, "published") == counts["published"]
    assert still(open_samples) == still(classic)
    assert ("sluice_queue_length", ("object", "frames")) in classic


def test_each_family_is_described_once(paused):
    program, _ = paused
    _, text = get(program.address, "text/plain")
    for word in ("# HELP ", "# TYPE "):
        described = [line.split()[2] for line in text.splitlines() if line.startswith(word)]
        assert len(described) == len(set(described)) >= 20


@pytest.mark.skipif(not shutil.which("promtool"), reason="Debian's package prometheus is not installed")
def test_promtool_finds_nothing(paused):
    program, _ = paused
    _, text = get(program.address, "text/plain")
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (checked.stdout + checked.stderr, checked.returncode) == ("", 0)
