"""The host watcher as its user runs it: its output and its end."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

# A line of the log: date and time, level, thread, text.
EVENT = re.compile(r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9}) \w+ +(?P<thread>\d+)  (?P<text>.*)")


def run(*arguments):
    return subprocess.run([os.environ["HOSTWATCH"], *arguments], capture_output=True, text=True, check=False)


def counts(report, name):
    """The figures of a row: attempted, accepted, rejected, delivered."""
    row = re.search(rf"^{name}((?: +[0-9,]+){{4}})$", report, re.MULTILINE)
    return [int(figure.replace(",", "")) for figure in row[1].split()]


class HostwatchTest(unittest.TestCase):
    def test_a_flood_sheds_samples_and_loses_no_alarm(self):
        result = run("--flood", "--seconds", "2")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertTrue(result.stdout.startswith("Four threads sample this machine"))
        self.assertIn("\nthe accounts add up\n", result.stdout)
        rejected = {}
        for priority in ("low", "medium", "high"):
            attempted, accepted, rejected[priority], delivered = counts(result.stdout, f"all {priority}")
            self.assertEqual(attempted, accepted + rejected[priority])
            self.assertEqual(accepted, delivered)
            self.assertGreater(delivered, 0)
        self.assertGreater(rejected["low"], 0)
        self.assertEqual(rejected["high"], 0)
        waits = result.stdout.partition("\nwait ")[2].splitlines()
        self.assertEqual(waits[0].split(), ["P50", "P99", "max"])
        for line, priority in zip(waits[1:4], rejected, strict=True):
            self.assertRegex(line, rf"^{priority}( +[0-9.]+ (ns|us|ms|s)){{3}}$")

    def test_logs_what_happens_on_all_threads_in_the_order_of_time(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "meminfo").write_text(
                "MemTotal: 100 kB\nMemAvailable: 5 kB\nCached: 0 kB\n"
                "SwapTotal: 0 kB\nSwapFree: 0 kB\n",
                encoding="utf-8",
            )
            log = Path(folder, "events")
            result = run("--flood", "--seconds", "2", "--proc", folder, "--log", str(log))
            if "for want of spdlog" in result.stderr:
                self.skipTest("built without spdlog")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            lines = log.read_text(encoding="utf-8").splitlines()
        events = [EVENT.fullmatch(line) for line in lines]
        self.assertNotIn(None, events)
        times = [event["time"] for event in events]
        self.assertEqual(times, sorted(times))
        texts = [event["text"] for event in events]
        self.assertEqual(texts[0], f"started for 2 s, with a flood, reads {folder}")
        self.assertEqual(texts.count("alarm on: memory"), 1)
        self.assertGreater(sum(text.startswith("pressure ") for text in texts), 0)
        self.assertGreater(sum(f"{folder}/stat: " in text for text in texts), 0)
        self.assertEqual(texts[-1], "ended, the accounts add up")
        # This thread, and the samplers of memory and of the files that are not there.
        self.assertEqual(len({event["thread"] for event in events}), 5)

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
        self.assertEqual(result.stderr, "hostwatch: --seconds 0: must be a whole number from 1 to 86400\n")



if __name__ == "__main__":
    unittest.main()
