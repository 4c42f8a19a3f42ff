import unittest

from planted_tree import PlantedTree

import slowest


class SlowestTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.build = self.root / "dev"
        self.plant(
            "dev/.ninja_log",
            "# ninja log v5",
            "0\t4000\t1\ttests/CMakeFiles/bus_test.dir/unit/bus/a.cpp.o\taa",
            "1000\t3500\t1\ttests/CMakeFiles/bus_test.dir/unit/bus/b.cpp.o\tbb",
            "0\t9000\t1\ttests/bus_test\tcc",
            "0\t5000\t1\ttests/CMakeFiles/log_test.dir/unit/log/a.cpp.o\taa",
            "0\t2000\t2\ttests/CMakeFiles/log_test.dir/unit/log/a.cpp.o\taa",
        )
        self.plant(
            "dev/tests.xml",
            '<testsuite><testcase name="bus.A.b" time="1.5"/><testcase name="log.A.b" time="7"/>',
            "</testsuite>",
        )

    def test_adds_up_the_units_and_the_cases_of_each_program(self):
        self.assertEqual(
            slowest.rows_of([self.build]), [("dev", "log", 2.0, 7.0), ("dev", "bus", 6.5, 1.5)]
        )

    def test_passes_over_a_build_that_left_no_log(self):
        self.assertEqual(slowest.rows_of([self.root / "tsan"]), [])


if __name__ == "__main__":
    unittest.main()
