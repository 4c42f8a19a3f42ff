/// \file
/// Prints one page about this machine, from /proc or a copy of it:
///
///     machine_card [folder]
///
/// One thread reads, another one writes the page. Messages of four kinds pass between them.
/// They are carried in two ways, one after the other, see carriers.hpp. Exit status: 0 when both
/// pages are the same, 1 when they are not, 2 when there was nothing to read.

#include "carriers.hpp"

#include <cstdio>

int main(int argc, char** argv) {
    const auto snapshot = machine_card::readSnapshot(argc > 1 ? argv[1] : "/proc");
    const machine_card::Card inPlace = machine_card::carryInPlace(snapshot);
    const machine_card::Card asObjects = machine_card::carryAsObjects(snapshot);
    if (inPlace.parts() == 0) {
        std::fputs("machine_card: nothing to read there\n", stderr);
        return 2;
    }
    std::fputs(inPlace.text().c_str(), stdout);
    std::printf("%d parts, carried in place and as pooled objects: %s\n", inPlace.parts(),
                inPlace.text() == asObjects.text() ? "the same page" : "DIFFERENT PAGES");
    return inPlace.text() == asObjects.text() ? 0 : 1;
}
