import os
import shutil
import subprocess
import unittest

from planted_tree import PROJECT, PlantedTree

BUILDS = ("asan", "tsan", "noexceptions", "aarch64")


class CiTest(PlantedTree):
    """With a stand-in for ./dev: the file `says/VERB` has its status and, below it, what it prints."""

    def setUp(self):
        super().setUp()
        self.plant(".ci/run").unlink()
        shutil.copy(PROJECT / ".ci/run", self.root / ".ci/run")
        self.plant(
            "dev",
            "#!/bin/sh",
            'echo "$@${SLUICE_TEST_SUITES:+ by suite}" >>calls',
            'if [ -f "says/$1" ]; then tail -n +2 "says/$1"; exit "$(head -n 1 "says/$1")"; fi',
            "[ \"$1\" = check ] && { echo 'check passed'; exit 0; }",
            "echo '2 passed, 0 failed'",
        ).chmod(0o755)
        for tool in ("what_runs", "slowest", "select_tests"):
            (self.root / "tools").mkdir(exist_ok=True)
            shutil.copy(PROJECT / f"tools/{tool}.py", self.root / "tools")
        self.table("test", *BUILDS)

    def table(self, *builds):
        self.plant(
            "CONTRIBUTING.md",
            f"| tests | they show | {' | '.join(builds)} |",
            "|---|---|",
            f"| `bus` | order |{' yes |' * len(builds)}",
            f"| `log` | order |{' no |' * len(builds)}",
        )

    def says(self, verb, status, *lines):
        self.plant(f"says/{verb}", str(status), *lines)

    def run_ci(self):
        """(status, lines that were printed)"""
        run = subprocess.run([self.root / ".ci/run"], env=os.environ, capture_output=True, text=True, check=False)
        return run.returncode, run.stdout.splitlines()

    def test_runs_in_a_build_the_suites_of_its_column(self):
        self.run_ci()
        calls = (self.root / "calls").read_text().splitlines()
        self.assertIn(r"tsan ^(bus)\. by suite", calls)
        self.assertIn("test", calls)

    def test_counts_a_verb_that_dies_early_as_one_failure(self):
        self.says("ram", 1, "dev: configuring failed")
        status, lines = self.run_ci()
        self.assertEqual((status, lines[-2:]), (1, ["failed: ram", "26 passed, 1 failed"]))

    def test_counts_a_verb_that_fails_although_its_tests_pass(self):
        self.says("ram", 1, "2 passed, 0 failed")
        status, lines = self.run_ci()
        self.assertEqual((status, lines[-2:]), (1, ["failed: ram", "28 passed, 1 failed"]))

    def test_counts_a_build_without_a_column_as_one_failure_and_does_not_run_it(self):
        self.table("test", "asan", "tsan", "noexceptions")
        status, lines = self.run_ci()
        self.assertEqual((status, lines[-2:]), (1, ["failed: aarch64", "26 passed, 1 failed"]))
        self.assertNotIn("aarch64", (self.root / "calls").read_text())

    def test_says_of_a_failing_suite_the_cases_that_did_not_pass(self):
        self.says(
            "asan", 8, "1/2 Test: bus.A ...***Timeout 180 sec",
            "[ RUN      ] A.passes", "[       OK ] A.passes (1 ms)",
            "[ RUN      ] A.fails", "expected 1, got 2", "[  FAILED  ] A.fails (1 ms)",
            "[ RUN      ] A.hangs",
            "The following tests FAILED:", "\t  1 - bus.A (Timeout)", "1 passed, 1 failed",
        )
        _, lines = self.run_ci()
        end = lines[lines.index("##### ./dev asan failed") :]
        for line in ("[ RUN      ] A.fails", "expected 1, got 2", "[ RUN      ] A.hangs"):
            self.assertIn(line, end)
        self.assertNotIn("A.passes", "".join(end))

    def test_says_the_last_lines_of_a_verb_that_names_no_test(self):
        self.says("check", 1, "In dev line 3:", "SC2086 (info): Double quote", "dev: refused: scripts")
        self.says("test", 100, "E: Unable to locate package clang-16")
        _, lines = self.run_ci()
        end = lines[lines.index("##### ./dev test failed"):]
        self.assertIn("E: Unable to locate package clang-16", end)
        self.assertIn("SC2086 (info): Double quote", end)


if __name__ == "__main__":
    unittest.main()
