#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <string_view>

namespace sluice::nats::detail {

/// Remembers the lines that an observer was told. So the observer gets the same line once in ten
/// minutes, however often its cause occurs. Any thread may use it. It does not allocate, because
/// the program may have no memory left. If there are more than 32 lines, it forgets the oldest one.
class ToldLines {
public:
    using Parts = std::initializer_list<std::string_view>;

    /// Whether the line of these parts was not told in the last ten minutes. If so, it now counts
    /// as told.
    bool isNew(Parts parts) noexcept {
        std::size_t hash = 0;
        for (const std::string_view part : parts) {
            hash = hash * 31 + std::hash<std::string_view>{}(part);
        }
        const auto now = Clock::now();
        const std::lock_guard guard(mutex_);
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

private:
    using Clock = std::chrono::steady_clock;
    struct Line {
        std::size_t hash;
        /// The time from which on the line is new again.
        Clock::time_point forgotten;
    };

    std::mutex mutex_;
    std::array<Line, 32> lines_{};
};

}  // namespace sluice::nats::detail
