#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/bridge/nats/options.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::nats::detail {

/// Reports problems of a link or a route to the observer, each line at most once in ten minutes. If
/// there are more than 32 lines, the oldest one is forgotten and may be reported again.
///
/// Any thread may call any member. Never allocates, because memory may be exhausted.
class TroubleReporter {
public:
    using Parts = std::initializer_list<std::string_view>;

    /// The observer may be null. Each line begins with `prefix`.
    explicit TroubleReporter(BridgeObserver* observer, std::string prefix = {})
        : observer_(observer), prefix_(std::move(prefix)) {}

    /// Reports one line of these parts, at most 511 bytes. Lines that differ only in `detail` are
    /// the same line.
    void report(Parts parts, Parts detail = {}) noexcept;

private:
    using Clock = std::chrono::steady_clock;
    struct Line {
        std::size_t hash;
        Clock::time_point forgotten;  ///< the time after which the line is new again
    };

    /// Returns true, and records the line, if it was not reported in the last ten minutes.
    bool isNew(Parts parts) noexcept;

    BridgeObserver* const observer_;
    const std::string prefix_;
    SpinLock mutex_;                ///< guards lines_; no user code runs under it
    std::array<Line, 32> lines_{};  ///< the reported lines
};

inline void TroubleReporter::report(Parts parts, Parts detail) noexcept {
    if (observer_ == nullptr || !isNew(parts)) {
        return;
    }
    std::array<char, 512> line;
    char* end = line.data();
    const auto append = [&](std::string_view part) {
        const auto room = static_cast<std::size_t>(line.data() + line.size() - 1 - end);
        end = std::copy_n(part.data(), std::min(part.size(), room), end);
    };
    append(prefix_);
    std::for_each(parts.begin(), parts.end(), append);
    std::for_each(detail.begin(), detail.end(), append);
    *end = '\0';
    observer_->trouble(line.data());
}

inline bool TroubleReporter::isNew(Parts parts) noexcept {
    std::size_t hash = 0;
    for (const std::string_view part : parts) {
        hash = hash * 31 + std::hash<std::string_view>{}(part);
    }
    const auto now = Clock::now();
    const std::lock_guard<SpinLock> guard(mutex_);
    const auto isOlder = [](const Line& a, const Line& b) { return a.forgotten < b.forgotten; };
    Line* line = std::find_if(lines_.begin(), lines_.end(),
                              [hash](const Line& each) { return each.hash == hash; });
    if (line == lines_.end()) {
        line = std::min_element(lines_.begin(), lines_.end(), isOlder);
    } else if (now < line->forgotten) {
        return false;
    }
    *line = {hash, now + std::chrono::minutes(10)};
    return true;
}

}  // namespace sluice::nats::detail
