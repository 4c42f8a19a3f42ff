#include <sluice/bus/bus.hpp>
#include <sluice/inspect/inspector.hpp>
#include <sluice/inspect/prometheus_collector.hpp>

#include <cstddef>

/// The number of families that a collector gives, if prometheus-cpp is installed.
std::size_t familiesOfOneBus() {
    const sluice::Bus<sluice::Messages<int>> bus{};
    sluice::Inspector inspector;
    const auto watch = inspector.watch("bus", bus);
    return sluice::PrometheusCollector(inspector).Collect().size();
}
