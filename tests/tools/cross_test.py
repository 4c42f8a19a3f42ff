import contextlib
import io
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from planted_tree import PlantedTree

import cross


class CrossTest(PlantedTree):
    """With a stand-in for the compiler."""

    def setUp(self):
        super().setUp()
        self.log = io.StringIO()
        zig = [sys.executable, self.plant("zig.py", "import sys", "sys.exit('bad_test' in ' '.join(sys.argv))")]
        with mock.patch.object(cross, "ZIG", zig):
            self.target = cross.Target("any", self.root, self.log, ThreadPoolExecutor(1), {"left_test"})

    def test_sources_that_end_in_silence_or_are_left_out_are_named(self):
        for name in ("bad", "good", "left"):
            self.plant(f"tests/unit/queue/{name}_test.cpp")
        with mock.patch.object(cross, "ROOT", self.root):
            wanted, count = self.target.sources_of("queue")
        self.assertEqual((sum(self.target.compile(source) is None for source in wanted), count), (1, 3))
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), self.assertRaises(SystemExit):
            cross.finish([self.target], 1, 1, "log.txt")
        self.assertIn("left out: left_test", out.getvalue())
        self.assertIn("what failed: bad_test.cpp", err.getvalue())
        self.assertIn("status 1", self.log.getvalue())

    def test_a_program_that_crashes_at_the_end_of_one_of_its_runs_has_failed(self):
        program = self.plant("queue_test.py", "import pathlib", "seen = pathlib.Path(__file__ + '.seen')",
                             "print('[  PASSED  ] 7 tests.')", "exit(3 if seen.exists() else seen.touch())")
        self.assertEqual(self.target.execute([sys.executable, program]), (7, 0))
        program.with_name("queue_test.py.seen").unlink()
        with mock.patch.dict("os.environ", SLUICE_TEST_RUNS="2"):
            self.assertEqual(self.target.execute([sys.executable, program]), (7, 1))
        self.assertEqual(self.target.broken, ["queue_test.py"])


if __name__ == "__main__":
    unittest.main()
