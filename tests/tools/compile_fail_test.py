import contextlib
import io
import os
import unittest

from planted_tree import PlantedTree

import check_file

COMPILER = [os.environ.get("CXX", "c++"), "-std=c++17"]
CONTROL = ("#if CASE == 0", "int fine = 1;")
TEMPLATE = 'template <class T> void put() { static_assert(sizeof(T) == 0, "refused here"); }'


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

    def test_refuses_a_file_without_control_or_without_cases(self):
        (problem,) = self.problems(
            "#if CASE == 1", "// EXPECT: refused", 'static_assert(1 > 2, "refused");', "#endif"
        )
        self.assertIn("positive control is needed", problem)
        (problem,) = self.problems(*CONTROL, "#endif")
        self.assertIn("no case that must be refused", problem)

    def test_refuses_a_control_that_does_not_compile(self):
        (problem,) = self.problems(
            "#if CASE == 0",
            "int 1;",
            "#elif CASE == 1",
            "// EXPECT: refused",
            'static_assert(1 > 2, "refused");',
            "#endif",
        )
        self.assertIn("case 0: the positive control does not compile", problem)

    def test_refuses_a_control_that_expects_an_error(self):
        (problem,) = self.problems(
            "#if CASE == 0",
            "// EXPECT: refused",
            "#elif CASE == 1",
            "// EXPECT: refused",
            'static_assert(1 > 2, "refused");',
            "#endif",
        )
        self.assertIn("case 0: it is the positive control and expects no error", problem)

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

    def test_matches_errors_only_and_not_the_quoted_source(self):
        (problem,) = self.problems(
            *CONTROL, "#elif CASE == 1", "// EXPECT: too large", "int 1;  // too large", "#endif"
        )
        self.assertIn("matches: too large", problem)

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

    def test_refuses_a_case_without_expectation_or_with_two(self):
        problems = self.problems(
            *CONTROL,
            "#elif CASE == 1",
            'static_assert(1 > 2, "refused");',
            "#elif CASE == 2",
            "// EXPECT: refused",
            "// EXPECT: refused",
            'static_assert(1 > 2, "refused");',
            "#endif",
        )
        self.assertEqual(
            problems,
            [
                "case 1: it needs one EXPECT line and has 0",
                "case 2: it needs one EXPECT line and has 2",
            ],
        )

    def test_attributes_each_error_of_an_instantiation(self):
        problems = self.problems(
            "template <class T> void putTwice() {",
            '    static_assert(sizeof(T) == 0, "first");',
            '    static_assert(sizeof(T) == 1, "second");',
            "}",
            *CONTROL,
            "#elif CASE == 1",
            "// EXPECT: second",
            "void use() { putTwice<int>(); }",
            "#elif CASE == 2",
            "// EXPECT ONLY: third",
            'static_assert(1 > 2, "third");',
            "#endif",
        )
        self.assertEqual(problems, [])

    def test_attributes_errors_inside_macros(self):
        self.plant("macro.hpp", '#define REFUSE(x) static_assert(x == 0, "refused here")')
        problems = self.problems(
            '#include "' + str(self.root / "macro.hpp") + '"',
            *CONTROL,
            "#elif CASE == 1",
            "// EXPECT ONLY: refused here",
            "REFUSE(1);",
            "#elif CASE == 2",
            "// EXPECT ONLY: refused here",
            "REFUSE(2);",
            "#endif",
        )
        self.assertEqual(problems, [])

    def test_refuses_an_error_outside_of_the_cases(self):
        (problem,) = self.problems(
            *CONTROL,
            "#elif CASE == 1",
            "// EXPECT: refused",
            'static_assert(1 > 2, "refused");',
            "}",
            "#endif",
        )
        self.assertIn("an error belongs to no case: expected declaration before", problem)

    def test_says_when_one_case_hides_the_error_of_another(self):
        lines = (
            TEMPLATE,
            *CONTROL,
            "#elif CASE == 1",
            "// EXPECT: refused here",
            "void use() { put<int>(); }",
            "#elif CASE == 2",
            "// EXPECT: refused here",
        )
        (problem,) = self.problems(*lines, "void use() { put<int>(); }", "#endif")
        self.assertIn("alone it is refused as expected", problem)
        problems = self.problems(
            *lines, "// ALONE: it needs int, as case 1 does", "void use() { put<int>(); }", "#endif"
        )
        self.assertEqual(problems, [])

    def test_names_a_case_that_compiles_alone(self):
        problems = self.problems(
            *CONTROL,
            "#elif CASE == 1",
            "// EXPECT: refused",
            "// ALONE: for this test",
            "int fine = 1;",
            "#endif",
        )
        self.assertEqual(problems, ["case 1: it compiles and must not"])

    def test_prints_what_is_wrong_and_fails(self):
        file = self.plant("planted.cpp", *CONTROL, "#endif")
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            self.assertEqual(check_file.main([str(file), "--", *COMPILER]), 1)
            self.assertEqual(check_file.main([str(file)]), 2)
        self.assertIn("planted.cpp: there is no case", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
