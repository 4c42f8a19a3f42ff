#pragma once

#include <sluice/bus/priority.hpp>
#include <sluice/inspect/detail/families.hpp>
#include <sluice/inspect/snapshot.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
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

/// Compares two snapshots.
class FindingSearch {
public:
    FindingSearch(const Snapshot& before, const Snapshot& now)
        : before_(before),
          now_(now),
          seconds_(std::chrono::duration<double>(now.time - before.time).count()) {}

    std::vector<Finding> run() {
        for (const ObjectReadings& object : now_.objects) {
            const ObjectReadings* const past = before_.find(object.id);
            object_ = &object;
            past_ = past == nullptr ? &none_ : past;
            bus();
            handlers();
            queues();
            rest();
        }
        return std::move(findings_);
    }

private:
    using Family = MetricFamily;

    void bus() {
        using namespace families;
        for (const Priority each : {Priority::high, Priority::medium, Priority::low}) {
            const std::string_view priority = toString(each);
            if (const std::uint64_t full = grown(busRejected, priority, "full"); full != 0) {
                std::string text =
                    std::string(priority) + " is refused: " + rate(full) +
                    " messages/s found no room, " +
                    part(object_->sum(busQueued, priority), object_->sum(busRoom, priority)) +
                    " places are taken now";
                if (const std::uint64_t count = grown(busTime, priority, "count"); count != 0) {
                    text += ", messages wait " + duration(grown(busTime, priority, "sum") / count) +
                            " on average";
                }
                add(true, text + busyText());
            }
            if (const std::uint64_t lost = grown(busDropped, priority); lost != 0) {
                add(true, std::string(priority) + " loses old messages: " + rate(lost) + "/s");
            }
            if (const std::uint64_t late = grown(busExpired, priority); late != 0) {
                add(true, std::string(priority) +
                              " messages expire before their handlers run: " + rate(late) + "/s");
            }
        }
        counted(busRejected, "closed", "messages/s are refused, because it is closed");
        counted(busFailures, {}, "calls of handlers/s throw");
        counted(busUnhandled, {}, "messages/s have no handler", false);
    }

    void handlers() {
        using namespace families;
        if (grown(busRejected, {}, "full") == 0 && isBusy()) {  // else it stands in the refusal
            add(false, busyText().substr(2));
        }
        counted(objectRejected, "full", "messages/s are refused, because it is full", true,
                busyText());
        counted(objectRejected, "closed", "messages/s are refused, because it has ended");
        counted(objectFailures, {}, "handlers/s throw");
    }

    void queues() {
        using namespace families;
        filled(queueLength, queueRoom, "messages wait");
        filled(objectQueued, objectRoom, "messages wait");
        filled(poolUsed, poolSize, "blocks are in use");
        counted(queueDropped, {}, "old messages/s are dropped");
        counted(eventsRejected, {}, "events/s are refused");
        counted(poolExhausted, {}, "allocations/s find no block");
    }

    void rest() {
        using namespace families;
        counted(readFailures, {}, "readings/s throw: its numbers are not whole");
        counted(logRejected, {}, "records/s are refused");
        counted(logDropped, {}, "old records/s are dropped");
        counted(logLost, {}, "records/s are lost in sinks");
        for (const Reading& each : object_->readings) {
            if (each.family->name == watchdogLate.name && each.value != 0) {
                add(true, "a handler of '" + each.type + "' has not returned in time");
            }
        }
    }

    /// A family's growth since the earlier snapshot.
    [[nodiscard]] std::uint64_t grown(const Family& family, std::string_view priority = {},
                                      std::string_view reason = {}) const noexcept {
        const std::uint64_t now = object_->sum(family, priority, reason);
        const std::uint64_t past = past_->sum(family, priority, reason);
        return now > past ? now - past : 0;
    }

    void counted(const Family& family, std::string_view reason, std::string_view what,
                 bool isFault = true, const std::string& why = {}) {
        if (const std::uint64_t count = grown(family, {}, reason); count != 0) {
            add(isFault, rate(count).append(" ").append(what) + why);
        }
    }

    /// A warning from nine tenths on.
    void filled(const Family& used, const Family& room, std::string_view what) {
        const std::uint64_t all = object_->sum(room);
        const std::uint64_t taken = object_->sum(used);
        if (all != 0 && taken >= all - all / 10) {
            const std::string text = part(taken, all).append(" ").append(what);
            add(false, (taken >= all ? "full: " : "almost full: ") + text);
        }
    }

    [[nodiscard]] bool isBusy() const noexcept {
        return static_cast<double>(grown(families::objectBusy)) >= 0.8e9 * seconds_;
    }
    /// Which part of the time the handlers take; empty without Traits::handlerTimes.
    [[nodiscard]] std::string busyText() const {
        const std::uint64_t busy = grown(families::objectBusy);
        const std::uint64_t count = grown(families::objectHandled);
        if (busy == 0 || count == 0) {
            return {};
        }
        return ": its handlers take " +
               decimal(std::min(100.0, static_cast<double>(busy) / (1e7 * seconds_)), "%.0f") +
               " % of its thread's time, " + duration(busy / count) + " for a message";
    }

    void add(bool isFault, std::string text) {
        findings_.push_back({isFault, object_->name, std::move(text)});
    }

    static std::string decimal(double value, const char* format) {
        std::array<char, 32> text{};
        (void)std::snprintf(text.data(), text.size(), format, value);
        return text.data();
    }
    [[nodiscard]] std::string rate(std::uint64_t count) const {
        const double perSecond = static_cast<double>(count) / seconds_;
        return decimal(perSecond, perSecond < 10 ? "%.1f" : "%.0f");
    }
    static std::string part(std::uint64_t taken, std::uint64_t all) {
        return std::to_string(taken) + " of " + std::to_string(all);
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

    const Snapshot& before_;
    const Snapshot& now_;
    const double seconds_;
    const ObjectReadings none_{};
    const ObjectReadings* object_ = nullptr;
    const ObjectReadings* past_ = nullptr;
    std::vector<Finding> findings_;
};

}  // namespace detail

/// Returns what went wrong between two snapshots of one inspector, in words: refused and lost
/// messages, full queues, busy and late handlers, lost log records. An object that the earlier
/// snapshot lacks is compared with zero. Returns nothing if no time has passed between the two.
[[nodiscard]] inline std::vector<Finding> findings(const Snapshot& before, const Snapshot& now) {
    return now.time > before.time ? detail::FindingSearch(before, now).run()
                                  : std::vector<Finding>();
}

}  // namespace sluice
