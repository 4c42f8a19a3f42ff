import unittest

from planted_tree import PlantedTree

from checks import locks


class LocksTest(PlantedTree):
    def test_refuses_helpers_that_ask_for_a_lock(self):
        self.plant("include/sluice/log/a.hpp", "    /// Under the pool's lock.", "    void add();")
        self.plant(
            "bridge/b.hpp",
            "    /// Adds one, with the mutex.",
            "    template <class T>",
            "    void add();",
        )
        self.plant("bench/c.cpp", "    flushLocked();")
        self.assert_finds(locks.check, "c.cpp:1: ", "b.hpp:1: ", "a.hpp:1: ")

    def test_refuses_a_class_that_asks_for_the_lock_of_its_owner(self):
        self.plant("include/sluice/log/a.hpp", "/// Counts, changed under its lock.", "class Counts {")
        self.assert_finds(locks.check, "a.hpp:1: ")

    def test_accepts_guards_contracts_and_fields(self):
        self.plant(
            "include/sluice/log/a.hpp",
            "/// Changes under the lock.",
            "class List {",
            "    /// Adds one.",
            "    void add(const Guard& guard);",
            "    int size_ = 0;  ///< written with the lock",
            "    unlock();",
        )
        self.assert_finds(locks.check)


if __name__ == "__main__":
    unittest.main()
