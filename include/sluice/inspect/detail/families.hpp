#pragma once

#include <sluice/inspect/snapshot.hpp>

/// The families of numbers that an Inspector reads.
namespace sluice::detail::families {

using Kind = MetricFamily::Kind;

inline constexpr MetricFamily readFailures{"sluice_read_failures", "object", Kind::counter, false,
                                           "Readings of the object that threw."};

// ---- A bus, and the mailbox of an ActiveObject

inline constexpr MetricFamily busPublished{"sluice_bus_published", "bus", Kind::counter, false,
                                           "Messages that were accepted and have left the bus."};
inline constexpr MetricFamily busRejected{"sluice_bus_rejected", "bus", Kind::counter, false,
                                          "Messages that were not accepted."};
inline constexpr MetricFamily busDropped{"sluice_bus_dropped", "bus", Kind::counter, false,
                                         "Accepted messages that made room for later ones."};
inline constexpr MetricFamily busDelivered{"sluice_bus_delivered", "bus", Kind::counter, false,
                                           "Accepted messages that went to their handlers."};
inline constexpr MetricFamily busUnhandled{"sluice_bus_unhandled", "bus", Kind::counter, false,
                                           "Accepted messages that no handler took."};
inline constexpr MetricFamily busDiscarded{"sluice_bus_discarded", "bus", Kind::counter, false,
                                           "Accepted messages that were thrown away."};
inline constexpr MetricFamily busExpired{"sluice_bus_expired", "bus", Kind::counter, false,
                                         "Accepted messages whose time was over."};
inline constexpr MetricFamily busFailures{"sluice_bus_handler_failures", "bus", Kind::counter,
                                          false, "Calls of handlers that threw."};
inline constexpr MetricFamily busQueued{"sluice_bus_queued", "bus", Kind::gauge, false,
                                        "Messages in the bus."};
inline constexpr MetricFamily busRoom{"sluice_bus_room", "bus", Kind::gauge, false,
                                      "The most messages that a priority may have in the bus."};
inline constexpr MetricFamily busHighWater{"sluice_bus_high_water", "bus", Kind::gauge, false,
                                           "The most messages that were in the bus at once."};
inline constexpr MetricFamily busTime{"sluice_bus_queue_time_seconds", "bus", Kind::summary, true,
                                      "How long messages were in the bus."};
inline constexpr MetricFamily busLongestTime{"sluice_bus_longest_queue_time_seconds", "bus",
                                             Kind::gauge, true,
                                             "The longest that a message was in the bus."};

// ---- An active object. The times are 0 without Traits::handlerTimes.

inline constexpr MetricFamily objectHandled{"sluice_object_handled", "object", Kind::counter, false,
                                            "Handlers that have run, also for timers."};
inline constexpr MetricFamily objectBusy{"sluice_object_handler_seconds", "object", Kind::counter,
                                         true, "How long handlers have run."};
inline constexpr MetricFamily objectLongest{"sluice_object_longest_handler_seconds", "object",
                                            Kind::gauge, true, "The longest run of a handler."};
inline constexpr MetricFamily objectFailures{"sluice_object_handler_failures", "object",
                                             Kind::counter, false, "Calls of handlers that threw."};
inline constexpr MetricFamily objectRestarts{"sluice_object_restarts", "object", Kind::counter,
                                             false, "Restarts after a failure."};
inline constexpr MetricFamily objectRejected{"sluice_object_rejected", "object", Kind::counter,
                                             false, "Messages that were not accepted."};
inline constexpr MetricFamily objectDiscarded{"sluice_object_discarded", "object", Kind::counter,
                                              false, "Accepted messages that were thrown away."};
inline constexpr MetricFamily objectQueued{"sluice_object_queued", "object", Kind::gauge, false,
                                           "Messages that wait for the object."};
inline constexpr MetricFamily objectRoom{"sluice_object_room", "object", Kind::gauge, false,
                                         "The most messages that may wait for the object."};

// ---- A queue or ring

inline constexpr MetricFamily queueLength{"sluice_queue_length", "queue", Kind::gauge, false,
                                          "Messages in the queue."};
inline constexpr MetricFamily queueRoom{"sluice_queue_room", "queue", Kind::gauge, false,
                                        "The most messages that may be in the queue."};
inline constexpr MetricFamily queueDropped{"sluice_queue_dropped", "queue", Kind::counter, false,
                                           "Messages that made room for later ones."};

// ---- An EventQueue

inline constexpr MetricFamily eventsEnqueued{"sluice_events_enqueued", "events", Kind::counter,
                                             false, "Accepted events."};
inline constexpr MetricFamily eventsRejected{"sluice_events_rejected", "events", Kind::counter,
                                             false, "Events that were not accepted."};
inline constexpr MetricFamily eventsDiscarded{"sluice_events_discarded", "events", Kind::counter,
                                              false, "Accepted events that were thrown away."};
inline constexpr MetricFamily eventsProcessed{"sluice_events_processed", "events", Kind::counter,
                                              false, "Events that went to their listeners."};
inline constexpr MetricFamily eventsQueued{"sluice_events_queued", "events", Kind::gauge, false,
                                           "Events that wait."};
inline constexpr MetricFamily eventsHighWater{"sluice_events_high_water", "events", Kind::gauge,
                                              false, "The most events that waited at once."};

// ---- A pool of memory

inline constexpr MetricFamily poolSize{"sluice_pool_blocks", "pool", Kind::gauge, false,
                                       "Blocks of the pool, used or free."};
inline constexpr MetricFamily poolUsed{"sluice_pool_used", "pool", Kind::gauge, false,
                                       "Blocks in use."};
inline constexpr MetricFamily poolExhausted{"sluice_pool_exhausted", "pool", Kind::counter, false,
                                            "Allocations that found no block."};

// ---- An executor

inline constexpr MetricFamily executorObjects{"sluice_executor_objects", "executor", Kind::gauge,
                                              false, "Objects that have started and not ended."};

// ---- The back end of a log

inline constexpr MetricFamily logLogged{"sluice_log_logged", "log", Kind::counter, false,
                                        "Accepted records."};
inline constexpr MetricFamily logWritten{"sluice_log_written", "log", Kind::counter, false,
                                         "Records that all sinks accepted."};
inline constexpr MetricFamily logRejected{"sluice_log_rejected", "log", Kind::counter, false,
                                          "Records that were not accepted."};
inline constexpr MetricFamily logDropped{"sluice_log_dropped", "log", Kind::counter, false,
                                         "Accepted records that made room for later ones."};
inline constexpr MetricFamily logLost{"sluice_log_lost_in_sinks", "log", Kind::counter, false,
                                      "Records whose sink or formatter threw."};
inline constexpr MetricFamily logStalls{"sluice_log_stalls", "log", Kind::counter, false,
                                        "Log calls that were preempted and delayed the output."};
inline constexpr MetricFamily logQueued{"sluice_log_queued", "log", Kind::gauge, false,
                                        "Accepted records that are not yet written."};
inline constexpr MetricFamily logBytes{"sluice_log_queued_bytes", "log", Kind::gauge, false,
                                       "Bytes of these records."};

// ---- A Watchdog

inline constexpr MetricFamily watchdogLate{"sluice_watchdog_late", "watchdog", Kind::gauge, false,
                                           "Handlers that run for longer than the limit now."};
inline constexpr MetricFamily watchdogReports{"sluice_watchdog_reports", "watchdog", Kind::counter,
                                              false,
                                              "Handlers that ran for longer than the limit."};

// ---- A bridge

inline constexpr MetricFamily bridgeCount{"sluice_bridge_count", "bridge", Kind::gauge, false,
                                          "A number of the bridge, which the type names."};

}  // namespace sluice::detail::families
