#pragma once

#include <sluice/inspect/inspector.hpp>
#include <sluice/inspect/metrics_text.hpp>
#include <sluice/inspect/snapshot.hpp>

#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <string_view>
#include <vector>

namespace sluice {

/// Collects the numbers of an Inspector for programs that expose their metrics with prometheus-cpp.
///
///     const auto collector = std::make_shared<sluice::PrometheusCollector>(inspector);
///     exposer.RegisterCollectable(collector);
///
/// Use it beside other metrics of prometheus-cpp, and metrics_text.hpp, which has the same
/// families, without this library. <sluice/inspect.hpp> does not include it. With CMake,
/// find_package(prometheus-cpp) and link sluice::inspect_prometheus. The inspector must outlive the
/// collector. Values are double, as everywhere in prometheus-cpp: beyond 2^53 the last digits are
/// lost.
class PrometheusCollector final : public prometheus::Collectable {
public:
    explicit PrometheusCollector(const Inspector& inspector) noexcept : inspector_(inspector) {}

    /// Called by prometheus-cpp, on any thread.
    [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
        const Snapshot snapshot = inspector_.snapshot();
        std::vector<prometheus::MetricFamily> families;
        for (const MetricFamily* const family : detail::familiesOf(snapshot)) {
            prometheus::MetricFamily& shown = families.emplace_back();
            shown.name = family->name;
            shown.name += family->kind == Kind::counter ? "_total" : "";
            shown.help = family->help;
            shown.type = family->kind == Kind::counter ? prometheus::MetricType::Counter
                         : family->kind == Kind::gauge ? prometheus::MetricType::Gauge
                                                       : prometheus::MetricType::Summary;
            for (const ObjectReadings& object : snapshot.objects) {
                for (const Reading& reading : object.readings) {
                    if (reading.family->name == family->name) {
                        add(shown, object, reading);
                    }
                }
            }
        }
        return families;
    }

private:
    using Kind = MetricFamily::Kind;

    static void add(prometheus::MetricFamily& family, const ObjectReadings& object,
                    const Reading& reading) {
        const bool isSum = reading.reason == "sum" && reading.family->kind == Kind::summary;
        if (!isSum) {  // a sum belongs to the count before it
            prometheus::ClientMetric& metric = family.metric.emplace_back();
            detail::forEachLabel(
                object, reading, [&metric](std::string_view name, std::string_view value) {
                    prometheus::ClientMetric::Label& label = metric.label.emplace_back();
                    label.name = name;
                    detail::forEachUtf8Part(value,
                                            [&](std::string_view part) { label.value += part; });
                });
        }
        prometheus::ClientMetric& metric = family.metric.back();
        const auto number = static_cast<double>(reading.value);
        const double value = reading.family->isTime ? number / 1e9 : number;
        if (isSum) {
            metric.summary.sample_sum = value;
        } else if (reading.family->kind == Kind::summary) {
            metric.summary.sample_count = reading.value;
        } else if (reading.family->kind == Kind::counter) {
            metric.counter.value = value;
        } else {
            metric.gauge.value = value;
        }
    }

    const Inspector& inspector_;
};

}  // namespace sluice
