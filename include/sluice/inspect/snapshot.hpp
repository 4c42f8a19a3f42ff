#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// One number of an object. It owns its texts: a plugin that added it may be unloaded.
struct Reading {
    std::string metric;  ///< the name in Prometheus, but without the `_total` of a counter
    std::string help;    ///< a sentence, the same in all readings of a metric
    bool isCounter;      ///< false: a gauge
    std::uint64_t value;
    std::string type;      ///< of the messages; empty if the number belongs to no type
    std::string priority;  ///< empty if the number belongs to no priority
    std::string reason;    ///< of a refusal

    /// Whether the value is in nanoseconds. A text shows seconds.
    [[nodiscard]] bool isTime() const noexcept {
        constexpr std::size_t size = 8;
        return metric.size() > size && metric.compare(metric.size() - size, size, "_seconds") == 0;
    }
};

/// The readings of one object at one moment.
struct ObjectReadings {
    std::uint64_t id;  ///< of the watch: a later object of the same name has another one
    std::string name;
    std::vector<Reading> readings;

    /// Adds a number that only grows. A metric whose name ends with `_seconds` has nanoseconds.
    void counter(std::string metric, std::string help, std::uint64_t value, std::string type = {},
                 std::string priority = {}, std::string reason = {}) {
        readings.push_back({std::move(metric), std::move(help), true, value, std::move(type),
                            std::move(priority), std::move(reason)});
    }
    /// Adds a number that may shrink.
    void gauge(std::string metric, std::string help, std::uint64_t value, std::string type = {},
               std::string priority = {}, std::string reason = {}) {
        readings.push_back({std::move(metric), std::move(help), false, value, std::move(type),
                            std::move(priority), std::move(reason)});
    }

    /// The sum of a metric's readings with these labels; empty: with any.
    [[nodiscard]] std::uint64_t sum(std::string_view metric, std::string_view priority = {},
                                    std::string_view reason = {}) const noexcept {
        std::uint64_t sum = 0;
        for (const Reading& each : readings) {
            const bool isMeant = each.metric == metric &&
                                 (priority.empty() || each.priority == priority) &&
                                 (reason.empty() || each.reason == reason);
            sum += isMeant ? each.value : 0;
        }
        return sum;
    }
};

/// Messages go from one object to another. Either name may be of an object that is not watched.
struct Flow {
    std::string from;
    std::string to;
    std::string type;  ///< of the messages; empty: all that the bus carries
};

/// What an Inspector has read at one moment.
struct Snapshot {
    std::chrono::steady_clock::time_point time;
    std::vector<ObjectReadings> objects;
    std::vector<Flow> flows;
};

}  // namespace sluice
