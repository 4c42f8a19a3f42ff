import unittest

from planted_tree import PlantedTree

from checks import glossary


class GlossaryTest(PlantedTree):
    def page(self, *lines):
        self.plant("docs/glossary.md", "# Glossary", *lines)

    def test_accepts_a_type_with_a_row_in_its_module(self):
        self.plant("include/sluice/log/detail/a/lane.hpp", "class Lane {", "class Forward;")
        self.page("## log", "| `Lane` | a ring of bytes |")
        self.assert_finds(glossary.check)

    def test_refuses_a_type_without_a_row(self):
        self.plant("include/sluice/log/detail/lane.hpp", "class Lane {", "struct Room {")
        self.page("## log", "| `Lane` | a ring of bytes |")
        self.assert_finds(glossary.check, "lane.hpp:2: log: Room has no row")

    def test_refuses_a_row_without_a_type(self):
        self.plant("include/sluice/log/detail/lane.hpp", "class Lane {")
        self.page("## log", "| `Lane` | a ring of bytes |", "| `Gone` | was here |")
        self.assert_finds(glossary.check, "glossary.md:4: nothing in the details of log defines Gone")

    def test_one_name_has_a_row_in_each_module_that_declares_it(self):
        for module in ("log", "queue"):
            self.plant(f"include/sluice/{module}/detail/lane.hpp", "class Lane {")
        self.page("## queue", "| `Lane` | the ring of one producer |")
        self.assert_finds(glossary.check, "log/detail/lane.hpp:1: log: Lane has no row")

    def test_looks_at_the_bridges_and_their_sources(self):
        self.plant("bridge/nats/include/sluice/bridge/nats/detail/a.hpp", "class Exporter {")
        self.plant("bridge/nats/src/b.hpp", "class OutboxFolder {")
        self.plant("bridge/nats/src/c.cpp", "class SegmentName {")
        self.plant("bridge/nats/include/sluice/bridge/nats/link.hpp", "class Link {")
        self.page("## bridge/nats", "| `Exporter` | sends messages |")
        self.assert_finds(glossary.check, "b.hpp:1: bridge/nats: OutboxFolder has no row", "c.cpp:1: bridge/nats: SegmentName")

    def test_looks_at_the_namespace_detail_of_a_public_header(self):
        self.plant(
            "include/sluice/base/thread_home.hpp",
            "namespace sluice::detail {",
            "class SharedHome {",
            "}  // namespace sluice::detail",
            "class ThreadHome {",
        )
        self.page("## base")
        self.assert_finds(glossary.check, "thread_home.hpp:2: base: SharedHome has no row")

    def test_a_member_that_is_defined_outside_of_its_class_has_a_row(self):
        self.plant("include/sluice/log/detail/lane.hpp", "class Lane<Traits, 3>::Reading {", "struct Lane<T>::Forward;")
        self.page("## log")
        self.assert_finds(glossary.check, "lane.hpp:1: log: Lane::Reading has no row")


if __name__ == "__main__":
    unittest.main()
