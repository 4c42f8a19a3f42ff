#pragma once

#include <sluice/bus/priority.hpp>
#include <sluice/inspect/snapshot.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// Something that is wrong with an object, in words.
struct Finding {
    bool isFault;  ///< messages, records or handlers were lost; false: only a warning
    std::string object;
    std::string text;
};

namespace detail {

/// Compares the numbers of one object in two snapshots.
struct FindingSearch {
    const ObjectReadings& past;
    const ObjectReadings& now;
    const double seconds;
    std::vector<Finding>& findings;

    void run() const {
        for (const Priority each : {Priority::high, Priority::medium, Priority::low}) {
            bus(toString(each));
        }
        if (grown("sluice_bus_rejected", {}, "full") == 0 &&  // else it stands in the refusal
            static_cast<double>(grown("sluice_object_handler_seconds")) >= 0.8e9 * seconds) {
            add(false, busyText().substr(2));
        }
        counted("sluice_bus_rejected", "closed", "messages/s are refused, because it is closed");
        counted("sluice_bus_handler_failures", {}, "calls of handlers/s throw");
        counted("sluice_bus_unhandled", {}, "messages/s have no handler", false);
        counted("sluice_object_rejected", "full",
                "messages/s are refused, because it is full" + busyText());
        counted("sluice_object_rejected", "closed", "messages/s are refused, because it has ended");
        counted("sluice_object_handler_failures", {}, "handlers/s throw");
        counted("sluice_object_read_failures", {}, "readings/s throw: its numbers are not whole");
        filled("sluice_queue_length", "sluice_queue_room", " messages wait");
        filled("sluice_object_queued", "sluice_object_room", " messages wait");
        filled("sluice_pool_used", "sluice_pool_blocks", " blocks are in use");
        counted("sluice_queue_dropped", {}, "old messages/s are dropped");
        counted("sluice_events_rejected", {}, "events/s are refused");
        counted("sluice_pool_exhausted", {}, "allocations/s find no block");
        counted("sluice_log_rejected", {}, "records/s are refused");
        counted("sluice_log_dropped", {}, "old records/s are dropped");
        counted("sluice_log_lost_in_sinks", {}, "records/s are lost in sinks");
        std::map<std::string_view, std::uint64_t> threads;  // a new name may be of an old thread
        for (const Reading& each : past.readings) {
            if (each.metric == "sluice_thread_cpu_seconds") {
                threads.emplace(each.type, each.value);
            }
        }
        for (const Reading& each : now.readings) {
            if (each.metric == "sluice_watchdog_late" && each.value != 0) {
                add(true, "a handler of '" + each.type + "' has not returned in time");
            } else if (each.metric == "sluice_thread_cpu_seconds" && threads.count(each.type)) {
                const std::uint64_t busy = each.value - std::min(each.value, threads[each.type]);
                if (static_cast<double>(busy) > 0.9e9 * seconds) {
                    add(false,
                        "thread " + each.type + " takes " + percent(busy) + " of a processor");
                }
            }
        }
    }

    void bus(const std::string& priority) const {
        if (const std::uint64_t full = grown("sluice_bus_rejected", priority, "full"); full != 0) {
            std::string text =
                priority + " is refused: " + rate(full) + " messages/s found no room, " +
                part("sluice_bus_queued", "sluice_bus_room", priority) + " places are taken now";
            if (const std::uint64_t count = grown("sluice_bus_timed", priority); count != 0) {
                text += ", messages wait " +
                        duration(grown("sluice_bus_queue_time_seconds", priority) / count) +
                        " on average";
            }
            add(true, text + busyText());
        }
        counted("sluice_bus_dropped", {}, priority + " messages/s are dropped", true, priority);
        counted("sluice_bus_expired", {}, priority + " messages/s expire before their handlers run",
                true, priority);
    }

    [[nodiscard]] std::uint64_t grown(std::string_view metric, std::string_view priority = {},
                                      std::string_view reason = {}) const noexcept {
        const std::uint64_t count = now.sum(metric, priority, reason);
        return count - std::min(count, past.sum(metric, priority, reason));
    }

    void counted(std::string_view metric, std::string_view reason, const std::string& what,
                 bool isFault = true, std::string_view priority = {}) const {
        if (const std::uint64_t count = grown(metric, priority, reason); count != 0) {
            add(isFault, rate(count) + " " + what);
        }
    }

    /// A warning from nine tenths on.
    void filled(const char* used, const char* room, const std::string& what) const {
        const std::uint64_t all = now.sum(room);
        const std::uint64_t taken = now.sum(used);
        if (all != 0 && taken >= all - all / 10) {
            add(false, (taken >= all ? "full: " : "almost full: ") + part(used, room) + what);
        }
    }

    /// Which part of the time the handlers take; empty without Traits::handlerTimes.
    [[nodiscard]] std::string busyText() const {
        const std::uint64_t busy = grown("sluice_object_handler_seconds");
        const std::uint64_t count = grown("sluice_object_handled");
        return busy == 0 ? ""
                         : ": its handlers take " + percent(busy) + " of its thread's time" +
                               (count == 0 ? "" : ", " + duration(busy / count) + " for a message");
    }

    void add(bool isFault, std::string text) const {
        findings.push_back({isFault, now.name, std::move(text)});
    }

    static std::string decimal(double value, const char* format) {
        std::array<char, 32> text{};
        (void)std::snprintf(text.data(), text.size(), format, value);
        return text.data();
    }
    [[nodiscard]] std::string rate(std::uint64_t count) const {
        const double perSecond = static_cast<double>(count) / seconds;
        return decimal(perSecond, perSecond < 10 ? "%.1f" : "%.0f");
    }
    [[nodiscard]] std::string percent(std::uint64_t nanoseconds) const {
        return decimal(std::min(100.0, static_cast<double>(nanoseconds) / (1e7 * seconds)),
                       "%.0f %%");
    }
    [[nodiscard]] std::string part(const char* used, const char* room,
                                   std::string_view priority = {}) const {
        return std::to_string(now.sum(used, priority)) + " of " +
               std::to_string(now.sum(room, priority));
    }
    static std::string duration(std::uint64_t nanoseconds) {
        auto value = static_cast<double>(nanoseconds);
        const char* unit = "ns";
        for (const char* const next : {"us", "ms", "s"}) {
            if (value >= 1000) {
                value /= 1000;
                unit = next;
            }
        }
        return decimal(value, value < 10 ? "%.1f " : "%.0f ") + unit;
    }
};

}  // namespace detail

/// Returns what went wrong between two snapshots of one inspector, in words: refused and lost
/// messages, full queues, busy and late handlers, lost log records. An object that the earlier
/// snapshot lacks is compared with zero. Returns nothing if no time has passed between the two.
[[nodiscard]] inline std::vector<Finding> findings(const Snapshot& before, const Snapshot& now) {
    std::vector<Finding> findings;
    const double seconds = std::chrono::duration<double>(now.time - before.time).count();
    const ObjectReadings none{};
    for (const ObjectReadings& object : now.objects) {
        const auto past = std::find_if(before.objects.begin(), before.objects.end(),
                                       [&](const auto& each) { return each.id == object.id; });
        if (seconds > 0) {
            detail::FindingSearch{past == before.objects.end() ? none : *past, object, seconds,
                                  findings}
                .run();
        }
    }
    return findings;
}

}  // namespace sluice
