import unittest

from planted_tree import PlantedTree

from checks import wording


class WordingTest(PlantedTree):
    def test_refuses_what_speaks_of_the_workshop(self):
        self.plant("README.md", "see /" + "work/main", "fixes issue" + " 2", "see #" + "12")
        self.plant("tools/run.py", "# TO" + "DO later", "'pypi." + "org'")
        self.assert_finds(
            wording.check,
            "README.md:1: a path of one machine",
            "README.md:2: the number of an issue",
            "README.md:3: the number of an issue",
            "tools/run.py:1: something left undone",
            "tools/run.py:2: the host of a registry",
        )

    def test_accepts_ordinary_text(self):
        self.plant(
            "docs/a.md",
            "reads /proc/stat; a network/" + "home/ folder; #include; # 1 heading; rework",
        )
        self.assert_finds(wording.check)

if __name__ == "__main__":
    unittest.main()
