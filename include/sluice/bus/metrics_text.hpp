#pragma once

/// \file
/// The accounts of buses as text in the OpenMetrics format, which Prometheus and its kin read.
///
/// Use it to answer a scrape, or to write the text to a file for a collector. It asks for nothing
/// but a function that takes text, opens no socket, allocates nothing, and depends on no locale.
///
///     const auto statistics = bus.statistics();
///     static constexpr std::string_view types[] = {"Sample", "Alarm"};
///     const sluice::BusMetrics shown[] = {{"vehicle", statistics, types}};
///     std::string page;
///     sluice::writeMetrics(shown, [&](std::string_view text) { page += text; });
///
/// Families: messages published, rejected (by reason), dropped, delivered, discarded and failed
/// calls of handlers as counters, messages in the bus as a gauge, all by bus, type and priority;
/// the time in the bus as a summary, and the longest one as a gauge, by bus and priority; the most
/// messages that were there at once as a gauge, by bus. All buses of a program belong in one text,
/// as a family may stand in it only once.
///
/// Origin of the format: OpenMetrics 1.0.
///
/// Tests: tests/unit/bus/metrics_text_test.cpp.

#include <sluice/bus/bus_statistics.hpp>
#include <sluice/bus/priority.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace sluice {

/// What a server says of the text in the field Content-Type.
inline constexpr std::string_view metricsContentType =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// One bus as it is to be shown: its name, its accounts, and the names of its types in the order of
/// its Messages. Refers to all three.
class BusMetrics {
public:
    template <std::size_t TypeCount>
    BusMetrics(std::string_view bus, const BusStatistics<TypeCount>& statistics,
               const std::string_view (&types)[TypeCount]) noexcept
        : bus_(bus),
          types_(types),
          typeCount_(TypeCount),
          counts_(statistics.counts.data()),
          times_(statistics.times),
          highWater_(statistics.highWater) {}
    /// The accounts must stay.
    template <std::size_t TypeCount>
    BusMetrics(std::string_view, const BusStatistics<TypeCount>&&,
               const std::string_view (&)[TypeCount]) = delete;

    [[nodiscard]] std::string_view bus() const noexcept { return bus_; }
    [[nodiscard]] std::size_t typeCount() const noexcept { return typeCount_; }
    [[nodiscard]] std::string_view type(std::size_t i) const noexcept { return types_[i]; }
    [[nodiscard]] const MessageCounts& counts(std::size_t type, Priority priority) const noexcept {
        return counts_[type][static_cast<std::size_t>(priority)];
    }
    [[nodiscard]] const QueueTimes& times(Priority priority) const noexcept {
        return times_[static_cast<std::size_t>(priority)];
    }
    [[nodiscard]] std::size_t highWater() const noexcept { return highWater_; }

private:
    std::string_view bus_;
    const std::string_view* types_;
    std::size_t typeCount_;
    const std::array<MessageCounts, priorityCount>* counts_;
    const std::array<QueueTimes, priorityCount>& times_;
    std::size_t highWater_;
};

namespace detail {

/// Writes the parts of an OpenMetrics text to sink(std::string_view).
template <class Sink>
class MetricsWriter {
public:
    using Label = std::pair<std::string_view, std::string_view>;

    explicit MetricsWriter(Sink& sink) noexcept : sink_(sink) {}

    /// Begins a family; samples that follow belong to it.
    void family(std::string_view name, std::string_view type, std::string_view unit,
                std::string_view help) {
        name_ = name;
        describe("TYPE", type);
        if (!unit.empty()) {
            describe("UNIT", unit);
        }
        describe("HELP", help);
    }

    void count(std::string_view suffix, std::initializer_list<Label> labels, std::uint64_t value) {
        begin(suffix, labels);
        number(value, 1);
        sink_("\n");
    }
    void seconds(std::string_view suffix, std::initializer_list<Label> labels,
                 std::chrono::nanoseconds value) {
        constexpr std::uint64_t second = 1'000'000'000;
        const auto whole = static_cast<std::uint64_t>(value.count());
        begin(suffix, labels);
        number(whole / second, 1);
        sink_(".");
        number(whole % second, 9);
        sink_("\n");
    }

    void end() { sink_("# EOF\n"); }

private:
    void describe(std::string_view what, std::string_view text) {
        for (const std::string_view part :
             {std::string_view("# "), what, std::string_view(" "), name_, std::string_view(" "),
              text, std::string_view("\n")}) {
            sink_(part);
        }
    }

    void begin(std::string_view suffix, std::initializer_list<Label> labels) {
        sink_(name_);
        sink_(suffix);
        std::string_view separator = "{";
        for (const auto& [label, value] : labels) {
            sink_(separator);
            sink_(label);
            sink_("=\"");
            escaped(value);
            sink_("\"");
            separator = ",";
        }
        sink_("} ");
    }

