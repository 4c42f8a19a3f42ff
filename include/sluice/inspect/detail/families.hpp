#pragma once

#include <sluice/inspect/snapshot.hpp>

#include <string_view>

/// The families of numbers that an Inspector reads.
namespace sluice::detail::families {

using Kind = MetricFamily::Kind;

/// The label of `sluice_bus_queued` is `bus`.
constexpr MetricFamily family(std::string_view name, Kind kind, bool isTime,
                              std::string_view help) noexcept {
    return {name, name.substr(7, name.find('_', 7) - 7), kind, isTime, help};
}
constexpr MetricFamily counter(std::string_view name, std::string_view help) noexcept {
    return family(name, Kind::counter, false, help);
}
constexpr MetricFamily gauge(std::string_view name, std::string_view help) noexcept {
    return family(name, Kind::gauge, false, help);
}

inline constexpr MetricFamily readFailures{"sluice_read_failures", "object", Kind::counter, false,
                                           "Readings of the object that threw."};

inline constexpr auto busPublished =
    counter("sluice_bus_published", "Messages that were accepted and have left the bus.");
inline constexpr auto busRejected =
    counter("sluice_bus_rejected", "Messages that were not accepted.");
inline constexpr auto busDropped =
    counter("sluice_bus_dropped", "Accepted messages that made room for later ones.");
inline constexpr auto busDelivered =
    counter("sluice_bus_delivered", "Accepted messages that went to their handlers.");
inline constexpr auto busUnhandled =
    counter("sluice_bus_unhandled", "Accepted messages that no handler took.");
inline constexpr auto busDiscarded =
    counter("sluice_bus_discarded", "Accepted messages that were thrown away.");
inline constexpr auto busExpired =
    counter("sluice_bus_expired", "Accepted messages whose time was over.");
inline constexpr auto busFailures =
    counter("sluice_bus_handler_failures", "Calls of handlers that threw.");
inline constexpr auto busQueued = gauge("sluice_bus_queued", "Messages in the bus.");
inline constexpr auto busRoom =
    gauge("sluice_bus_room", "The most messages that a priority may have in the bus.");
inline constexpr auto busHighWater =
    gauge("sluice_bus_high_water", "The most messages that were in the bus at once.");
inline constexpr auto busTime = family("sluice_bus_queue_time_seconds", Kind::summary, true,
                                       "How long messages were in the bus.");
inline constexpr auto busLongestTime = family("sluice_bus_longest_queue_time_seconds", Kind::gauge,
                                              true, "The longest that a message was in the bus.");

// The times are 0 without Traits::handlerTimes.
inline constexpr auto objectHandled =
    counter("sluice_object_handled", "Handlers that have run, also for timers.");
inline constexpr auto objectBusy =
    family("sluice_object_handler_seconds", Kind::counter, true, "How long handlers have run.");
inline constexpr auto objectLongest = family("sluice_object_longest_handler_seconds", Kind::gauge,
                                             true, "The longest run of a handler.");
inline constexpr auto objectFailures =
    counter("sluice_object_handler_failures", "Calls of handlers that threw.");
inline constexpr auto objectRestarts =
    counter("sluice_object_restarts", "Restarts after a failure.");
inline constexpr auto objectRejected =
    counter("sluice_object_rejected", "Messages that were not accepted.");
inline constexpr auto objectDiscarded =
    counter("sluice_object_discarded", "Accepted messages that were thrown away.");
inline constexpr auto objectQueued =
    gauge("sluice_object_queued", "Messages that wait for the object.");
inline constexpr auto objectRoom =
    gauge("sluice_object_room", "The most messages that may wait for the object.");

inline constexpr auto queueLength = gauge("sluice_queue_length", "Messages in the queue.");
inline constexpr auto queueRoom =
    gauge("sluice_queue_room", "The most messages that may be in the queue.");
inline constexpr auto queueDropped =
    counter("sluice_queue_dropped", "Messages that made room for later ones.");

inline constexpr auto eventsEnqueued = counter("sluice_events_enqueued", "Accepted events.");
inline constexpr auto eventsRejected =
    counter("sluice_events_rejected", "Events that were not accepted.");
inline constexpr auto eventsDiscarded =
    counter("sluice_events_discarded", "Accepted events that were thrown away.");
inline constexpr auto eventsProcessed =
    counter("sluice_events_processed", "Events that went to their listeners.");
inline constexpr auto eventsQueued = gauge("sluice_events_queued", "Events that wait.");
inline constexpr auto eventsHighWater =
    gauge("sluice_events_high_water", "The most events that waited at once.");

inline constexpr auto poolSize = gauge("sluice_pool_blocks", "Blocks of the pool, used or free.");
inline constexpr auto poolUsed = gauge("sluice_pool_used", "Blocks in use.");
inline constexpr auto poolExhausted =
    counter("sluice_pool_exhausted", "Allocations that found no block.");

inline constexpr auto executorObjects =
    gauge("sluice_executor_objects", "Objects that have started and not ended.");

inline constexpr auto logLogged = counter("sluice_log_logged", "Accepted records.");
inline constexpr auto logWritten =
    counter("sluice_log_written", "Records that all sinks accepted.");
inline constexpr auto logRejected =
    counter("sluice_log_rejected", "Records that were not accepted.");
inline constexpr auto logDropped =
    counter("sluice_log_dropped", "Accepted records that made room for later ones.");
inline constexpr auto logLost =
    counter("sluice_log_lost_in_sinks", "Records whose sink or formatter threw.");
inline constexpr auto logStalls =
    counter("sluice_log_stalls", "Log calls that were preempted and delayed the output.");
inline constexpr auto logQueued =
    gauge("sluice_log_queued", "Accepted records that are not yet written.");
inline constexpr auto logBytes = gauge("sluice_log_queued_bytes", "Bytes of these records.");

inline constexpr auto watchdogLate =
    gauge("sluice_watchdog_late", "Handlers that run for longer than the limit now.");
inline constexpr auto watchdogReports =
    counter("sluice_watchdog_reports", "Handlers that ran for longer than the limit.");

inline constexpr auto bridgeCount =
    gauge("sluice_bridge_count", "A number of the bridge, which the type names.");

}  // namespace sluice::detail::families
