#pragma once

#include <sluice/inspect/detail/texts.hpp>
#include <sluice/inspect/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The two text formats of Prometheus. The node exporter reads only the classic one.
enum class MetricsFormat : unsigned char { classic, openMetrics };

namespace detail {

/// The first reading of each metric.
inline std::vector<const Reading*> metricsOf(const Snapshot& snapshot) {
    std::vector<const Reading*> metrics;
    for (const ObjectReadings& object : snapshot.objects) {
        for (const Reading& reading : object.readings) {
            if (std::none_of(metrics.begin(), metrics.end(),
                             [&](const Reading* each) { return each->metric == reading.metric; })) {
                metrics.push_back(&reading);
            }
        }
    }
    return metrics;
}

/// The comments before the samples of a metric.
inline std::string commentsOf(const Reading& metric, MetricsFormat format) {
    const bool isOpen = format == MetricsFormat::openMetrics;
    const std::string name = metric.metric + (metric.isCounter && !isOpen ? "_total" : "");
    return "# HELP " + name + " " + metric.help + "\n# TYPE " + name +
           (metric.isCounter ? " counter\n" : " gauge\n") +
           (isOpen && metric.isTime() ? "# UNIT " + name + " seconds\n" : "");
}

inline void addLabel(std::string& to, std::string_view label, std::string_view value) {
    if (!value.empty()) {
        to.append(to.back() == '{' ? "" : ",").append(label).append("=");
        appendQuoted(to, value);
    }
}

inline std::string sampleOf(const ObjectReadings& object, const Reading& reading) {
    std::string line = reading.metric + (reading.isCounter ? "_total{" : "{");
    addLabel(line, "object", object.name);
    addLabel(line, "type", reading.type);
    addLabel(line, "priority", reading.priority);
    addLabel(line, "reason", reading.reason);
    line += "} ";
    if (reading.isTime()) {
        constexpr std::uint64_t second = 1'000'000'000;
        line += std::to_string(reading.value / second) + ".";
        line += std::to_string(second + reading.value % second).substr(1);  // nine digits
    } else {
        line += std::to_string(reading.value);
    }
    return line += '\n';
}

}  // namespace detail

/// Writes a snapshot as text for Prometheus, line by line to sink(std::string_view). Use it to
/// answer a scrape, or to write a file for the node exporter. Write all objects of a program into
/// one text, because a metric may occur in it only once. The label `object` has the object's name:
/// `sluice_bus_queued{object="control"}`.
template <class Sink>
void writeMetrics(const Snapshot& snapshot, Sink&& sink,
                  MetricsFormat format = MetricsFormat::classic) {
    for (const Reading* const metric : detail::metricsOf(snapshot)) {
        sink(std::string_view(detail::commentsOf(*metric, format)));
        for (const ObjectReadings& object : snapshot.objects) {
            for (const Reading& reading : object.readings) {
                if (reading.metric == metric->metric) {
                    sink(std::string_view(detail::sampleOf(object, reading)));
                }
            }
        }
    }
    if (format == MetricsFormat::openMetrics) {
        sink(std::string_view("# EOF\n"));
    }
}

}  // namespace sluice
