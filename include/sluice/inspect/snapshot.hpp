#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// A family of numbers, which the samples of all objects share. Define it as a constant, because a
/// reading points to it.
struct MetricFamily {
    enum class Kind : unsigned char { counter, gauge, summary };

    std::string_view name;   ///< as in Prometheus; without `_total`, which a counter gets in a text
    std::string_view label;  ///< the label that has the object's name
    Kind kind;
    bool isTime;  ///< the values are nanoseconds; a text shows seconds, and the name ends with it
    std::string_view help;
};

/// One number of an object.
struct Reading {
    const MetricFamily* family;
    std::uint64_t value;
    std::string type;      ///< of the messages; empty if the number belongs to no type
    std::string priority;  ///< empty if the number belongs to no priority
    std::string reason;    ///< of a refusal; "count" or "sum" in a summary
};

/// The readings of one object at one moment.
struct ObjectReadings {
    std::uint64_t id;  ///< of the watch: a later object of the same name has another one
    std::string name;
    std::vector<Reading> readings;

    /// Adds a number.
    void add(const MetricFamily& family, std::uint64_t value, std::string type = {},
             std::string priority = {}, std::string reason = {}) {
        readings.push_back(
            {&family, value, std::move(type), std::move(priority), std::move(reason)});
    }
    void add(const MetricFamily& family, std::chrono::nanoseconds value,
             const std::string& priority = {}) {
        add(family, static_cast<std::uint64_t>(value.count()), {}, priority);
    }
    void addSummary(const MetricFamily& family, std::uint64_t count, std::chrono::nanoseconds sum,
                    const std::string& priority = {}) {
        add(family, count, {}, priority, "count");
        add(family, static_cast<std::uint64_t>(sum.count()), {}, priority, "sum");
    }

    [[nodiscard]] bool has(const MetricFamily& family) const noexcept {
        return std::any_of(readings.begin(), readings.end(),
                           [&](const Reading& each) { return each.family->name == family.name; });
    }
    /// The sum of a family's readings with this priority and reason; empty: with any.
    [[nodiscard]] std::uint64_t sum(const MetricFamily& family, std::string_view priority = {},
                                    std::string_view reason = {}) const noexcept {
        std::uint64_t sum = 0;
        for (const Reading& each : readings) {
            const bool isMeant = each.family->name == family.name &&
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

    /// Returns null if there is no object with this id.
    [[nodiscard]] const ObjectReadings* find(std::uint64_t id) const noexcept {
        const auto found = std::find_if(objects.begin(), objects.end(),
                                        [id](const ObjectReadings& each) { return each.id == id; });
        return found == objects.end() ? nullptr : &*found;
    }
};

}  // namespace sluice
