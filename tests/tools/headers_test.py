import unittest

from planted_tree import PlantedTree

from checks import headers


class LengthTest(PlantedTree):
    def test_refuses_more_than_900_lines(self):
        self.plant("include/sluice/base/fits.hpp", *["//"] * 900)
        self.plant("include/sluice/base/long.hpp", *["//"] * 901)
        self.plant("tests/unit/base/long_test.cpp", *["//"] * 901)
        self.assert_finds(headers.check_length, "base/long.hpp:901: 901 lines", "long_test.cpp:901")


class NamedPathTest(PlantedTree):
    def test_refuses_a_path_that_does_not_exist(self):
        self.plant("include/sluice/base/cell.hpp", "/// Tests: tests/unit/base/cell_test.cpp.")
        self.assert_finds(
            headers.check_named_paths, "it names tests/unit/base/cell_test.cpp, which does not"
        )

    def test_accepts_files_folders_and_stars(self):
        self.plant(
            "include/sluice/base/cell.hpp",
            "/// Tests: tests/unit/base/cell*_test.cpp, tests/model, see docs/cell.md.",
            '#include "tests/never/read.hpp"',
        )
        self.plant("tests/unit/base/cell_typed_test.cpp")
        self.plant("tests/model/cell_test.cpp")
        self.plant("docs/cell.md")
        self.assert_finds(headers.check_named_paths)


class UmbrellaTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.plant("include/sluice/base/cell.hpp")
        self.plant("include/sluice/base/detail/raw.hpp")
        self.plant("include/sluice/base.hpp", "#include <sluice/base/cell.hpp>")
        self.plant("include/sluice/sluice.hpp", "#include <sluice/base.hpp>")

    def test_accepts_complete_umbrellas(self):
        self.assert_finds(headers.check_umbrellas)

    def test_refuses_a_forgotten_header(self):
        self.plant("include/sluice/base/spin_lock.hpp")
        self.assert_finds(
            headers.check_umbrellas, "base.hpp:1: it lacks #include <sluice/base/spin_lock.hpp>"
        )

    def test_refuses_a_header_that_does_not_belong(self):
        self.plant(
            "include/sluice/base.hpp",
            "#include <sluice/base/cell.hpp>",
            "#include <sluice/base/detail/raw.hpp>",
        )
        self.assert_finds(
            headers.check_umbrellas, "base.hpp:2: <sluice/base/detail/raw.hpp> does not belong here"
        )

    def test_leaves_headers_that_need_a_package_out_of_the_umbrella(self):
        self.plant("include/sluice/base/plot.hpp")
        self.assert_finds(
            headers.check_umbrellas, "base.hpp:1: it lacks #include <sluice/base/plot.hpp>"
        )
        self.plant(
            "cmake/modules.cmake",
            "sluice_separate_header(base_plot base/plot.hpp",
            "    PACKAGE plot TARGET plot::plot)",
        )
        self.assert_finds(headers.check_umbrellas)
        self.plant(
            "include/sluice/base.hpp",
            "#include <sluice/base/cell.hpp>",
            "#include <sluice/base/plot.hpp>",
        )
        self.assert_finds(
            headers.check_umbrellas, "base.hpp:2: <sluice/base/plot.hpp> does not belong here"
        )

    def test_refuses_a_missing_umbrella(self):
        self.plant("include/sluice/queue/ring.hpp")
        self.assert_finds(
            headers.check_umbrellas,
            "queue.hpp:1: the umbrella is missing",
            "sluice.hpp:1: it lacks #include <sluice/queue.hpp>",
        )


if __name__ == "__main__":
    unittest.main()
