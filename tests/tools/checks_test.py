"""The checks of the sources accept a good tree, and name each fault that is planted in one."""

import unittest

from planted_tree import PlantedTree

from checks import coding_rules, figures, headers, layering, pages, snippets, wording


class LengthTest(PlantedTree):
    def test_refuses_more_than_900_lines(self):
        self.plant("include/sluice/base/fits.hpp", *["//"] * 900)
        self.plant("include/sluice/base/long.hpp", *["//"] * 901)
        self.plant("tests/unit/base/long_test.cpp", *["//"] * 901)
        self.assert_finds(headers.check_length, "base/long.hpp:901: 901 lines", "long_test.cpp:901")


class NamedPathTest(PlantedTree):
    def test_refuses_a_path_that_does_not_exist(self):
        self.plant("include/sluice/base/cell.hpp", "/// Tests: tests/unit/base/cell_test.cpp.")
        self.assert_finds(headers.check_named_paths, "it names tests/unit/base/cell_test.cpp, which does not")


class UmbrellaTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.plant("include/sluice/base/cell.hpp")
        self.plant("include/sluice/base/detail/raw.hpp")
        self.plant("include/sluice/base.hpp", "#include <sluice/base/cell.hpp>")
        self.plant("include/sluice/sluice.hpp", "#include <sluice/base.hpp>")

    def test_refuses_a_forgotten_header(self):
        self.plant("include/sluice/base/spin_lock.hpp")
        self.assert_finds(
            headers.check_umbrellas, "base.hpp:1: it lacks #include <sluice/base/spin_lock.hpp>"
        )


class LayeringTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.plant(
            "cmake/modules.cmake",
            "# sluice_module(comment LEVEL 9)",
            "sluice_module(base LEVEL 0)",
            "sluice_module(fixed LEVEL 1)",
            "sluice_module(memory LEVEL 1)",
            "sluice_module(queue LEVEL 3 THREADS)",
            "sluice_module(theirs LEVEL 4 THREADS FORWARDING)",
        )

    def header(self, path, *lines):
        self.plant(f"include/sluice/{path}", *lines)

    def test_refuses_a_higher_level(self):
        self.header("base/cell.hpp", "#pragma once", "#include <sluice/queue/ring.hpp>")
        self.assert_finds(layering.check, "include/sluice/base/cell.hpp:2: 'base' (level 0) may not include")

    def test_refuses_fences_outside_base(self):
        self.header("base/fence.hpp", "std::atomic_thread_fence(std::memory_order_seq_cst);")
        self.header("queue/a.hpp", "// atomic_thread_fence would hide here", "std::atomic_signal_fence(order);")
        self.assert_finds(layering.check, "queue/a.hpp:2: a stand-alone fence outside base")

    def test_refuses_code_in_forwarding_headers(self):
        self.plant(
            "include/theirs/ring.h",
            "using namespace sluice;",
            "struct Ring {};",
            "using Ring = std::vector<int>;",
            "#if RING",
        )
        only = "and nothing else"
        self.assert_finds(layering.check, "ring.h:1: a forwarding header", only, only, only)

HEADER = "include/sluice/base/cell.hpp"


class CodingRulesTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.page("| `reinterpret_cast` | 8.2.5 | `base/cell.hpp` | raw storage |")
        self.plant(HEADER, "auto* p = reinterpret_cast<T*>(q);")

    def page(self, *rows):
        self.plant("docs/coding-rules.md", "| construct | rule | files | reason |", "|---|---|---|---|", *rows)

    def test_another_file_is_refused(self):
        self.plant("include/sluice/queue/ring.hpp", "", "reinterpret_cast<int*>(p);")
        self.assert_finds(coding_rules.check, "queue/ring.hpp:2: 'reinterpret_cast' needs a row")

    def test_a_row_without_its_construct_is_refused(self):
        self.plant(HEADER, "// reinterpret_cast is not used here", 'f("reinterpret_cast");')
        self.assert_finds(coding_rules.check, "docs/coding-rules.md:3: base/cell.hpp has no 'reinterpret_cast'")

    def test_what_no_row_may_allow_is_refused(self):
        self.plant("include/sluice/bus/bus.hpp", "    goto end;", "#define SLUICE_MAX(a, b) a")
        self.assert_finds(coding_rules.check, "'goto'", "'function-like macro'")


class PagesTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.plant("include/sluice/queue/ring.hpp", "template <class T>", "class Ring {", "void push();", "};")
        self.plant("docs/guide/queues.md", "# Queues")
        self.plant("dev")

    def test_refuses_a_link_to_nothing_on_any_page(self):
        self.plant("docs/guide/events.md", "", "See [bus](bus.md) and [queues](queues.md).")
        self.assert_finds(pages.check, "docs/guide/events.md:2: the link leads nowhere: bus.md")

    def test_refuses_a_link_whose_text_is_broken(self):
        self.plant("docs/guide/events.md", "See [the", "queues](queues.md), [these](queues.md) and [more][1].")
        self.assert_finds(pages.check, "docs/guide/events.md:1: the text of a link is broken")

    def test_refuses_a_file_that_does_not_exist(self):
        self.plant("CONTRIBUTING.md", "`tools/gone.py bus` and `include/gone/`")
        self.assert_finds(pages.check, "no file or folder tools/gone.py", "no file or folder include/gone/")

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


class FiguresTest(PlantedTree):
    def test_refuses_a_measured_figure_without_a_source(self):
        self.plant("docs/guide/bad.md", "As published", "12 ns.", "", "| 3.5 MB | 2 x | 1.9 |", "", "0.2 to 0.9, half the time", "about 200")
        self.plant(
            "docs/published/good.md",
            "<!-- figures: bus -->",
            "12 ns",
            "<!-- end of figures -->",
            "",
            "Waits for at most 50 ms, `wait(50 ms)`, with its 95 % interval. Published: 12 ns.",
            "",
            "<!-- a limit -->",
            "| low | 60 % |",
            "",
            "    sleep 12 ms",
        )
        found = {"12 ns": 2, "3.5 MB": 4, "2 x": 4, "1.9": 4, "0.2 to 0.9": 6, "half the time": 6, "about 200": 7}
        self.assert_finds(figures.check, *(f"bad.md:{line}: the figure '{each}'" for each, line in found.items()))

    def test_refuses_a_readme_that_is_wrong_about_the_size(self):
        self.plant("include/sluice/base/one.hpp", *["//"] * 100)
        self.plant("README.md", "The library has 1 headers with 104 lines.")
        self.plant("README.zh-CN.md", "1 个头文件，120 行")
        self.assert_finds(figures.check, "README.zh-CN.md:1: the library has 100 headers or lines, and not 120")


class SnippetsTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.plant("docs/snippets/quick.cpp", "int main() {", "    int sum = 0;", "    sum += 1;", "}")

    def test_refuses_lines_that_nobody_compiles(self):
        self.plant("docs/guide/queues.md", "text", "```cpp", "int sum = 0;", "sum += 2;", "```")
        self.assert_finds(snippets.check, "docs/guide/queues.md:2: this block is in no file")


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


if __name__ == "__main__":
    unittest.main()
