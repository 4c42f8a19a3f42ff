import unittest

from planted_tree import PlantedTree

from checks import pages


class PagesTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.plant("include/sluice/queue/ring.hpp", "template <class T>", "class Ring {", "void push();", "};")
        self.plant("docs/guide/queues.md", "# Queues")
        self.plant("dev")

    def test_accepts_what_exists(self):
        self.plant(
            "README.md",
            "[queues](docs/guide/queues.md#waiting), [elsewhere](https://example.com), [below](#here)",
            "`./dev test`, `include/sluice/queue/ring.hpp`, `docs/guide/`, `build/dev`, `<ring.hpp>`",
        )
        self.plant("docs/architecture.md", "`Ring`, `Ring::push`, `Ring::push()`, `E1 publish`, `push()`")
        self.assert_finds(pages.check)

    def test_refuses_a_link_to_nothing_on_any_page(self):
        self.plant("docs/guide/events.md", "", "See [bus](bus.md) and [queues](queues.md).")
        self.assert_finds(pages.check, "docs/guide/events.md:2: the link leads nowhere: bus.md")

    def test_refuses_the_page_of_a_folder_that_leaves_a_page_out(self):
        self.plant("docs/guide/events.md", "# Events")
        self.plant("docs/guide/README.md", "[queues](queues.md)")
        self.assert_finds(pages.check, "docs/guide/README.md:1: no link to events.md")

    def test_refuses_a_note_that_begins_with_a_star(self):
        self.plant("docs/guide/queues.md", "| 1 \\* |", "", "Ratio with \\*: a note", "", "\\* a note")
        self.assert_finds(pages.check, "docs/guide/queues.md:5: a line begins with \\*")

    def test_refuses_a_file_that_does_not_exist(self):
        self.plant("CONTRIBUTING.md", "`tools/gone.py bus` and `include/gone/`")
        self.assert_finds(pages.check, "no file or folder tools/gone.py", "no file or folder include/gone/")

    def test_refuses_a_type_that_does_not_exist(self):
        self.plant("docs/architecture.md", "`Lane` and `Ring::pull()`, but `Ring`")
        self.assert_finds(
            pages.check,
            "docs/architecture.md:1: no header declares Lane",
            "docs/architecture.md:1: no header declares Ring::pull",
        )

    def test_refuses_a_guarantee_without_a_test(self):
        self.plant("bridge/nats/tests/fault_test.cpp", "TEST(FaultTest, Survives) {", "}")
        self.plant(
            "docs/guide/distributed.md",
            "| event | result | test |",
            "|---|---|---|",
            "| killed | nothing | `FaultTest.Survives`, `Survives` |",
            "| stopped | nothing | `FaultTest.Stops` |",
            "| full | nothing | none |",
            "",
            "| call | waits |",
            "|---|---|",
            "| `close` | no |",
        )
        self.assert_finds(
            pages.check,
            "docs/guide/distributed.md:4: there is no test FaultTest.Stops",
            "docs/guide/distributed.md:5: the row names no test",
        )

    def test_leaves_code_blocks_alone(self):
        self.plant("README.md", "```cpp", "f[0](x); // `no/such`", "```")
        self.assert_finds(pages.check)


if __name__ == "__main__":
    unittest.main()
