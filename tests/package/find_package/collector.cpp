#include <sluice/bus/bus.hpp>
#include <sluice/inspect/prometheus_collector.hpp>

#include <cstddef>
#include <string_view>

/// The number of families that a collector gives, if prometheus-cpp is installed.
std::size_t familiesOfOneBus() {
    static constexpr std::string_view types[] = {"int"};
    const sluice::Bus<sluice::Messages<int>> bus;
    sluice::PrometheusCollector collector;
    return collector.add("bus", bus, types) ? collector.Collect().size() : 0;
}
