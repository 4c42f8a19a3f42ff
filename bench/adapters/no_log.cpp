/// \file
/// The memory of threads that do not log: a floor under the memory of threads that log.

#include "adapters/log_subjects.hpp"

#include <fstream>
#include <mutex>
#include <vector>

namespace sluice::bench {

namespace {

/// Keeps numbers, and writes them as lines when it is drained.
class NoLog {
public:
    static constexpr bool inTimeOrder = false;

    NoLog(const std::string& path, std::size_t) : file_(path) { numbers_.reserve(1000); }

    void log(std::uint64_t number) {
        const std::lock_guard lock(mutex_);
        numbers_.push_back(number);
    }

    void drain() {
        for (const std::uint64_t number : numbers_) {
            file_ << "[2026-11-22 03:01:03.012345] Hello logger: msg number " << number << '\n';
        }
        file_.flush();
        numbers_.clear();
    }

private:
    std::mutex mutex_;
    std::vector<std::uint64_t> numbers_;
    std::ofstream file_;
};

}  // namespace

void addNoLog(LogSubjects& subjects) {
    Subject info;
    info.id = floorPrefix + "threads";
    info.library = "none";
    info.use = "threads that add a number to an array under a lock";
    addLog<NoLog>(subjects, info);
    auto& rounds = subjects.back().rounds;
    rounds = {{"idle-100t", rounds["idle-100t"]}};
}

}  // namespace sluice::bench
