import re
import subprocess
import unittest

from planted_tree import PROJECT, PlantedTree


class DiscoverTestsTest(PlantedTree):
    """With a stand-in for a GoogleTest program that prints a list."""

    def discover(self, *listing, status=0):
        program = self.plant(
            "program", "#!/bin/sh", "cat <<'END'", *listing, "END", f"exit {status}"
        )
        program.chmod(0o755)
        self.output = self.root / "out.tests.cmake"
        command = [
            "cmake",
            f"-DEXECUTABLE={program}",
            "-DPREFIX=queue",
            "-DPROPERTIES=TIMEOUT 5",
            f"-DOUTPUT={self.output}",
            "-P",
            str(PROJECT / "cmake/discover_tests.cmake"),
        ]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def commands(self, *, suites=False):
        """The names of the tests, and the filter that each gives to the program."""
        cases, _, of_suites = self.output.read_text(encoding="utf-8").partition("else()")
        command = r"^add_test\(\[==\[(.+?)\]==\].*\[==\[--gtest_filter=(.*?)\]==\]"
        return re.findall(command, of_suites if suites else cases, re.MULTILINE)

    def assert_refuses(self, part, *listing, status=0):
        result = self.discover(*listing, status=status)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(part, " ".join(result.stderr.split()))

    def test_lists_plain_typed_and_parameterised_cases(self):
        result = self.discover(
            "RingTest.",
            "  Wraps",
            "Conformance/Spsc.  # TypeParam = sluice::SpscRing<int, 8, Traits[2]>; const",
            "  KeepsOrder",
            "Sizes/SizeTest.",
            "  Fits/0  # GetParam() = [1; 2]",
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(
            self.commands(),
            [
                ("queue.RingTest.Wraps", "RingTest.Wraps"),
                ("queue.Conformance/Spsc.KeepsOrder", "Conformance/Spsc.KeepsOrder"),
                ("queue.Sizes/SizeTest.Fits/0", "Sizes/SizeTest.Fits/0"),
            ],
        )

    def test_lists_suites_as_well(self):
        result = self.discover("RingTest.", "  Wraps", "  Fills", "Conformance/Spsc.", "  KeepsOrder")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(
            self.commands(suites=True),
            [
                ("queue.RingTest", "RingTest.*"),
                ("queue.Conformance/Spsc", "Conformance/Spsc.*"),
            ],
        )

    def test_refuses_two_cases_of_one_name(self):
        self.assert_refuses(
            "queue.A/.B twice", "A/.  # TypeParam = int", "  B", "A/.  # TypeParam = long", "  B"
        )

    def test_refuses_a_disabled_case(self):
        self.assert_refuses("queue.A.DISABLED_B would never run", "A.", "  DISABLED_B")

    def test_refuses_what_it_does_not_understand(self):
        self.assert_refuses("not understood: Suite/Ring<int>.", "Suite/Ring<int>.", "  Case")

    def test_refuses_a_program_without_tests_or_with_an_error(self):
        self.assert_refuses("lists no test", "")
        self.assert_refuses("does not list its tests (3)", "A.", "  B", status=3)


if __name__ == "__main__":
    unittest.main()
