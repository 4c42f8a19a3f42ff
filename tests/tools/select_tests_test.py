import contextlib
import io
import unittest

from planted_tree import PlantedTree

import select_tests


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

    def test_finds_the_program_by_its_suite_and_its_case(self):
        self.assert_targets("RingEnd", "queue_test")
        self.assert_targets("Wraps$", "queue_test")

    def test_takes_a_programs_own_name_for_all_of_its_tests_and_no_other(self):
        status, lines, _ = self.select("queue")
        self.assertEqual((status, lines), (0, [r"^queue\.", "queue_test"]))

    def test_reads_a_pattern_over_several_programs(self):
        self.assert_targets(r"^(queue|conformance)\.", "conformance_test", "queue_test")

    def test_finds_instances_of_suites_for_types(self):
        self.assert_targets("Small/Order", "conformance_test")

    def test_finds_a_suite_in_a_header_that_a_source_includes(self):
        self.plant("parts/suite.hpp", '#include "case.hpp"')
        self.plant("parts/case.hpp", "TYPED_TEST_P(Closing, RefusesNewWork) {")
        source = self.plant("closing_test.cpp", '#include "parts/suite.hpp"')
        self.plant("build/test_programs.txt", f"closing_test closing. {source}")
        self.assert_targets("RefusesNewWork", "closing_test")

    def test_finds_the_names_of_types_once_a_program_has_been_built(self):
        self.assertEqual(self.select("Shapes/Round")[0], 2)
        self.plant(
            "build/tests/conformance_test.tests.cmake",
            "add_test([==[conformance.Shapes/Round.Fit]==]  [==[program]==])",
        )
        self.assert_targets("Shapes/Round", "conformance_test")

    def test_finds_a_case_that_was_added_after_the_last_build(self):
        self.plant(
            "build/tests/queue_test.tests.cmake", "add_test([==[queue.Ring.Wraps]==] [==[program]==])"
        )
        self.assert_targets("RingEnd.Closes", "queue_test")

    def test_finds_examples_and_builds_nothing_for_tests_without_a_program(self):
        self.assert_targets("examples", "first_bus")
        self.assert_targets("tools.slowest")

    def test_refuses_a_name_that_no_test_has_and_says_which_programs_there_are(self):
        status, _, complaint = self.select("Rong")
        self.assertEqual(status, 2)
        self.assertEqual(
            complaint,
            "dev: no test matches 'Rong'; the programs are: bus conformance examples queue",
        )

    def test_refuses_what_ctest_reads_in_another_way(self):
        for text, part in ((r"Wrap\w", r"\w"), ("(?:Ring)", "(?"), ("Ring{1}", "{1"), ("R.*?g", "*?")):
            with self.subTest(text=text):
                status, lines, complaint = self.select(text)
                self.assertEqual((status, lines), (2, []))
                self.assertEqual(
                    complaint, f"dev: ctest knows no '{part}', as '{text}' has it; it knows ^ $ . * + ? [] | ()"
                )
        self.assert_targets(r"queue\.+Ring", "queue_test")

    def test_refuses_what_is_no_regular_expression(self):
        status, _, complaint = self.select("(Ring")
        self.assertEqual(status, 2)
        self.assertIn("'(Ring' is no regular expression", complaint)


if __name__ == "__main__":
    unittest.main()
