#include <sluice/inspect/bus_metrics.hpp>

#include <string_view>

using sluice::BusMetrics;
using sluice::BusStatistics;

#if CASE == 0
std::size_t allThatTheOtherCasesNearlyAre(const BusStatistics<1>& statistics) {
    static constexpr std::string_view types[] = {"Sample"};
    return BusMetrics("bus", statistics, types).typeCount();
}
#elif CASE == 1
// EXPECT: use of deleted function|call to deleted constructor
std::size_t nameTypesThatGoAwayAtOnce(const BusStatistics<1>& statistics) {
    const BusMetrics metrics("bus", statistics, {"Sample"});
    return metrics.typeCount();
}
#elif CASE == 2
// EXPECT: use of deleted function|call to deleted constructor
std::size_t nameTypesInATemporaryArray(const BusStatistics<1>& statistics) {
    using Names = std::string_view[1];
    const BusMetrics metrics("bus", statistics, Names{"Sample"});
    return metrics.typeCount();
}
#elif CASE == 3
// EXPECT: use of deleted function|call to deleted constructor
std::size_t showAccountsThatGoAwayAtOnce() {
    static constexpr std::string_view types[] = {"Sample"};
    const BusMetrics metrics("bus", BusStatistics<1>(), types);
    return metrics.typeCount();
}
#endif
