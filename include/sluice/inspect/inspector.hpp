#pragma once

#include <sluice/base/send_result.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/bus/bus_statistics.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/inspect/detail/texts.hpp>
#include <sluice/inspect/snapshot.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {

template <class MessageList, class Traits>
class Bus;
template <class Derived, class MessageList, class Traits>
class ActiveObject;
template <class Derived, class MessageList, class Traits>
class PooledObject;
template <class... Ts>
struct Messages;
class Executor;
class Watchdog;

namespace detail {

inline std::uint64_t nanosecondsOf(std::chrono::nanoseconds time) noexcept {
    return static_cast<std::uint64_t>(time.count());
}

template <std::size_t Count>
void readBus(ObjectReadings& out, const BusStatistics<Count>& statistics,
             const std::vector<std::string_view>& types) {
    constexpr Priority priorities[] = {Priority::low, Priority::medium, Priority::high};
    for (std::size_t type = 0; type != Count; ++type) {
        for (const Priority each : priorities) {
            const MessageCounts& counts = statistics.of(type, each);
            const auto add = [&](const char* metric, const char* help, std::uint64_t count,
                                 const char* reason = "") {
                out.counter(metric, help, count, std::string(types[type]), toString(each), reason);
            };
            add("sluice_bus_published", "Messages that have left the bus.", counts.published);
            add("sluice_bus_rejected", "Messages that were not accepted.", counts.full, "full");
            add("sluice_bus_rejected", "Messages that were not accepted.", counts.closed, "closed");
            add("sluice_bus_dropped", "Messages that later ones replaced.", counts.dropped);
            add("sluice_bus_delivered", "Accepted messages that a handler took.", counts.delivered);
            add("sluice_bus_unhandled", "Messages that no handler took.", counts.unhandled);
            add("sluice_bus_discarded", "Accepted messages that were destroyed.", counts.discarded);
            add("sluice_bus_expired", "Accepted messages whose time was over.", counts.expired);
            add("sluice_bus_handler_failures", "Calls of handlers that threw.", counts.failed);
        }
    }
    for (const Priority each : priorities) {
        const QueueTimes& times = statistics.times[indexOf(each)];
        out.gauge("sluice_bus_queued", "Messages in the bus.", statistics.queued[indexOf(each)], {},
                  toString(each));
        out.counter("sluice_bus_queue_time_seconds", "How long messages were in the bus.",
                    nanosecondsOf(times.sum), {}, toString(each));
        out.counter("sluice_bus_timed", "Messages whose time in the bus was measured.", times.count,
                    {}, toString(each));
        out.gauge("sluice_bus_longest_queue_time_seconds",
                  "The longest that a message was in the bus.", nanosecondsOf(times.max), {},
                  toString(each));
    }
    out.gauge("sluice_bus_high_water", "The most messages that were in the bus at once.",
              statistics.highWater);
}

inline void readQueue(ObjectReadings& out, std::size_t length, std::size_t room) {
    out.gauge("sluice_queue_length", "Messages in the queue.", length);
    if (room != unlimited) {
        out.gauge("sluice_queue_room", "The most messages that may be in the queue.", room);
    }
}
inline void readPool(ObjectReadings& out, std::uint64_t blocks, std::uint64_t used,
                     std::uint64_t exhausted) {
    out.gauge("sluice_pool_blocks", "Blocks of the pool, used or free.", blocks);
    out.gauge("sluice_pool_used", "Blocks in use.", used);
    out.counter("sluice_pool_exhausted", "Allocations that found no block.", exhausted);
}

/// Reads a bus, or the mailbox of an active object.
template <class List, class Traits, class Object>
void readMailbox(ObjectReadings& out, const Object& object) {
    using BusType = Bus<List, Traits>;
    if constexpr (Traits::statistics) {
        readBus(out, object.statistics(), namesOf(static_cast<const List*>(nullptr)));
        for (const Priority each : {Priority::low, Priority::medium, Priority::high}) {
            if (Traits::priorities || each == Priority::medium) {
                out.gauge("sluice_bus_room", "The most messages that a priority may have.",
                          BusType::roomOf(each), {}, toString(each));
            }
        }
    } else {
        readQueue(out, object.sizeApprox(), BusType::capacity());
    }
}

/// Reads what active and pooled objects have. The times are 0 without Traits::handlerTimes.
template <class Object>
void readHandlers(ObjectReadings& out, const Object& object, std::uint64_t failures,
                  std::uint64_t restarts) {
    const auto times = object.handlerTimes();
    out.counter("sluice_object_handled", "Handlers that have run, also for timers.", times.handled);
    out.counter("sluice_object_timers", "Timers that have fired.", object.firedTimers());
    out.counter("sluice_object_handler_seconds", "How long handlers have run.",
                nanosecondsOf(times.inHandlers));
    out.gauge("sluice_object_longest_handler_seconds", "The longest run of a handler.",
              nanosecondsOf(times.longestHandler));
    out.counter("sluice_object_handler_failures", "Calls of handlers that threw.", failures);
    out.counter("sluice_object_restarts", "Restarts after a failure.", restarts);
}

// read(out, object, &object) reads an object by its class or base. The last one takes any other
// object, because a pointer converts to void only if it converts to no base.

template <class Object, class List, class Traits>
void read(ObjectReadings& out, const Object& /*object*/, const Bus<List, Traits>* base) {
    readMailbox<List, Traits>(out, *base);
}
template <class Object, class Derived, class List, class Traits>
void read(ObjectReadings& out, const Object& /*object*/,
          const ActiveObject<Derived, List, Traits>* base) {
    readMailbox<List, Traits>(out, *base);
    readHandlers(out, *base, base->failures(), base->restarts());
}
template <class Object, class Derived, class List, class Traits>
void read(ObjectReadings& out, const Object& /*object*/,
          const PooledObject<Derived, List, Traits>* base) {
    const auto statistics = base->statistics();
    readHandlers(out, *base, statistics.failed, statistics.restarts);
    out.counter("sluice_object_discarded", "Accepted messages that were destroyed.",
                statistics.discarded);
    out.counter("sluice_object_rejected", "Messages that were not accepted.", statistics.full, {},
                {}, "full");
    out.counter("sluice_object_rejected", "Messages that were not accepted.", statistics.closed, {},
                {}, "closed");
    out.gauge("sluice_object_queued", "Messages that wait for the object.", base->sizeApprox());
    out.gauge("sluice_object_room", "The most messages that may wait for the object.",
              base->capacity());
}
template <class Object>
void read(ObjectReadings& out, const Object& object, const Watchdog* /*base*/) {
    out.gauge("sluice_watchdog_late", "Handlers that run for longer than the limit now.",
              object.lateCount(), object.lateName());
    out.counter("sluice_watchdog_reports", "Handlers that were late.", object.reportCount());
}
template <class Object>
void read(ObjectReadings& out, const Object& object, const Executor* /*base*/) {
    const auto messages = object.messageStatistics();
    out.gauge("sluice_executor_objects", "Objects that are running.", object.objectCount());
    readPool(out, messages.blocks, messages.inUse, messages.exhausted);
}

// readStatistics() reads statistics by a member that only they have.

template <class Statistics>
auto readStatistics(ObjectReadings& out, const Statistics& pool) -> decltype(void(pool.blocks)) {
    readPool(out, pool.blocks, pool.inUse, pool.exhausted);
}
template <class Statistics>
auto readStatistics(ObjectReadings& out, const Statistics& pool) -> decltype(void(pool.buffers)) {
    readPool(out, pool.buffers, pool.inUse, pool.exhausted);
}
template <class Statistics>
auto readStatistics(ObjectReadings& out, const Statistics& events)
    -> decltype(void(events.enqueued)) {
    out.counter("sluice_events_enqueued", "Accepted events.", events.enqueued);
    out.counter("sluice_events_rejected", "Events that were not accepted.", events.rejected);
    out.counter("sluice_events_discarded", "Queued events that were destroyed.", events.discarded);
    out.counter("sluice_events_processed", "Events that were dispatched.", events.processed);
    out.gauge("sluice_events_queued", "Events that wait.", events.queued);
    out.gauge("sluice_events_high_water", "The most events that waited at once.", events.highWater);
}
template <class Statistics>
auto readStatistics(ObjectReadings& out, const Statistics& log) -> decltype(void(log.logged)) {
    out.counter("sluice_log_logged", "Accepted records.", log.logged);
    out.counter("sluice_log_written", "Records that all sinks accepted.", log.written);
    out.counter("sluice_log_rejected", "Records that were not accepted.", log.rejected);
    out.counter("sluice_log_dropped", "Accepted records that later ones replaced.", log.dropped);
    out.counter("sluice_log_lost_in_sinks", "Records whose sink or formatter threw.",
                log.lost_in_sinks);
    out.counter("sluice_log_stalls", "Log calls that were preempted and delayed the output.",
                log.stalls);
    out.gauge("sluice_log_queued", "Accepted records that are not yet written.", log.messages);
    out.gauge("sluice_log_queued_bytes", "Bytes of these records.", log.bytes);
}
template <class Statistics>
auto readStatistics(ObjectReadings& out, const Statistics& bridge)
    -> decltype(bridge.forEach(std::declval<void (*)(const char*, std::uint64_t)>())) {
    bridge.forEach([&out](const char* name, std::uint64_t value) {
        out.gauge("sluice_bridge_count", "A number of the bridge, which the type names.", value,
                  name);
    });
}

template <template <class> class Expression, class T, class = void>
inline constexpr bool has = false;
template <template <class> class Expression, class T>
inline constexpr bool has<Expression, T, std::void_t<Expression<T>>> = true;
template <class T>
using Read = decltype(readStatistics(std::declval<ObjectReadings&>(),
                                     std::declval<const T&>().statistics()));
template <class T>
using Dropped = decltype(std::declval<const T&>().dropped());
template <class T>
using Room = decltype(std::declval<const T&>().sizeApprox() < std::declval<const T&>().capacity());

template <class Object>
void read(ObjectReadings& out, const Object& object, const void* /*base*/) {
    if constexpr (has<Read, Object>) {
        readStatistics(out, object.statistics());
    } else {
        static_assert(has<Room, Object>,
                      "an Inspector watches a bus, active object, queue, event queue, pool, "
                      "executor, log back end, watchdog or bridge; for anything else, pass a "
                      "function that adds the numbers");
        readQueue(out, object.sizeApprox(), object.capacity());
        if constexpr (has<Dropped, Object>) {
            out.counter("sluice_queue_dropped", "Messages that later ones replaced.",
                        object.dropped());
        }
    }
}

template <class Object>
std::function<void(ObjectReadings&)> readerOf(const Object& object) {
    if constexpr (std::is_invocable_v<const Object&, ObjectReadings&>) {
        return object;
    } else {
        return [&object](ObjectReadings& out) { read(out, object, &object); };
    }
}

}  // namespace detail

