#pragma once

#include <sluice/bus/bus_statistics.hpp>
#include <sluice/inspect/bus_metrics.hpp>
#include <sluice/inspect/detail/bus_families.hpp>

#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {

namespace detail {

/// Builds families and their samples as objects of prometheus-cpp.
class PrometheusFamilies {
public:
    void family(std::string_view name, MetricKind kind, std::string_view help) {
        prometheus::MetricFamily& family = families_.emplace_back();
        family.name = name;
        family.help = help;
        switch (kind) {
        case MetricKind::counter:
            family.type = prometheus::MetricType::Counter;
            break;
        case MetricKind::gauge:
            family.type = prometheus::MetricType::Gauge;
            break;
        case MetricKind::summary:
            family.type = prometheus::MetricType::Summary;
            break;
        }
    }

    void value(MetricLabels labels, std::uint64_t value) {
        set(add(labels), static_cast<double>(value));
    }
    void value(MetricLabels labels, std::chrono::nanoseconds value) {
        set(add(labels), seconds(value));
    }
    void summary(MetricLabels labels, std::uint64_t count, std::chrono::nanoseconds sum) {
        prometheus::ClientMetric::Summary& summary = add(labels).summary;
        summary.sample_count = count;
        summary.sample_sum = seconds(sum);
    }

    [[nodiscard]] std::vector<prometheus::MetricFamily> take() noexcept {
        return std::move(families_);
    }

private:
    static double seconds(std::chrono::nanoseconds time) noexcept {
        return std::chrono::duration<double>(time).count();
    }

    prometheus::ClientMetric& add(MetricLabels labels) {
        prometheus::ClientMetric& metric = families_.back().metric.emplace_back();
        for (const auto& [name, value] : labels) {
            prometheus::ClientMetric::Label& label = metric.label.emplace_back();
            label.name = name;
            forEachUtf8Part(value, [&](std::string_view part) { label.value += part; });
        }
        return metric;
    }

    void set(prometheus::ClientMetric& metric, double value) const noexcept {
        if (families_.back().type == prometheus::MetricType::Counter) {
            metric.counter.value = value;
        } else {
            metric.gauge.value = value;
        }
    }

    std::vector<prometheus::MetricFamily> families_;
};

}  // namespace detail

/// Collects the counts of buses for programs that expose their metrics with prometheus-cpp.
///
///     static constexpr std::string_view types[] = {"Sample", "Alarm"};  // as in its Messages
///     const auto collector = std::make_shared<sluice::PrometheusCollector>();
///     (void)collector->add("vehicle", bus, types);
///     exposer.RegisterCollectable(collector);
///
/// Use it beside other metrics of prometheus-cpp, and metrics_text.hpp, which has the same
/// families, without this library. <sluice/inspect.hpp> does not include it. With CMake,
/// find_package(prometheus-cpp) and link sluice::inspect_prometheus.
///
/// Add all buses of a program to one collector, because a family may occur only once. A bus must
/// outlive the collector, or be removed before. Counter names end with `_total`. Values are double,
/// as everywhere in prometheus-cpp: beyond 2^53 the last digits are lost.
///
/// Thread safety: any thread may call any member. A scrape reads the counts like Bus::statistics(),
/// and blocks no publisher or consumer. add() and remove() wait for a running scrape.
///
/// Performance: allocates when a bus is added, and in each scrape.
class PrometheusCollector final : public prometheus::Collectable {
public:
    PrometheusCollector() = default;
    PrometheusCollector(const PrometheusCollector&) = delete;
    PrometheusCollector& operator=(const PrometheusCollector&) = delete;
    ~PrometheusCollector() override = default;

    /// Adds a bus, or any object whose statistics() are BusStatistics, with the names of its types
    /// in the order of its Messages. These must differ, and outlive the collector, like literals.
    /// Returns false, and adds nothing, if there is a bus of this name.
    template <class Bus, std::size_t TypeCount>
    [[nodiscard]] bool add(std::string name, const Bus& bus,
                           const std::string_view (&types)[TypeCount]) {
        static_assert(std::is_same_v<decltype(bus.statistics()), BusStatistics<TypeCount>>,
                      "a collector needs one name for each type of message of the bus");
        auto shown = std::make_unique<ShownBus<Bus, TypeCount>>(std::move(name), bus, types);
        const std::lock_guard lock(mutex_);
        if (find(shown->name()) != buses_.end()) {
            return false;
        }
        buses_.push_back(std::move(shown));
        return true;
    }
    /// Refused: a temporary bus.
    template <class Bus, std::size_t TypeCount>
    bool add(std::string, const Bus&&, const std::string_view (&)[TypeCount]) = delete;

    /// Removes a bus, which is not read after the return. Returns false if there is none of this
    /// name.
    bool remove(std::string_view name) {
        const std::lock_guard lock(mutex_);
        const auto place = find(name);
        if (place == buses_.end()) {
            return false;
        }
        buses_.erase(place);
        return true;
    }

    /// Called by prometheus-cpp.
    [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
        const std::lock_guard lock(mutex_);
        std::vector<BusMetrics> metrics;
        metrics.reserve(buses_.size());
        for (const std::unique_ptr<Shown>& bus : buses_) {
            metrics.push_back(bus->read());
        }
        detail::PrometheusFamilies families;
        detail::BusFamilies(metrics, families).tell();
        return families.take();
    }

private:
    /// A bus of any type.
    class Shown {
    public:
        explicit Shown(std::string name) noexcept : name_(std::move(name)) {}
        Shown(const Shown&) = delete;
        Shown& operator=(const Shown&) = delete;
        virtual ~Shown() = default;

        [[nodiscard]] const std::string& name() const noexcept { return name_; }
        /// The present counts of the bus, valid until the next read().
        [[nodiscard]] virtual BusMetrics read() = 0;

    private:
        std::string name_;
    };

    template <class Bus, std::size_t TypeCount>
    class ShownBus final : public Shown {
    public:
        ShownBus(std::string name, const Bus& bus, const std::string_view (&types)[TypeCount])
            : Shown(std::move(name)), bus_(bus) {
            std::copy_n(types, TypeCount, types_);
        }

        [[nodiscard]] BusMetrics read() override {
            statistics_ = bus_.statistics();
            return {name(), statistics_, types_};
        }

    private:
        const Bus& bus_;
        std::string_view types_[TypeCount];
        BusStatistics<TypeCount> statistics_{};
    };

    using Buses = std::vector<std::unique_ptr<Shown>>;

    [[nodiscard]] Buses::iterator find(std::string_view name) noexcept {
        return std::find_if(buses_.begin(), buses_.end(),
                            [&](const std::unique_ptr<Shown>& bus) { return bus->name() == name; });
    }

    mutable std::mutex mutex_;
    Buses buses_;
};

}  // namespace sluice
