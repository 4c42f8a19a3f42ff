#pragma once

#include <sluice/base/utf8.hpp>
#include <sluice/inspect/snapshot.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
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

/// Calls f(label, value) for each label of a reading.
template <class F>
void forEachLabel(const ObjectReadings& object, const Reading& reading, const F& f) {
    f(reading.family->label, std::string_view(object.name));
    const bool isSummary = reading.family->kind == MetricFamily::Kind::summary;
    for (const auto& [label, value] :
         {std::pair<std::string_view, std::string_view>{"type", reading.type},
          {"priority", reading.priority},
          {"reason", isSummary ? "" : reading.reason}}) {
        if (!value.empty()) {
            f(label, value);
        }
    }
}

template <class Sink>
class MetricsText {
public:
    MetricsText(MetricsFormat format, Sink& sink) noexcept : format_(format), sink_(sink) {}

    void write(const Snapshot& snapshot) {
        for (const MetricFamily* const family : familiesOf(snapshot)) {
            describe(*family);
            for (const ObjectReadings& object : snapshot.objects) {
                for (const Reading& reading : object.readings) {
                    if (reading.family->name == family->name) {
                        sample(object, reading);
                    }
                }
            }
        }
        if (format_ == MetricsFormat::openMetrics) {
            sink_("# EOF\n");
        }
    }

private:
    using Kind = MetricFamily::Kind;

    void describe(const MetricFamily& family) {
        const bool isOpen = format_ == MetricsFormat::openMetrics;
        const std::string_view ending = family.kind == Kind::counter && !isOpen ? "_total" : "";
        line({"# HELP ", family.name, ending, " ", family.help, "\n"});
        line({"# TYPE ", family.name, ending, " ",
              family.kind == Kind::counter ? "counter"
              : family.kind == Kind::gauge ? "gauge"
                                           : "summary",
              "\n"});
        if (isOpen && family.isTime) {
            line({"# UNIT ", family.name, " seconds\n"});
        }
    }

    void sample(const ObjectReadings& object, const Reading& reading) {
        const MetricFamily& family = *reading.family;
        const bool isSummary = family.kind == Kind::summary;
        line({family.name, family.kind == Kind::counter ? "_total" : "", isSummary ? "_" : "",
              isSummary ? reading.reason : ""});
        std::string_view separator = "{";
        forEachLabel(object, reading, [&](std::string_view label, std::string_view value) {
            line({separator, label, "=\""});
            forEachUtf8Part(value, [this](std::string_view part) { escaped(part); });
            sink_("\"");
            separator = ",";
        });
        sink_("} ");
        if (family.isTime && !(isSummary && reading.reason == "count")) {
            constexpr std::uint64_t second = 1'000'000'000;
            number(reading.value / second, 1);
            sink_(".");
            number(reading.value % second, 9);
        } else {
            number(reading.value, 1);
        }
        sink_("\n");
    }

    void line(std::initializer_list<std::string_view> parts) {
        for (const std::string_view part : parts) {
            sink_(part);
        }
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

    const MetricsFormat format_;
    Sink& sink_;
};

}  // namespace detail

/// Writes a snapshot as text for Prometheus, in many small pieces to sink(std::string_view). It
/// needs no socket and no locale. Use it to answer a scrape, or to write a file for the node
/// exporter. Write all objects of a program into one text, because a family may occur in it only
/// once. Bytes of names that are not UTF-8 become replacement characters.
template <class Sink>
void writeMetrics(const Snapshot& snapshot, Sink&& sink,
                  MetricsFormat format = MetricsFormat::classic) {
    detail::MetricsText text(format, sink);
    text.write(snapshot);
}

}  // namespace sluice
