import unittest

from planted_tree import PlantedTree

from amalgamate import amalgamate


class AmalgamateTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.plant("CMakeLists.txt", "project(sluice", "    VERSION 1.2.3)")

    def test_holds_each_header_once_after_the_headers_that_it_includes(self):
        self.plant("include/sluice/a.hpp", "#pragma once", "#include <sluice/a/x.hpp>",
                   "#include <sluice/a/y.hpp>")
        self.plant("include/sluice/a/x.hpp", "#pragma once", "#include <vector>",
                   "#include <sluice/a/y.hpp>", "struct X {};")
        self.plant("include/sluice/a/y.hpp", "#pragma once", "#include <vector>", "struct Y {};")
        text = amalgamate(self.root, "a")
        for once in ("#pragma once", "SPDX-License-Identifier", "#include <vector>", "struct X {};",
                     "struct Y {};", "#define SLUICE_SINGLE_SLUICE_A_X_HPP"):
            self.assertEqual(text.count(once), 1, once)
        self.assertNotIn("#include <sluice", text)
        self.assertLess(text.index("struct Y"), text.index("struct X"))
        self.assertIn("Sluice 1.2.3", text)

    def test_keeps_what_is_included_under_a_condition(self):
        self.plant("include/sluice/a.hpp", "#if defined(__linux__)", "#include <ctime>", "#endif",
                   "#include <ctime>")
        self.assertEqual(amalgamate(self.root, "a").count("#include <ctime>"), 2)



if __name__ == "__main__":
    unittest.main()
