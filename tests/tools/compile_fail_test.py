import os
import unittest

from planted_tree import PlantedTree

import check_case

COMPILER = [os.environ.get("CXX", "c++"), "-std=c++17"]


class CompileFailTest(PlantedTree):
    def message(self, case, *lines):
        return check_case.check(self.plant("planted.cpp", *lines), case, COMPILER)[0]

    def test_accepts_a_control_and_an_expected_refusal(self):
        lines = (
            "#if CASE == 0",
            "int fine = 1;",
            "#elif CASE == 1",
            "// EXPECT: capacity must be [0-9]+",
            'static_assert(1 > 2, "capacity must be 2");',
            "#endif",
        )
        self.assertIsNone(self.message(0, *lines))
        self.assertIsNone(self.message(1, *lines))
        self.assertEqual(self.message(2, *lines), "there is no case 2")

    def test_refuses_a_control_that_does_not_compile(self):
        self.assertIn("positive control", self.message(0, "#if CASE == 0", "int 1;", "#endif"))

    def test_refuses_a_case_that_compiles(self):
        lines = ("#if CASE == 1", "// EXPECT: too large", "int fine = 1;", "#endif")
        self.assertEqual(self.message(1, *lines), "it compiles and must not")

    def test_refuses_another_error_than_the_expected_one(self):
        lines = ("#if CASE == 1", "// EXPECT: too large", "int 1;", "#endif")
        self.assertIn("matches: too large", self.message(1, *lines))

    def test_matches_errors_only_and_not_the_quoted_source(self):
        lines = ("#if CASE == 1", "// EXPECT: too large", "int 1;  // too large", "#endif")
        self.assertIn("matches: too large", self.message(1, *lines))

    def test_refuses_other_errors_beside_the_only_one(self):
        lines = ("#if CASE == 1", "// EXPECT ONLY: refused here")
        refusal = 'static_assert(sizeof(int) == 0, "refused here");'
        self.assertIsNone(self.message(1, *lines, refusal, "#endif"))
        self.assertEqual(
            self.message(1, *lines, refusal, "int 1;", "#endif"),
            "there are 2 errors and must be one",
        )

    def test_refuses_a_case_without_expectation(self):
        self.assertIn("one EXPECT line", self.message(1, "#if CASE == 1", "int 1;", "#endif"))

    def test_sees_errors_inside_templates(self):
        lines = (
            'template <class T> void put() { static_assert(sizeof(T) == 0, "refused here"); }',
            "#if CASE == 1",
            "// EXPECT: refused here",
            "void use() { put<int>(); }",
            "#endif",
        )
        self.assertIsNone(self.message(1, *lines))


if __name__ == "__main__":
    unittest.main()
