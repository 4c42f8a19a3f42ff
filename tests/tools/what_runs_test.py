import unittest

from planted_tree import PlantedTree

import what_runs


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

    def test_gives_the_pattern_of_a_build(self):
        self.assertEqual(what_runs.pattern_of(self.page, "tsan"), r"^(queue)\.")

    def test_gives_every_test_where_every_row_says_yes(self):
        self.assertEqual(what_runs.pattern_of(self.page, "test"), ".")

    def test_refuses_a_build_that_the_table_does_not_have(self):
        with self.assertRaisesRegex(SystemExit, "no build 'msan'; it has test, tsan"):
            what_runs.pattern_of(self.page, "msan")

    def test_agrees_with_the_tests_that_are_there(self):
        self.assertEqual(list(what_runs.problems_of(self.page, self.build)), [])

    def test_finds_a_kind_of_test_without_a_row(self):
        self.write("| `queue` | order | yes | yes |")
        found = list(what_runs.problems_of(self.page, self.build))
        self.assertEqual(found, ["the tests 'bus' have no row"])

    def test_finds_a_row_without_tests_and_a_row_that_stands_twice(self):
        self.write(*["| `queue` | order | yes | yes |"] * 2, "| `bus` | | yes | no |", "| `log` | | yes | no |")
        found = list(what_runs.problems_of(self.page, self.build))
        self.assertEqual(found, ["the row 'log' has no tests", "the row 'queue' stands twice"])

    def test_refuses_a_page_without_the_table(self):
        page = self.plant("CONTRIBUTING.md", "nothing")
        with self.assertRaisesRegex(SystemExit, "no table begins with"):
            what_runs.read_table(page)


if __name__ == "__main__":
    unittest.main()
