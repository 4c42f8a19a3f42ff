import unittest

from planted_tree import PROJECT, PlantedTree

from checks import layering


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

if __name__ == "__main__":
    unittest.main()
