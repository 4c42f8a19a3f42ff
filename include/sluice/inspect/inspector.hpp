#pragma once

#include <sluice/base/send_result.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/bus/bus_statistics.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/inspect/detail/families.hpp>
#include <sluice/inspect/detail/type_name.hpp>
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

template <class Object>
using StatisticsOf = decltype(std::declval<const Object&>().statistics());

template <template <class> class Expression, class T, class = void>
inline constexpr bool has = false;
template <template <class> class Expression, class T>
inline constexpr bool has<Expression, T, std::void_t<Expression<T>>> = true;

template <class T>
using InUse = decltype(std::declval<StatisticsOf<T>>().inUse);
template <class T>
using Blocks = decltype(std::declval<StatisticsOf<T>>().blocks);
template <class T>
using Enqueued = decltype(std::declval<StatisticsOf<T>>().enqueued);
template <class T>
using Logged = decltype(std::declval<StatisticsOf<T>>().logged);
template <class T>
using ForEach = decltype(std::declval<StatisticsOf<T>>().forEach(
    std::declval<void (*)(const char*, std::uint64_t)>()));
template <class T>
using Dropped = decltype(std::declval<const T&>().dropped());
template <class T>
using Room = decltype(std::declval<const T&>().sizeApprox() < std::declval<const T&>().capacity());

template <std::size_t Count>
void readBus(ObjectReadings& out, const BusStatistics<Count>& statistics,
             const std::vector<std::string_view>& types) {
    using namespace families;
    for (std::size_t type = 0; type != Count; ++type) {
        for (const Priority each : {Priority::low, Priority::medium, Priority::high}) {
            const MessageCounts& counts = statistics.of(type, each);
            const std::string name(types[type]);
            const char* const priority = toString(each);
            out.add(busPublished, counts.published, name, priority);
            out.add(busRejected, counts.full, name, priority, "full");
            out.add(busRejected, counts.closed, name, priority, "closed");
            out.add(busDropped, counts.dropped, name, priority);
            out.add(busDelivered, counts.delivered, name, priority);
            out.add(busUnhandled, counts.unhandled, name, priority);
            out.add(busDiscarded, counts.discarded, name, priority);
            out.add(busExpired, counts.expired, name, priority);
            out.add(busFailures, counts.failed, name, priority);
        }
    }
    for (const Priority each : {Priority::low, Priority::medium, Priority::high}) {
        const char* const priority = toString(each);
        const auto index = static_cast<std::size_t>(each);
        out.add(busQueued, statistics.queued[index], {}, priority);
        out.addSummary(busTime, statistics.times[index].count, statistics.times[index].sum,
                       priority);
        out.add(busLongestTime, statistics.times[index].max, priority);
    }
    out.add(busHighWater, statistics.highWater);
}

/// Reads a bus, or the mailbox of an active object.
template <class List, class Traits, class Object>
void readMailbox(ObjectReadings& out, const Object& object) {
    using BusType = Bus<List, Traits>;
    if constexpr (Traits::statistics) {
        readBus(out, object.statistics(), namesOf(static_cast<const List*>(nullptr)));
        for (const Priority each : {Priority::low, Priority::medium, Priority::high}) {
            if (Traits::priorities || each == Priority::medium) {
                out.add(families::busRoom, BusType::roomOf(each), {}, toString(each));
            }
        }
    } else {
        out.add(families::queueLength, object.sizeApprox());
        out.add(families::queueRoom, BusType::capacity());
    }
}

