import os
import unittest

from planted_tree import PlantedTree

import check_file

COMPILER = [os.environ.get("CXX", "c++"), "-std=c++17"]
CONTROL = ("#if CASE == 0", "int fine = 1;")


class CompileFailTest(PlantedTree):
    def problems(self, *lines):
        file = self.plant("planted.cpp", *lines)
        return [message for message, _ in check_file.check(file, COMPILER)]

    def test_accepts_a_control_and_expected_refusals(self):
        problems = self.problems(
            *CONTROL,
            "#elif CASE == 1",
            "// EXPECT: capacity must be [0-9]+",
            'static_assert(1 > 2, "capacity must be 2");',
            "int name = 1;",
            "#elif CASE == 7",
            "// EXPECT ONLY: incompatible|cannot convert|invalid conversion",
            "int* name = 1;",
            "#endif",
        )
        self.assertEqual(problems, [])

    def test_names_the_case_that_compiles(self):
        problems = self.problems(
            *CONTROL,
            "#elif CASE == 1",
            "// EXPECT: refused",
            'static_assert(1 > 2, "refused");',
            "#elif CASE == 2",
            "// EXPECT: refused",
            "int fine = 1;",
            "#elif CASE == 3",
            "// EXPECT: refused",
            'static_assert(1 > 3, "refused");',
            "#endif",
        )
        self.assertEqual(problems, ["case 2: it compiles and must not"])

    def test_names_the_case_with_another_error_than_the_expected_one(self):
        problems = self.problems(
            *CONTROL,
            "#elif CASE == 1",
            "// EXPECT: too large",
            'static_assert(1 > 2, "too large");',
            "#elif CASE == 2",
            "// EXPECT: too large",
            'static_assert(1 > 2, "too small");',
            "#endif",
        )
        self.assertEqual(problems, ["case 2: no error of the compiler matches: too large"])

    def test_counts_the_errors_of_each_case_for_itself(self):
        lines = (
            *CONTROL,
            "#elif CASE == 1",
            "// EXPECT ONLY: refused here",
            'static_assert(sizeof(int) == 0, "refused here");',
            "#elif CASE == 2",
            "// EXPECT ONLY: refused here",
            'static_assert(sizeof(int) == 0, "refused here");',
        )
        self.assertEqual(self.problems(*lines, "#endif"), [])
        another = 'static_assert(sizeof(int) == 0, "and there");'
        self.assertEqual(
            self.problems(*lines, another, "#endif"),
            ["case 2: there are 2 errors and must be one"],
        )

if __name__ == "__main__":
    unittest.main()
