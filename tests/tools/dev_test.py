import os
import shutil
import signal
import subprocess
import unittest

from planted_tree import PROJECT, PlantedTree


class DevTest(PlantedTree):
    """With stand-ins for cmake, ctest and dpkg-query, so that nothing is built or installed."""

    def setUp(self):
        super().setUp()
        shutil.copy(PROJECT / "dev", self.root / "dev")
        self.tool("dpkg-query", "echo installed")
        self.tool("cmake", 'echo "$@ disable=${CCACHE_DISABLE:-}" >>"$CALLS"')
        self.tool("ctest", "exit 0")
        self.tool("ccache", 'echo "$CACHE"')
        self.plant("tools/select_tests.py", "print('x')")
        for part in ("bench.sh", "nightly.sh"):
            shutil.copy(PROJECT / "tools" / part, self.root / "tools")
        self.calls = self.root / "calls"
        self.cache = self.root / "cache"

    def tool(self, name, line):
        self.plant(f"bin/{name}", "#!/bin/sh", line).chmod(0o755)

    def dev(self, *arguments):
        environment = {
            **os.environ,
            "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}",
            "CALLS": str(self.calls),
            "CACHE": str(self.cache),
        }
        return subprocess.run(
            [self.root / "dev", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def assert_refuses(self, arguments, complaint):
        run = self.dev(*arguments)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertEqual(len(run.stderr.splitlines()), 1)
        self.assertIn(complaint, run.stderr)

    def test_names_an_unknown_verb_and_the_verbs_that_there_are(self):
        self.assert_refuses([""], "there is no verb ''; the verbs are")
        self.assert_refuses(["tset"], "there is no verb 'tset'; the verbs are: setup demo test")

    def test_refuses_arguments_that_a_verb_does_not_take(self):
        self.assert_refuses(["ram", "now"], "'ram' takes no arguments")
        self.assert_refuses(["test", "a", "b"], "one regular expression at most")

    def test_builds_with_the_cache_where_it_can_be_written(self):
        self.dev("test")
        self.assertIn("--build --preset dev", self.calls.read_text())
        self.assertNotIn("disable=1", self.calls.read_text())

    def test_builds_without_the_cache_where_it_does_not_work(self):
        for failing in ('[ "$1" = --get-config ] || exit 1', "exit 1"):
            with self.subTest(failing=failing):
                self.tool("ccache", 'echo "$CACHE"; ' + failing)
                self.calls.unlink(missing_ok=True)
                run = self.dev("test")
                self.assertIn("building without the compiler cache", run.stdout)
                self.assertRegex(self.calls.read_text(), r"--build --preset dev .*disable=1")

    def test_counts_no_test_that_is_disabled_as_passed(self):
        self.tool(
            "ctest",
            'while [ "$1" != --output-junit ]; do shift; done; mkdir -p "$(dirname "$2")"; '
            """echo '<testsuite tests="5" failures="1" disabled="2" skipped="1">' >"$2" """,
        )
        run = self.dev("test")
        self.assertEqual(run.stdout.splitlines()[-1], "1 passed, 1 failed, 3 skipped")

    def test_the_nightly_repeat_leaves_no_busy_program_behind(self):
        self.tool("nproc", "echo 1")
        self.tool("taskset", "exit 0")
        busy = self.root / "busy"
        self.tool("sh", f'echo $$ >"{busy}"; exec sleep 600 >/dev/null 2>&1')
        # Like a ctest that dies: it writes no report.
        self.tool("ctest", f'until [ -s "{busy}" ]; do :; done')
        self.dev("nightly", "repeat")
        with self.assertRaises(ProcessLookupError, msg="the busy program was left behind"):
            os.kill(int(busy.read_text()), signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