template <class Object>
void readTimes(ObjectReadings& out, const Object& object) {
    const auto times = object.handlerTimes();
    out.add(families::objectHandled, times.handled);
    out.add(families::objectBusy, times.inHandlers);
    out.add(families::objectLongest, times.longestHandler);
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
    readTimes(out, *base);
    out.add(families::objectFailures, base->failures());
    out.add(families::objectRestarts, base->restarts());
}
template <class Object, class Derived, class List, class Traits>
void read(ObjectReadings& out, const Object& /*object*/,
          const PooledObject<Derived, List, Traits>* base) {
    using namespace families;
    readTimes(out, *base);
    const auto statistics = base->statistics();
    out.add(objectFailures, statistics.failed);
    out.add(objectRestarts, statistics.restarts);
    out.add(objectDiscarded, statistics.discarded);
    out.add(objectRejected, statistics.full, {}, {}, "full");
    out.add(objectRejected, statistics.closed, {}, {}, "closed");
    out.add(objectQueued, base->sizeApprox());
    out.add(objectRoom, base->capacity());
}
template <class Object>
void read(ObjectReadings& out, const Object& object, const Watchdog* /*base*/) {
    out.add(families::watchdogLate, object.lateCount(), object.lateName());
    out.add(families::watchdogReports, object.reportCount());
}
template <class Object>
void read(ObjectReadings& out, const Object& object, const Executor* /*base*/) {
    const auto messages = object.messageStatistics();
    out.add(families::executorObjects, object.objectCount());
    out.add(families::poolSize, messages.blocks);
    out.add(families::poolUsed, messages.inUse);
    out.add(families::poolExhausted, messages.exhausted);
}
template <class Object>
void read(ObjectReadings& out, const Object& object, const void* /*base*/) {
    using namespace families;
    if constexpr (has<InUse, Object>) {
        const auto statistics = object.statistics();
        if constexpr (has<Blocks, Object>) {
            out.add(poolSize, statistics.blocks);
        } else {
            out.add(poolSize, statistics.buffers);
        }
        out.add(poolUsed, statistics.inUse);
        out.add(poolExhausted, statistics.exhausted);
    } else if constexpr (has<Enqueued, Object>) {
        const auto statistics = object.statistics();
        out.add(eventsEnqueued, statistics.enqueued);
        out.add(eventsRejected, statistics.rejected);
        out.add(eventsDiscarded, statistics.discarded);
        out.add(eventsProcessed, statistics.processed);
        out.add(eventsQueued, statistics.queued);
        out.add(eventsHighWater, statistics.highWater);
    } else if constexpr (has<Logged, Object>) {
        const auto statistics = object.statistics();
        out.add(logLogged, statistics.logged);
        out.add(logWritten, statistics.written);
        out.add(logRejected, statistics.rejected);
        out.add(logDropped, statistics.dropped);
        out.add(logLost, statistics.lost_in_sinks);
        out.add(logStalls, statistics.stalls);
        out.add(logQueued, statistics.messages);
        out.add(logBytes, statistics.bytes);
    } else if constexpr (has<ForEach, Object>) {
        object.statistics().forEach(
            [&out](const char* name, std::uint64_t value) { out.add(bridgeCount, value, name); });
    } else {
        static_assert(has<Room, Object>,
                      "an Inspector watches a bus, active object, queue, event queue, pool, "
                      "executor, log back end, watchdog or bridge; for anything else, pass a "
                      "function that adds the numbers");
        out.add(queueLength, object.sizeApprox());
        if (object.capacity() != unlimited) {
            out.add(queueRoom, object.capacity());
        }
        if constexpr (has<Dropped, Object>) {
            out.add(queueDropped, object.dropped());
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
        Watch& operator=(Watch&& other) noexcept {
            end();
            state_ = std::move(other.state_);
            id_ = other.id_;
            return *this;
        }
        ~Watch() { end(); }

        /// Waits for a running snapshot, and removes the object. Idempotent.
        void end() noexcept {
            if (const auto state = std::move(state_)) {
                const std::lock_guard lock(state->mutex);
                auto& sources = state->sources;
                sources.erase(std::remove_if(sources.begin(), sources.end(),
                                             [this](const Source& each) { return each.id == id_; }),
                              sources.end());
            }
        }

    private:
        friend class Inspector;
        Watch(std::shared_ptr<State> state, std::uint64_t id) noexcept
            : state_(std::move(state)), id_(id) {}

        std::shared_ptr<State> state_;
        std::uint64_t id_ = 0;
    };

    /// Watches an object. A name that is taken gets a number: the second `work` is `work 2`. A
    /// snapshot points to constants of the code that calls watch(), so the program, and not a
    /// plugin that is unloaded later, watches the plugin's objects.
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
                detail::resultOrDefault([&] { return source.read(out), true; }) ? 0 : 1;
            if (source.failures != 0) {
                out.add(detail::families::readFailures, source.failures);
            }
        }
        return result;
    }

private:
    Watch add(const std::string& name, std::function<void(ObjectReadings&)> read) {
        const std::lock_guard lock(state_->mutex);
        auto& sources = state_->sources;
        std::string unique = name;
        for (std::size_t number = 2;
             std::any_of(sources.begin(), sources.end(),
                         [&unique](const Source& each) { return each.name == unique; });
             ++number) {
            unique = name + " " + std::to_string(number);
        }
        sources.push_back({++state_->lastId, std::move(unique), std::move(read)});
        return Watch(state_, state_->lastId);
    }

    const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace sluice
