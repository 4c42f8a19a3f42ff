import contextlib
import io
import json
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

    def test_hints_at_a_budget_that_is_far_too_high(self):
        self.dump = dump(*EMPTY, *counted("ring/push", 30.2), *counted("bus/full", 275))
        self.assertEqual(self.count(), 0)
        hints = [line for line in self.out.splitlines() if line.startswith("hint")]
        self.assertEqual(len(hints), 1)
        self.assertRegex(hints[0], r"ring/push: 30\.2 .* lower it to 31 ")

    def test_gives_no_hint_when_rounding_up_leaves_the_budget_as_it_is(self):
        self.budgets = ["ring/push 5", "bus/full 300"]
        self.dump = dump(*EMPTY, *counted("ring/push", 4.1), *counted("bus/full", 300))
        self.assertEqual(self.count(), 0)
        self.assertNotIn("hint", self.out)

    def test_a_path_without_a_budget_fails_and_says_which_line_is_missing(self):
        self.budgets.remove("bus/full 300")
        self.assertEqual(self.count(), 1)
        self.assertIn("FAILED bus/full: no budget", self.out)
        self.assertIn("'bus/full 300'", self.out)
        self.assertEqual(self.out.splitlines()[-1], "1 passed, 1 failed")

    def test_refuses_a_budget_without_a_path(self):
        self.budgets.append("ring/gone 3")
        self.assert_refused("a budget without a path: ring/gone")

    def test_refuses_a_line_that_is_no_budget(self):
        for line in ("ring/pop", "ring/pop forty", "ring/pop 0", "ring/pop -3", "ring/push 41"):
            with self.subTest(line=line):
                self.budgets = ["ring/push 40", "bus/full 300", line]
                self.assert_refused("budgets.txt:3: '")

    def test_refuses_budgets_that_are_no_text(self):
        file = self.root / "garbage.txt"
        file.write_bytes(b"\xff\n")
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(count.main(["program", "--budgets", str(file)]), 2)
        self.assertEqual(err.getvalue(), f"count: {file}: it is no text in UTF-8\n")

    def test_refuses_a_file_of_counts_that_it_cannot_read(self):
        garbage = {
            "no counts": "nothing of the kind",
            "no empty round of the kind 'each|1000'": dump(*counted("ring/push", 40)),
            "not counted: bus/full": dump(*EMPTY, *counted("ring/push", 40)),
            "no empty round of the kind 'each|0'": dump(("empty|sluice|each|0", 4),
                                                        ("ring/push|sluice|each|0", 4)),
        }
        for expected, text in garbage.items():
            with self.subTest(expected=expected):
                self.dump = text
                self.assert_refused(expected)

    def test_refuses_when_the_program_breaks(self):
        self.valgrind_ends = ("echo '==7== some words' >&2", "echo 'a push was refused' >&2",
                              "exit 1")
        self.assert_refused("did not finish", "a push was refused")

    def test_counts_the_paths_that_contain_the_word(self):
        self.assertEqual(self.count("Ring"), 0)
        self.assertEqual(self.out.splitlines()[-1], "1 passed, 0 failed")
        command = (self.root / "command").read_text(encoding="utf-8")
        self.assertTrue(command.endswith("./program ring/push\n"), command)

    def test_refuses_an_unknown_word_and_lists_what_there_is(self):
        self.assertEqual(self.count("queue"), 2)
        self.assertEqual(self.err, "count: no path contains 'queue'; there are ring/push, bus/full\n")

    def test_refuses_an_unknown_option_in_one_line(self):
        self.assertEqual(self.count("--fast"), 2)
        self.assertEqual(self.err, "count: unrecognized arguments: --fast\n")

    def test_sets_peers_beside_ours_with_the_best_first(self):
        self.dump = dump(
            *EMPTY, *counted("ring/push", 40), *counted("bus/full", 300),
            *counted("ring/push", 80, "a"), *counted("ring/push", 20, "b"),
        )
        self.assertEqual(self.count(), 0)
        self.assertRegex(self.out, r"ring/push +40\.0 +40 +2\.00  b 20\.0, a 80\.0\n")

    def test_takes_the_middle_one_of_the_rounds(self):
        rounds = [("ring/push|sluice|each|1000", total) for total in (44000, 99000, 43900)]
        self.dump = dump(*EMPTY, *rounds, *counted("bus/full", 300))
        self.assertEqual(self.count(), 0, self.out)

    def test_writes_the_figures_as_json(self):
        file = self.root / "figures.json"
        self.dump += dump(*counted("ring/push", 20, "quick"))
        self.assertEqual(self.count("ring", "--json", str(file)), 0)
        self.assertEqual(
            json.loads(file.read_text(encoding="utf-8")),
            {"ring/push": {"instructions": 40.0, "budget": 40, "peers": {"quick": 20.0}}},
        )
        self.assertEqual(self.count("--json", str(self.root / "no/such/folder")), 2)
        self.assertEqual(self.err.count("\n"), 1, self.err)

    def test_gives_the_program_an_environment_of_its_own(self):
        with mock.patch.dict("os.environ", {"GLIBC_TUNABLES": "glibc.malloc.check=3", "X": "x"}):
            self.count()
        environment = (self.root / "environment").read_text(encoding="utf-8")
        self.assertIn("GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,", environment)
        self.assertNotIn("X=x\n", environment)

    def test_names_what_is_missing(self):
        budgets = self.plant("budgets.txt", *self.budgets)
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(count.main([f"{self.root}/absent", "--budgets", str(budgets)]), 2)
            self.assertEqual(count.main([f"{self.root}/absent", "--budgets", "absent.txt"]), 2)
        self.assertEqual(
            err.getvalue().splitlines(),
            [f"count: {self.root}/absent: No such file or directory",
             "count: absent.txt: No such file or directory"],
        )

    def test_refuses_another_processor(self):
        with mock.patch.object(platform, "machine", return_value="aarch64"):
            self.assert_refused("the budgets are for x86_64; this machine is aarch64")


if __name__ == "__main__":
    unittest.main()
