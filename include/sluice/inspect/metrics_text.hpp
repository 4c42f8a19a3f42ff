#pragma once

#include <sluice/base/utf8.hpp>
#include <sluice/inspect/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// The two text formats of Prometheus. The node exporter reads only the classic one.
enum class MetricsFormat : unsigned char { classic, openMetrics };

/// The value of the field Content-Type with which a server sends the text.
[[nodiscard]] constexpr std::string_view contentType(MetricsFormat format) noexcept {
    return format == MetricsFormat::classic
               ? "text/plain; version=0.0.4; charset=utf-8"
               : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

namespace detail {

/// The families of a snapshot in the order in which they first occur.
inline std::vector<const MetricFamily*> familiesOf(const Snapshot& snapshot) {
    std::vector<const MetricFamily*> families;
    for (const ObjectReadings& object : snapshot.objects) {
        for (const Reading& reading : object.readings) {
            const auto isSame = [&reading](const MetricFamily* each) {
                return each->name == reading.family->name;
            };
            if (std::none_of(families.begin(), families.end(), isSame)) {
                families.push_back(reading.family);
            }
        }
    }
    return families;
}

/// The comments before a family's samples.
inline std::string commentsOf(const MetricFamily& family, MetricsFormat format) {
    const bool isOpen = format == MetricsFormat::openMetrics;
    const bool isCounter = family.kind == MetricFamily::Kind::counter;
    const std::string name = std::string(family.name) + (isCounter && !isOpen ? "_total" : "");
    const std::string kind = isCounter                                  ? "counter"
                             : family.kind == MetricFamily::Kind::gauge ? "gauge"
                                                                        : "summary";
    return ("# HELP " + name + " ").append(family.help) + "\n# TYPE " + name + " " + kind + "\n" +
           (isOpen && family.isTime ? "# UNIT " + name + " seconds\n" : "");
}

/// Appends a label, with escapes, and with U+FFFD for each byte that is not UTF-8.
inline void addLabel(std::string& to, std::string_view label, std::string_view value) {
    to.append(to.back() == '{' ? "" : ",").append(label).append("=\"");
    while (!value.empty()) {
        const std::size_t size = characterSize(value, 0);
        const std::string_view character = value.substr(0, std::max<std::size_t>(size, 1));
        to += size == 0           ? "\xEF\xBF\xBD"
              : character == "\n" ? "\\n"
              : character == "\\" ? "\\\\"
              : character == "\"" ? "\\\""
                                  : character;
        value.remove_prefix(character.size());
    }
    to += '"';
}

inline std::string sampleOf(const ObjectReadings& object, const Reading& reading) {
    const MetricFamily& family = *reading.family;
    const bool isSummary = family.kind == MetricFamily::Kind::summary;
    std::string line(family.name);
    line += family.kind == MetricFamily::Kind::counter ? "_total" : isSummary ? "_" : "";
    line.append(isSummary ? reading.reason : "") += '{';
    addLabel(line, family.label, object.name);
    for (const auto& [label, value] :
         {std::pair<std::string_view, std::string_view>{"type", reading.type},
          {"priority", reading.priority},
          {"reason", isSummary ? std::string_view() : reading.reason}}) {
        if (!value.empty()) {
            addLabel(line, label, value);
        }
    }
    line += "} ";
    if (family.isTime && !(isSummary && reading.reason == "count")) {
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
/// one text, because a family may occur in it only once. Bytes of names that are not UTF-8 become
/// replacement characters.
template <class Sink>
void writeMetrics(const Snapshot& snapshot, Sink&& sink,
                  MetricsFormat format = MetricsFormat::classic) {
    for (const MetricFamily* const family : detail::familiesOf(snapshot)) {
        sink(std::string_view(detail::commentsOf(*family, format)));
        for (const ObjectReadings& object : snapshot.objects) {
            for (const Reading& reading : object.readings) {
                if (reading.family->name == family->name) {
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