/// Reads the numbers of the objects that a program shows: for metrics, the live page, or a test.
///
///     sluice::Inspector inspector;
///     const auto watched = inspector.watch("control", bus);
///     std::string text;
///     sluice::writeMetrics(inspector.snapshot(), [&](std::string_view part) { text += part; });
///
/// It watches buses, active and pooled objects, the queues and rings, event queues, memory pools,
/// executors, the back end of a log, watchdogs and bridges. There is no global list: two inspectors
/// share nothing.
///
/// Thread safety: any thread may call any member. A snapshot blocks no thread that publishes or
/// consumes: it calls statistics() of each object. watch() and the end of a watch wait for a
/// snapshot.
///
/// Performance: free for the watched objects. watch() and snapshot() allocate.
class Inspector {
    struct Source {
        std::uint64_t id;
        std::string name;
        std::function<void(ObjectReadings&)> read;
        std::uint64_t failures = 0;
    };
    struct State {
        std::mutex mutex;
        std::vector<Source> sources;  ///< guarded by mutex, as the two below
        std::vector<Flow> flows;
        std::uint64_t lastId = 0;
    };

public:
    /// Shows an object while the watch exists. Declare it after the object, or end it before; it
    /// may outlive the inspector.
    class [[nodiscard]] Watch {
    public:
        Watch() = default;
        Watch(Watch&&) noexcept = default;
        Watch& operator=(Watch&&) noexcept = default;

