#pragma once

#include <sluice/base/utf8.hpp>
#include <sluice/bus/bus_statistics.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/inspect/bus_metrics.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace sluice::detail {

enum class MetricKind : unsigned char { counter, gauge, summary };

/// Name and value.
using MetricLabel = std::pair<std::string_view, std::string_view>;
using MetricLabels = std::initializer_list<MetricLabel>;

/// Calls f(part) for each part of a text, with U+FFFD for each byte that is not UTF-8.
template <class F>
void forEachUtf8Part(std::string_view text, const F& f) {
    while (!text.empty()) {
        std::size_t valid = 0;
        while (valid != text.size() && characterSize(text, valid) != 0) {
            valid += characterSize(text, valid);
        }
        f(text.substr(0, valid));
        if (valid != text.size()) {
            f("\xEF\xBF\xBD");
            ++valid;
        }
        text.remove_prefix(valid);
    }
}

/// Turns the counts of buses into families of metrics. It calls family() of the backend for each
/// family, and then one of the other functions for each sample in the family:
///
///     void family(std::string_view name, MetricKind, std::string_view help);
///     void value(MetricLabels, std::uint64_t);             // of a counter or gauge
///     void value(MetricLabels, std::chrono::nanoseconds);
///     void summary(MetricLabels, std::uint64_t count, std::chrono::nanoseconds sum);
template <class Buses, class Backend>
class BusFamilies {
public:
    BusFamilies(const Buses& buses, Backend& backend) noexcept : buses_(buses), out_(backend) {}

    void tell() {
        counter("sluice_bus_published_total", "Messages that were accepted and have left the bus.",
                &MessageCounts::published);
        rejected();
        counter("sluice_bus_dropped_total", "Accepted messages that made room for later ones.",
                &MessageCounts::dropped);
        counter("sluice_bus_delivered_total", "Accepted messages that went to their handlers.",
                &MessageCounts::delivered);
        counter("sluice_bus_unhandled_total", "Accepted messages that no handler took.",
                &MessageCounts::unhandled);
        counter("sluice_bus_discarded_total", "Accepted messages that were thrown away.",
                &MessageCounts::discarded);
        counter("sluice_bus_expired_total", "Accepted messages whose time was over.",
                &MessageCounts::expired);
        counter("sluice_bus_handler_failures_total", "Calls of handlers that threw.",
                &MessageCounts::failed);
        queued();
        highWater();
        times();
    }

private:
    static constexpr std::array<Priority, priorityCount> priorities{Priority::low, Priority::medium,
                                                                    Priority::high};

    /// Calls f(counts, bus, type, priority) for each type and priority of each bus.
    template <class F>
    void forEachCounts(F&& f) {
        for (const BusMetrics& bus : buses_) {
            for (std::size_t type = 0; type < bus.typeCount(); ++type) {
                for (const Priority priority : priorities) {
                    f(bus.counts(type, priority), bus.bus(), bus.type(type), toString(priority));
                }
            }
        }
    }

    void counter(std::string_view name, std::string_view help,
                 std::uint64_t MessageCounts::*member) {
        out_.family(name, MetricKind::counter, help);
        forEachCounts([&](const MessageCounts& counts, std::string_view bus, std::string_view type,
                          std::string_view priority) {
            out_.value({{"bus", bus}, {"type", type}, {"priority", priority}}, counts.*member);
        });
    }

    void rejected() {
        out_.family("sluice_bus_rejected_total", MetricKind::counter,
                    "Messages that were not accepted.");
        forEachCounts([&](const MessageCounts& counts, std::string_view bus, std::string_view type,
                          std::string_view priority) {
            for (const auto& [reason, count] :
                 {std::pair<std::string_view, std::uint64_t>{"full", counts.full},
                  {"closed", counts.closed}}) {
                out_.value(
                    {{"bus", bus}, {"type", type}, {"priority", priority}, {"reason", reason}},
                    count);
            }
        });
    }

    void queued() {
        out_.family("sluice_bus_queued", MetricKind::gauge, "Messages in the bus.");
        for (const BusMetrics& bus : buses_) {
            for (const Priority priority : priorities) {
                out_.value({{"bus", bus.bus()}, {"priority", toString(priority)}},
                           bus.queued(priority));
            }
        }
    }

    void highWater() {
        out_.family("sluice_bus_high_water", MetricKind::gauge,
                    "The most messages that were in the bus at once.");
        for (const BusMetrics& bus : buses_) {
            out_.value({{"bus", bus.bus()}}, std::uint64_t{bus.highWater()});
        }
    }

    void times() {
        out_.family("sluice_bus_queue_time_seconds", MetricKind::summary,
                    "How long messages were in the bus.");
        forEachTimes(
            [this](const QueueTimes& times, std::string_view bus, std::string_view priority) {
                out_.summary({{"bus", bus}, {"priority", priority}}, times.count, times.sum);
            });
        out_.family("sluice_bus_longest_queue_time_seconds", MetricKind::gauge,
                    "The longest that a message was in the bus.");
        forEachTimes(
            [this](const QueueTimes& times, std::string_view bus, std::string_view priority) {
                out_.value({{"bus", bus}, {"priority", priority}}, times.max);
            });
    }

    template <class F>
    void forEachTimes(F&& f) {
        for (const BusMetrics& bus : buses_) {
            for (const Priority priority : priorities) {
                f(bus.times(priority), bus.bus(), toString(priority));
            }
        }
    }

    const Buses& buses_;
    Backend& out_;
};

}  // namespace sluice::detail
