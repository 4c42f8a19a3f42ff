import unittest
import xml.etree.ElementTree as ElementTree

from planted_tree import PlantedTree

import draw_architecture
from checks import pictures


class PicturesTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.modules("sluice_module(base LEVEL 0)", "sluice_module(queue LEVEL 3 THREADS)")
        self.page(["`base` | the ground"], ["`queue` | rings & <lanes>"])
        self.draw()

    def modules(self, *lines):
        self.plant("cmake/modules.cmake", *lines)

    def page(self, *holds, ways=("`queue` | `Ring::push` | `Slots` | `Ring::consume` | a callable",)):
        self.plant(
            "docs/architecture.md",
            "| station | runs on | does |",
            "|---|---|---|",
            "| admission | producer | lets in |",
            "| handler | consumer | is called |",
            "",
            "| module | admission | ring | batch | handler |",
            "|---|---|---|---|---|",
            *(f"| {row} |" for row in ways),
            "",
            "| module | holds | open it to |",
            "|---|---|---|",
            *(f"| {row[0]} | do things |" for row in holds),
        )

    def draw(self):
        for file, text in draw_architecture.draw(self.root).items():
            self.plant(file, text.removesuffix("\n"))

    def test_accepts_the_pictures_that_are_drawn(self):
        self.assert_finds(pictures.check)

    def test_refuses_a_picture_of_other_levels(self):
        self.modules("sluice_module(base LEVEL 0)", "sluice_module(queue LEVEL 4 THREADS)")
        self.assert_finds(pictures.check, "docs/pictures/layers.svg:1: it is not what")

    def test_refuses_a_picture_of_other_words(self):
        self.page(
            ["`base` | the ground"], ["`queue` | rings & <lanes>"],
            ways=("`queue` | `Ring::push` | `Slots` | `Ring::harvest` | a callable",),
        )
        self.assert_finds(pictures.check, "docs/pictures/path.svg:1: it is not what")

    def test_refuses_a_missing_picture(self):
        (self.root / "docs/pictures/layers.svg").unlink()
        self.assert_finds(pictures.check, "docs/pictures/layers.svg:1: it is not what")

    def test_refuses_a_module_without_a_row(self):
        self.modules(
            "sluice_module(base LEVEL 0)", "sluice_module(wait LEVEL 2)",
            "sluice_module(queue LEVEL 3 THREADS)",
        )
        self.assert_finds(pictures.check, "the table of the layers lacks the module wait")

    def test_refuses_a_carrying_module_without_a_path(self):
        self.modules(
            "sluice_module(base LEVEL 0)", "sluice_module(queue LEVEL 3 THREADS)",
            "sluice_module(bus LEVEL 5 THREADS)",
        )
        self.page(["`base` | the ground"], ["`queue` | rings"], ["`bus` | messages"])
        self.assert_finds(pictures.check, "the table of the path lacks the module bus")

    def test_refuses_a_row_without_a_module(self):
        self.page(["`base` | the ground"], ["`queue` | rings"], ["`actor` | objects"])
        self.assert_finds(pictures.check, "has actor, which is not in cmake/modules.cmake")

    def test_refuses_a_page_without_its_tables(self):
        self.plant("docs/architecture.md", "# Architecture")
        self.assert_finds(pictures.check, "has no table that begins with '| module | holds |'")


if __name__ == "__main__":
    unittest.main()
