/// \file
/// sluice_count [PATH...]: runs every path, or those named, once under callgrind; see
/// tools/count.py, which starts it and reads the counts. `--list` prints the paths that are ours.

#include "rows.hpp"

#include <algorithm>
#include <string_view>
#include <thread>

namespace sluice::count {

namespace {

Rows allRows() {
    Rows rows;
    for (const auto add :
         {&addQueues, &addEvents, &addPools, &addBuses, &addActors, &addLogs, &addStandardLibrary,
          &addBoost, &addMoodycamel, &addTbb, &addSpdlog, &addAtomicQueue, &addMccc, &addRigtorp}) {
        add(rows);
    }
#if defined(SLUICE_PEER_EVENTPP)
    addEventpp(rows);
#endif
#if defined(SLUICE_PEER_EVENTPP_FORK)
    addEventppFork(rows);
#endif
    return rows;
}

/// The instructions beside the libraries; see count.hpp.
void countNothing() {
    const Counting counting("empty", ours);
    counting.each([] {}, [] { forEachMessage([](const Message& message) { use(&message); }); });
    counting.whole([] {}, [] {});
}

}  // namespace

}  // namespace sluice::count

int main(int count, char** arguments) {
    using namespace sluice::count;
    const std::vector<std::string_view> wanted(arguments + 1, arguments + count);
    const Rows rows = allRows();
    if (wanted.size() == 1 && wanted.front() == "--list") {
        for (const Row& row : rows) {
            if (row.subject == ours) {
                std::puts(row.path.c_str());
            }
        }
        return 0;
    }
    // A mutex takes a shortcut until a process starts its first thread. Programs that pass messages
    // have threads, so the paths are counted without the shortcut.
    std::thread([] {}).join();
    countNothing();
    for (const Row& row : rows) {
        if (wanted.empty() || std::find(wanted.begin(), wanted.end(), row.path) != wanted.end()) {
            row.count(Counting(row.path, row.subject));
        }
    }
}
