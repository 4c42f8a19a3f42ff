"""The host watcher as its user runs it: what it prints and how it ends."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path


def run(*arguments):
    return subprocess.run(
        [os.environ["HOSTWATCH"], *arguments], capture_output=True, text=True, check=False
    )


class HostwatchTest(unittest.TestCase):
    def test_accounts_add_up_when_the_queues_overflow(self):
        result = run("--flood", "--seconds", "1")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("\nthe accounts add up\n", result.stdout)

    def test_names_the_files_that_are_missing_and_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "meminfo").write_text("nothing of the kind\n", encoding="utf-8")
            result = run("--proc", folder, "--seconds", "1")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        for name in ("stat", "meminfo", "diskstats", "net/dev"):
            self.assertIn(f"{folder}/{name}", result.stderr)
        self.assertIn("\nthe accounts add up\n", result.stdout)

    def test_refuses_a_bad_argument_in_one_line(self):
        result = run("--seconds", "0")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertEqual(
            result.stderr, "hostwatch: --seconds 0: must be a whole number from 1 to 86400\n"
        )

    def test_fails_when_nobody_can_read_its_output(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run(
                [os.environ["HOSTWATCH"], "--seconds", "1"],
                stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            )
        self.assertEqual(result.returncode, 1)
        self.assertIn("the output cannot be written", result.stderr)


if __name__ == "__main__":
    unittest.main()
