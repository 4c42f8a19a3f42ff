#pragma once

/// \file
/// Writes the counts of buses in Prometheus' text format 0.0.4.
///
/// Use it to answer a scrape, or to write a file for the node exporter. It needs only a function
/// that takes text: no socket, allocation or locale. Use prometheus_collector.hpp with
/// prometheus-cpp.
///
///     const auto statistics = bus.statistics();
///     static constexpr std::string_view types[] = {"Sample", "Alarm"};
///     const sluice::BusMetrics shown[] = {{"vehicle", statistics, types}};
///     std::string page;
///     sluice::writeMetrics(shown, [&](std::string_view text) { page += text; });
///
/// Families:
///
/// - by bus, type and priority: messages published, rejected (by reason), dropped, delivered,
///   unhandled, discarded and expired, and failed calls of handlers, as counters; messages in the
///   bus as a gauge
/// - by bus and priority: the time in the bus as a summary, and the longest time as a gauge
/// - by bus: the most messages that were in the bus simultaneously, as a gauge
///
/// Write all buses of a program into one text, because a family may occur in it only once.

#include <sluice/inspect/bus_metrics.hpp>
#include <sluice/inspect/detail/bus_families.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

/// The value of the field Content-Type with which a server sends the text.
inline constexpr std::string_view metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

namespace detail {

/// Writes families and their samples as text to sink(std::string_view).
template <class Sink>
class MetricsText {
public:
    explicit MetricsText(Sink& sink) noexcept : sink_(sink) {}

    void family(std::string_view name, MetricKind kind, std::string_view help) {
        name_ = name;
        describe("HELP", help);
        describe("TYPE", kind == MetricKind::counter ? "counter"
                         : kind == MetricKind::gauge ? "gauge"
                                                     : "summary");
    }

    void value(MetricLabels labels, std::uint64_t value) { sample("", labels, value); }
    void value(MetricLabels labels, std::chrono::nanoseconds value) { sample("", labels, value); }
    void summary(MetricLabels labels, std::uint64_t count, std::chrono::nanoseconds sum) {
        sample("_count", labels, count);
        sample("_sum", labels, sum);
    }

private:
    void describe(std::string_view what, std::string_view text) {
        for (const std::string_view part :
             {std::string_view("# "), what, std::string_view(" "), name_, std::string_view(" "),
              text, std::string_view("\n")}) {
            sink_(part);
        }
    }

    void sample(std::string_view suffix, MetricLabels labels, std::uint64_t value) {
        begin(suffix, labels);
        number(value, 1);
        sink_("\n");
    }
    void sample(std::string_view suffix, MetricLabels labels, std::chrono::nanoseconds value) {
        constexpr std::uint64_t second = 1'000'000'000;
        const auto whole = static_cast<std::uint64_t>(value.count());
        begin(suffix, labels);
        number(whole / second, 1);
        sink_(".");
        number(whole % second, 9);
        sink_("\n");
    }

    void begin(std::string_view suffix, MetricLabels labels) {
        sink_(name_);
        sink_(suffix);
        std::string_view separator = "{";
        for (const auto& [label, value] : labels) {
            sink_(separator);
            sink_(label);
            sink_("=\"");
            forEachUtf8Part(value, [this](std::string_view part) { escaped(part); });
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

    /// Writes at least `digits` digits, with leading zeros.
    void number(std::uint64_t value, std::size_t digits) {
        std::array<char, 20> text{};  // the digits of the largest number
        const char* const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
        const auto length = static_cast<std::size_t>(end - text.data());
        sink_(std::string_view("00000000").substr(0, digits > length ? digits - length : 0));
        sink_(std::string_view(text.data(), length));
    }

    Sink& sink_;
    std::string_view name_;
};

}  // namespace detail

/// Writes the whole text in many small pieces to sink(std::string_view). `buses` is a range of
/// BusMetrics with different names.
template <class Buses, class Sink>
void writeMetrics(const Buses& buses, Sink&& sink) {
    detail::MetricsText text(sink);
    detail::BusFamilies(buses, text).tell();
}

}  // namespace sluice
