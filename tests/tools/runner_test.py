"""Which tests run: by a pattern, in a build, of a program."""

import contextlib
import io
import re
import subprocess
import unittest

from planted_tree import PROJECT, PlantedTree

import select_tests
import what_runs


class SelectTestsTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.build = self.root / "build"
        ring = self.plant("ring_test.cpp", "TEST(Ring, Wraps) {", "TEST_F(RingEnd, Closes) {")
        typed = self.plant(
            "typed_test.cpp",
            "TYPED_TEST(Shapes, Fit) {",
            "INSTANTIATE_TYPED_TEST_SUITE_P(Small, Order, Types);",
        )
        self.plant(
            "build/test_programs.txt",
            f"queue_test queue. {ring}",
            f"conformance_test conformance. {typed}",
            f"bus_test bus. {self.plant('bus_test.cpp', 'TEST(Bus, Queues) {')}",
            "first_bus examples.first_bus ",
        )
        self.plant("build/tests/tools/CTestTestfile.cmake", 'add_test([=[tools.slowest]=] "python3")')

    def select(self, text):
        """(status, lines of output, line of complaint)"""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            with contextlib.redirect_stderr(io.StringIO()) as complaint:
                status = select_tests.main(self.build, text)
        return status, out.getvalue().splitlines(), complaint.getvalue().strip()

    def assert_targets(self, text, *targets):
        status, lines, _ = self.select(text)
        self.assertEqual((status, lines[1:]), (0, list(targets)))

    def test_finds_a_suite_in_a_header_that_a_source_includes(self):
        self.plant("parts/suite.hpp", '#include "case.hpp"')
        self.plant("parts/case.hpp", "TYPED_TEST_P(Closing, RefusesNewWork) {")
        source = self.plant("closing_test.cpp", '#include "parts/suite.hpp"')
        self.plant("build/test_programs.txt", f"closing_test closing. {source}")
        self.assert_targets("RefusesNewWork", "closing_test")

    def test_refuses_a_name_that_no_test_has_and_says_which_programs_there_are(self):
        status, _, complaint = self.select("Rong")
        self.assertEqual(status, 2)
        self.assertEqual(complaint, "dev: no test matches 'Rong'; the programs are: bus conformance examples queue")

    def test_refuses_what_ctest_reads_in_another_way(self):
        for text, part in ((r"Wrap\w", r"\w"), ("(?:Ring)", "(?"), ("Ring{1}", "{1"), ("R.*?g", "*?")):
            with self.subTest(text=text):
                status, lines, complaint = self.select(text)
                self.assertEqual((status, lines), (2, []))
                self.assertEqual(
                    complaint, f"dev: ctest knows no '{part}', as '{text}' has it; it knows ^ $ . * + ? [] | ()"
                )
        self.assert_targets(r"queue\.+Ring", "queue_test")


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

    def test_refuses_two_cases_of_one_name(self):
        self.assert_refuses(
            "queue.A/.B twice", "A/.  # TypeParam = int", "  B", "A/.  # TypeParam = long", "  B"
        )

    def test_refuses_a_program_without_tests_or_with_an_error(self):
        self.assert_refuses("lists no test", "")
        self.assert_refuses("does not list its tests (3)", "A.", "  B", status=3)


class WhatRunsTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.build = self.root / "build"
        source = self.plant("a_test.cpp", "TEST(A, B) {")
        self.plant("build/test_programs.txt", f"queue_test queue. {source}", f"bus_test bus. {source}")
        self.write("| `queue` | order | yes | yes |", "| `bus` | priorities | yes | no |")

    def write(self, *rows):
        self.page = self.plant(
            "CONTRIBUTING.md", "| tests | they show | test | tsan |", "|---|---|---|---|", *rows, "", "| x |"
        )

    def test_agrees_with_the_tests_that_are_there(self):
        self.assertEqual(list(what_runs.problems_of(self.page, self.build)), [])

    def test_finds_a_kind_of_test_without_a_row(self):
        self.write("| `queue` | order | yes | yes |")
        found = list(what_runs.problems_of(self.page, self.build))
        self.assertEqual(found, ["the tests 'bus' have no row"])


if __name__ == "__main__":
    unittest.main()