    /// Backslashes, quotes and line ends would end the value of a label.
    void escaped(std::string_view text) {
        while (!text.empty()) {
            const std::size_t plain = std::min(text.find_first_of("\\\"\n"), text.size());
            sink_(text.substr(0, plain));
            text.remove_prefix(plain);
            if (!text.empty()) {
                sink_(text.front() == '\n' ? "\\n" : text.front() == '"' ? "\\\"" : "\\\\");
                text.remove_prefix(1);
            }
        }
    }

    /// With leading zeros up to so many digits.
    void number(std::uint64_t value, std::size_t digits) {
        std::array<char, 20> text{};  // as many as the largest one has
        const char* const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
        const auto length = static_cast<std::size_t>(end - text.data());
        sink_(std::string_view("00000000").substr(0, digits > length ? digits - length : 0));
        sink_(std::string_view(text.data(), length));
    }

    Sink& sink_;
    std::string_view name_;
};

/// The families of BusStatistics.
template <class Buses, class Sink>
class BusMetricsWriter {
    using Writer = MetricsWriter<Sink>;

public:
    BusMetricsWriter(const Buses& buses, Sink& sink) noexcept : buses_(buses), out_(sink) {}

    void write() {
        counter("sluice_bus_published", "Messages that were accepted.", &MessageCounts::published);
        rejected();
        counter("sluice_bus_dropped", "Accepted messages that made room for later ones.",
                &MessageCounts::dropped);
        counter("sluice_bus_delivered", "Accepted messages that went to their handlers.",
                &MessageCounts::delivered);
        counter("sluice_bus_discarded", "Accepted messages that were thrown away.",
                &MessageCounts::discarded);
        counter("sluice_bus_handler_failures", "Calls of handlers that threw.",
                &MessageCounts::failed);
        queued();
        highWater();
        times();
        out_.end();
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
        out_.family(name, "counter", "", help);
        forEachCounts([&](const MessageCounts& counts, std::string_view bus, std::string_view type,
                          std::string_view priority) {
            out_.count("_total", {{"bus", bus}, {"type", type}, {"priority", priority}},
                       counts.*member);
        });
    }

    void rejected() {
        out_.family("sluice_bus_rejected", "counter", "", "Messages that were not accepted.");
        forEachCounts([&](const MessageCounts& counts, std::string_view bus, std::string_view type,
                          std::string_view priority) {
            for (const auto& [reason, count] :
                 {std::pair<std::string_view, std::uint64_t>{"full", counts.full},
                  {"refused", counts.refused},
                  {"closed", counts.closed}}) {
                out_.count(
                    "_total",
                    {{"bus", bus}, {"type", type}, {"priority", priority}, {"reason", reason}},
                    count);
            }
        });
    }

    void queued() {
        out_.family("sluice_bus_queued", "gauge", "", "Messages in the bus.");
        forEachCounts([&](const MessageCounts& counts, std::string_view bus, std::string_view type,
                          std::string_view priority) {
            out_.count("", {{"bus", bus}, {"type", type}, {"priority", priority}}, counts.queued());
        });
    }

    void highWater() {
        out_.family("sluice_bus_high_water", "gauge", "",
                    "The most messages that were in the bus at once.");
        for (const BusMetrics& bus : buses_) {
            out_.count("", {{"bus", bus.bus()}}, bus.highWater());
        }
    }

    void times() {
        out_.family("sluice_bus_queue_time_seconds", "summary", "seconds",
                    "How long messages were in the bus.");
        forEachTimes(
            [this](const QueueTimes& times, std::string_view bus, std::string_view priority) {
                out_.count("_count", {{"bus", bus}, {"priority", priority}}, times.count);
                out_.seconds("_sum", {{"bus", bus}, {"priority", priority}}, times.sum);
            });
        out_.family("sluice_bus_longest_queue_time_seconds", "gauge", "seconds",
                    "The longest that a message was in the bus.");
        forEachTimes(
            [this](const QueueTimes& times, std::string_view bus, std::string_view priority) {
                out_.seconds("", {{"bus", bus}, {"priority", priority}}, times.max);
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
    Writer out_;
};

}  // namespace detail

/// Writes the whole text, to its last line `# EOF`, in many small pieces to sink(std::string_view).
/// `buses` is a range of BusMetrics, whose names differ.
template <class Buses, class Sink>
void writeMetrics(const Buses& buses, Sink&& sink) {
    detail::BusMetricsWriter(buses, sink).write();
}

}  // namespace sluice
