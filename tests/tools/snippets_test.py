import unittest

from planted_tree import PlantedTree

from checks import snippets


class SnippetsTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.plant(
            "docs/snippets/quick.cpp", "int main() {", "    int sum = 0;", "    sum += 1;", "}"
        )

    def test_accepts_lines_of_a_compiled_file(self):
        self.plant(
            "README.md",
            "```cpp",
            "int sum = 0;",
            "",
            "sum += 1;",
            "```",
            "```sh",
            "./dev demo",
            "```",
        )
        self.assert_finds(snippets.check)

    def test_refuses_lines_that_nobody_compiles(self):
        self.plant("docs/guide/queues.md", "text", "```cpp", "int sum = 0;", "sum += 2;", "```")
        self.assert_finds(snippets.check, "docs/guide/queues.md:2: this block is in no file")

    def test_refuses_lines_that_are_not_in_a_row(self):
        self.plant("README.md", "```cpp", "int main() {", "sum += 1;", "```")
        self.assert_finds(snippets.check, "README.md:1")


if __name__ == "__main__":
    unittest.main()
