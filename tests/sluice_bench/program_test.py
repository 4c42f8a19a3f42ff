"""The measuring program itself: what it writes keeps to the schema and makes a page."""

import os
import subprocess

import pytest
from sluice_bench import contents, page, record

PROGRAM = os.environ.get("SLUICE_BENCH")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="SLUICE_BENCH names no measuring program")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    path = tmp_path_factory.mktemp("measured") / "queues.json"
    arguments = ["--quick", "--filter", "SpscRing|rigtorp", "--scenario", "^(spsc-8B|idle|loaded)"]
    subprocess.run(
        [PROGRAM, "queues", *arguments, "--json", path], check=True, stdout=subprocess.DEVNULL
    )
    return record.load(path)


def test_keeps_to_the_schema(measured):
    assert measured.run["quick"] is True
    assert {each.kind for each in measured.scenarios} >= {"e2e-throughput", "idle-latency"}


def test_a_quick_run_is_not_credible(measured):
    assert measured.doubts


def test_makes_a_page_with_every_subject(measured):
    text = page.render(measured)
    for subject in measured.subjects:
        assert subject["id"] in text


def test_what_is_absent_is_listed(measured):
    states = {row[0]: row[3] for row in contents.subjects(measured)}
    present = {each["id"]: each["present"] for each in measured.subjects}
    assert all(states[name] == "absent" for name in present if not present[name])
