"""A construct of the core needs a row in docs/coding-rules.md, and a row needs the construct."""

import unittest

from planted_tree import PlantedTree

from checks import coding_rules

HEADER = "include/sluice/base/cell.hpp"


class CodingRulesTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.page("| `reinterpret_cast` | 8.2.5 | `base/cell.hpp` | raw storage |")
        self.plant(HEADER, "auto* p = reinterpret_cast<T*>(q);")

    def page(self, *rows):
        self.plant("docs/coding-rules.md", "| construct | rule | files | reason |", "|---|---|---|---|", *rows)

    def test_a_construct_with_its_row_passes(self):
        self.assert_finds(coding_rules.check)

    def test_another_file_is_refused(self):
        self.plant("include/sluice/queue/ring.hpp", "", "reinterpret_cast<int*>(p);")
        self.assert_finds(coding_rules.check, "queue/ring.hpp:2: 'reinterpret_cast' needs a row")

    def test_a_row_without_its_construct_is_refused(self):
        self.plant(HEADER, "// reinterpret_cast is not used here", 'f("reinterpret_cast");')
        self.assert_finds(coding_rules.check, "docs/coding-rules.md:3: base/cell.hpp has no 'reinterpret_cast'")

    def test_several_rows_of_one_construct_count_together(self):
        self.page(
            "| `reinterpret_cast` | 8.2.5 | `base/cell.hpp` | raw storage |",
            "| `reinterpret_cast` to bytes | none | `wait/parker.hpp` | an address |",
        )
        self.plant("include/sluice/wait/parker.hpp", "reinterpret_cast<char*>(p);")
        self.assert_finds(coding_rules.check)

    def test_what_no_row_may_allow_is_refused(self):
        self.plant("include/sluice/bus/bus.hpp", "    goto end;", "#define SLUICE_MAX(a, b) a")
        self.assert_finds(coding_rules.check, "'goto'", "'function-like macro'")

if __name__ == "__main__":
    unittest.main()
