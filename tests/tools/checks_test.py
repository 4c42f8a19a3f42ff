"""The checks of the sources accept a good tree, and name each fault that is planted in one."""

import unittest
import xml.etree.ElementTree as ElementTree

from planted_tree import PlantedTree

import draw_architecture
from checks import coding_rules, headers, layering, pages, pictures, snippets, wording


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

    def test_accepts_lower_levels_and_own_details(self):
        self.header(
            "queue/ring.hpp",
            "#include <sluice/base/cell.hpp>",
            "#include <sluice/fixed/fixed_vector.hpp>",
            "#include <sluice/queue/detail/index.hpp>",
            "#include <atomic>",
        )
        self.assert_finds(layering.check)

    def test_refuses_a_higher_level(self):
        self.header("base/cell.hpp", "#pragma once", "#include <sluice/queue/ring.hpp>")
        self.assert_finds(
            layering.check, "include/sluice/base/cell.hpp:2: 'base' (level 0) may not include"
        )

    def test_refuses_the_same_level(self):
        self.header("fixed/a.hpp", "#  include <sluice/memory/pool.hpp>")
        self.assert_finds(layering.check, "'memory' is level 1")

    def test_refuses_umbrellas_quotes_and_unknown_modules(self):
        self.header(
            "queue/ring.hpp",
            "#include <sluice/base.hpp>",
            '#include "detail/index.hpp"',
            "#include <sluice/nowhere/thing.hpp>",
        )
        self.assert_finds(layering.check, "is an umbrella", "instead of", "is in no module")

    def test_eventpp_is_built_from_the_details_of_event(self):
        self.plant("cmake/modules.cmake", "sluice_module(event LEVEL 4)",
                   "sluice_module(eventpp LEVEL 5)", "sluice_module(bus LEVEL 5)")
        detail = "#include <sluice/event/detail/list.hpp>"
        self.header("eventpp/heter_list.hpp", detail)
        self.header("bus/bus.hpp", detail)
        self.header("event/queue.hpp", "#include <sluice/eventpp/heter_list.hpp>")
        self.assert_finds(
            layering.check,
            "include/sluice/bus/bus.hpp:1: <sluice/event/detail/list.hpp> belongs to 'event' alone",
            "include/sluice/event/queue.hpp:1: 'event' (level 4) may not include",
        )

    def test_refuses_a_folder_that_is_no_module(self):
        self.header("extra/thing.hpp", "#pragma once")
        self.assert_finds(layering.check, "module 'extra' is not in")

    def test_refuses_fences_outside_base(self):
        self.header("base/fence.hpp", "std::atomic_thread_fence(std::memory_order_seq_cst);")
        self.header(
            "queue/a.hpp",
            "// atomic_thread_fence would hide here",
            "std::atomic_signal_fence(order);",
        )
        self.assert_finds(layering.check, "queue/a.hpp:2: a stand-alone fence outside base")

    def test_accepts_forwarding_headers(self):
        self.plant(
            "include/theirs/more/ring.h",
            "#pragma once",
            "#if __cplusplus < 201703L",
            '#error "too old"',
            "#else",
            "// Theirs: see ours.",
            "",
            "#include <sluice/base/spin_lock.hpp>",
            "#include <sluice/queue/ring.hpp>",
            "#include <theirs/lock.h>",
            "#include <vector>",
            "namespace theirs {",
            "using sluice::Ring;",
            "template <class T, int N = 4>",
            "#if defined(__APPLE__) && defined(__aarch64__)",
            "#define THEIR_LINE 128",
            "#endif",
            "using Lanes = sluice::MpscLanes<T, N>;",
            "using sluice::inner::Lane;",
            "}  // namespace theirs",
            "#endif",
        )
        self.assert_finds(layering.check)

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

    def test_refuses_details_and_umbrellas_in_forwarding_headers(self):
        self.plant(
            "include/theirs/ring.h",
            "#include <sluice/base/detail/membarrier.hpp>",
            "#include <sluice/queue.hpp>",
            "#include <sluice/theirs/detail/index.hpp>",
        )
        self.assert_finds(
            layering.check,
            "belongs to 'base' alone",
            "is an umbrella",
            "details of 'theirs' are its own",
        )

    def test_refuses_a_folder_that_forwards_to_nothing(self):
        self.plant("include/others/ring.h", "#pragma once")
        self.assert_finds(layering.check, "folder 'others' is no FORWARDING module")

    def test_refuses_an_empty_list_of_modules(self):
        self.plant("cmake/modules.cmake", "")
        self.assert_finds(layering.check, "nothing could be checked")


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