        /// Waits for a running snapshot, and removes the object. Idempotent.
        void end() noexcept { source_ = nullptr; }

    private:
        friend class Inspector;
        std::shared_ptr<void> source_;  ///< empty; its deleter removes the object
    };

    /// Watches an object. A name that is taken gets a number: the second `work` is `work 2`.
    template <class Object>
    Watch watch(const std::string& name, const Object& object) {
        return add(name, detail::readerOf(object));
    }
    /// Refused: a temporary object. A temporary function is copied.
    template <class Object, std::enable_if_t<!std::is_lvalue_reference_v<Object> &&
                                                 !std::is_invocable_v<Object&, ObjectReadings&>,
                                             int> = 0>
    Watch watch(const std::string& name, Object&& object) = delete;

    /// Draws an arrow between two names. A name that nothing watches becomes a node, for example a
    /// thread that publishes. With the name of a message type, the arrow shows the type's rate.
    void addFlow(std::string from, std::string to, std::string type = {}) {
        const std::lock_guard lock(state_->mutex);
        state_->flows.push_back({std::move(from), std::move(to), std::move(type)});
    }

    /// Reads all objects, in the order of their watches. Functions that were passed to watch() must
    /// not call the inspector. One that throws is counted, and its later numbers are missing.
    [[nodiscard]] Snapshot snapshot() const {
        const std::lock_guard lock(state_->mutex);
        Snapshot result{std::chrono::steady_clock::now(), {}, state_->flows};
        result.objects.reserve(state_->sources.size());
        for (Source& source : state_->sources) {
            auto& out = result.objects.emplace_back(ObjectReadings{source.id, source.name, {}});
            source.failures +=
                detail::resultOrDefault([&] { return source.read(out), true; }) ? 0U : 1U;
            if (source.failures != 0) {
                out.counter("sluice_object_read_failures", "Readings of the object that threw.",
                            source.failures);
            }
        }
        return result;
    }

private:
    Watch add(const std::string& name, std::function<void(ObjectReadings&)> read) {
        std::unique_lock lock(state_->mutex);
        auto& sources = state_->sources;
        std::string unique = name;
        for (std::size_t number = 2;
             std::any_of(sources.begin(), sources.end(),
                         [&unique](const Source& each) { return each.name == unique; });
             ++number) {
            unique = name + " " + std::to_string(number);
        }
        const std::uint64_t id = ++state_->lastId;
        sources.push_back({id, std::move(unique), std::move(read)});
        lock.unlock();  // because reset() removes the object if it throws
        Watch watch;
        watch.source_.reset(static_cast<void*>(nullptr), [id, state = state_](void*) {
            const std::lock_guard guard(state->mutex);
            state->sources.erase(std::find_if(state->sources.begin(), state->sources.end(),
                                              [id](const Source& each) { return each.id == id; }));
        });
        return watch;
    }

    const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace sluice
