import contextlib
import io
import platform
import unittest
from unittest import mock

from planted_tree import PlantedTree

import count


def dump(*rounds):
    """The output of callgrind: (label, instructions) of each dump."""
    parts = ["version: 1", "creator: callgrind-3.19.0", "pid: 7", ""]
    for number, (label, total) in enumerate(rounds, 1):
        parts += [
            f"part: {number}",
            f"desc: Trigger: Client Request: {label}",
            "events: Ir",
            f"summary: {total}",
            "",
            "fn=(1) main",
            f"0 {total}",
            f"totals: {total}",
            "",
        ]
    return "\n".join([*parts, "desc: Trigger: Program termination", "summary: 5", ""])


EMPTY = [("empty|sluice|each|1000", 4000)] * 3 + [("empty|sluice|whole|1000", 10)] * 3


def counted(path, instructions, subject="sluice"):
    return [(f"{path}|{subject}|each|1000", 4000 + round(1000 * instructions))] * 3


class CountTest(PlantedTree):
    """With stand-ins for the program and for valgrind."""

    def setUp(self):
        super().setUp()
        self.listed = ["ring/push", "bus/full"]
        self.dump = dump(*EMPTY, *counted("ring/push", 40), *counted("bus/full", 300))
        self.budgets = ["# a comment", "", "ring/push 40  # and one more", "bus/full 300"]
        machine = mock.patch.object(platform, "machine", return_value="x86_64")
        machine.start()
        self.addCleanup(machine.stop)

    def count(self, *arguments):
        program = self.plant("program", "#!/bin/sh", f"printf '%s\\n' {' '.join(self.listed)}")
        program.chmod(0o755)
        self.plant("dump", self.dump)
        # It keeps its command line, and its environment.
        valgrind = self.plant(
            "valgrind", "#!/bin/sh", f"echo \"$@\" > {self.root}/command",
            f"env > {self.root}/environment",
            'for word; do case $word in --callgrind-out-file=*) '
            f'cp {self.root}/dump "${{word#*=}}";; esac; done', *self.valgrind_ends,
        )
        valgrind.chmod(0o755)
        budgets = self.plant("budgets.txt", *self.budgets)
        command = [str(program), *arguments, "--budgets", str(budgets), "--valgrind", str(valgrind)]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = count.main(command)
        self.out, self.err = out.getvalue(), err.getvalue()
        return status

    valgrind_ends = ()

    def assert_refused(self, *parts):
        """One line that contains these parts."""
        self.assertEqual(self.count(), 2, self.out)
        self.assertEqual(self.out, "")
        self.assertEqual(self.err.count("\n"), 1, self.err)
        for part in parts:
            self.assertIn(part, self.err)

    def test_passes_at_1_9_percent_above_and_fails_at_2_1(self):
        self.dump = dump(*EMPTY, *counted("ring/push", 40), *counted("bus/full", 305.7))
        self.assertEqual(self.count(), 0, self.out)
        self.dump = dump(*EMPTY, *counted("ring/push", 40), *counted("bus/full", 306.3))
        self.assertEqual(self.count(), 1, self.out)
        failed = [line for line in self.out.splitlines() if line.startswith("FAILED")]
        self.assertEqual(len(failed), 1)
        self.assertRegex(failed[0], r"bus/full: 306\.3 .* 2\.1% above .* 300: mend it, or raise")
        self.assertEqual(self.out.splitlines()[-1], "1 passed, 1 failed")

    def test_a_path_without_a_budget_fails_and_says_which_line_is_missing(self):
        self.budgets.remove("bus/full 300")
        self.assertEqual(self.count(), 1)
        self.assertIn("FAILED bus/full: no budget", self.out)
        self.assertIn("'bus/full 300'", self.out)
        self.assertEqual(self.out.splitlines()[-1], "1 passed, 1 failed")

    def test_refuses_when_the_program_breaks(self):
        self.valgrind_ends = ("echo '==7== some words' >&2", "echo 'a push was refused' >&2",
                              "exit 1")
        self.assert_refused("did not finish", "a push was refused")



if __name__ == "__main__":
    unittest.main()
