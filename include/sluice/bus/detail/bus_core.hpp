#pragma once

#include <sluice/base/role_check.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/bus_checks.hpp>
#include <sluice/bus/detail/bus_counts.hpp>
#include <sluice/bus/detail/consumer_state.hpp>
#include <sluice/bus/detail/pressure_notifier.hpp>
#include <sluice/bus/detail/priority_rings.hpp>
#include <sluice/bus/detail/publish_answer.hpp>
#include <sluice/bus/detail/queued_message.hpp>
#include <sluice/bus/detail/rooms.hpp>
#include <sluice/bus/detail/time_keeper.hpp>
#include <sluice/bus/detail/wait_points.hpp>
#include <sluice/bus/message_header.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>

namespace sluice::detail {

/// The parts of a bus, and the two ways through it: publish() from a claim to a commit, harvest()
/// from a slot to a handler. The public class adds the types of messages and handlers.
///
/// Edges: E1 counted: publication counted -> commit release .. commit acquire -> delivery counted:
/// so the counts show no delivered message that was not published. E2 inside: a publisher marked ->
/// commit release .. drained acquire -> mark read by drain(): so it waits for marked publishers.
/// Tests: tests/stress/bus_stress_test.cpp, tests/model/bus_core_model_test.cpp.
template <class MessageList, class Traits>
class BusCore {
    static_assert(areChecked<MessageList, Traits>());
    using Platform = typename Traits::Platform;
    using RoleCheck = sluice::RoleCheck<Platform>;
    using Wait = typename Traits::Wait;
    using Consumer = ConsumerState<Platform, Wait>;
    using Observer = typename Traits::Observer;
    using Handling = HandlerThread<Platform>;

public:
    using Counts = std::conditional_t<Traits::statistics,
                                      detail::BusCounts<Platform, MessageList::count>, NoBusCounts>;
    using Clock = typename Platform::Clock;
    using QueuedMessage = detail::QueuedMessage<MessageList, Traits>;
    using Rings = PriorityRings<QueuedMessage, Traits>;

    explicit BusCore(Observer* observer) : observer_(observer) {}
    ~BusCore() { end(); }

    /// Closes the bus, and destroys all messages. Called before the bus is destroyed.
    void end() noexcept {
        SLUICE_ASSERT(publishers_.areNone(),
                      "a bus is destroyed while a thread publishes: join the "
                      "thread first, see drain()");
        rings_.close();  // a message may publish another one when it is destroyed
        const CallCheck::Scope call(publishers_);
        const auto drop = [](QueuedMessage& queued, auto) noexcept { queued.destroy(); };
        while (rings_.serve(drop, slots, [](auto) {}) != 0) {
        }
    }

    // ---- Publishers

    /// Publishes at most `count` messages of this type, which build(queued) makes. Counts the
    /// accepted messages. If none was accepted, it counts all offered messages as rejected.
    template <class Count, class Waiting, class Build>
    PublishAnswer publish(std::size_t type, Priority wanted, OptionFields<Traits> fields,
                          Count count, const Waiting& waiting, const Build& build) {
        SLUICE_ASSERT(indexOf(wanted) < priorityCount,
                      "there is no such priority: publish with low, medium or high");
        // Without priorities, all messages count as medium.
        const Priority priority = Traits::priorities ? wanted : Priority::medium;
        return rings_.at(
            priority, [&](auto& ring) __attribute__((always_inline)) {
                using Ring = std::remove_reference_t<decltype(ring)>;
                typename Counts::Inside inside;
                [[maybe_unused]] const Staying<Ring> staying(counts_);
                const auto attempt = [&]() __attribute__((always_inline)) {
                    return publishTo(ring, type, priority, fields, count, build, inside);
                };
                PublishAnswer answer = attempt();
                if (__builtin_expect(answer.result != SendResult::ok, 0)) {
                    const CallCheck::Scope call(publishers_);
                    if constexpr (canMakeRoom<Ring, Waiting>) {
                        makeRoom(ring, priority, answer, waiting, attempt);
                    }
                    if (answer.result != SendResult::ok) {
                        counts_.rejected(type, priority, answer.result, count,
                                         roomOf<Traits>(priority));
                        return answer;
                    }
                }
                if (notifier_.isAbove(pressureOf<Traits>(priority)) &&
                    ring.sizeExact() >= roomOf<Traits>(priority)) {
                    const typename Counts::Staying observing(counts_);  // the observer may publish
                    const CallCheck::Scope call(publishers_);
                    notifier_.tell(rings_, observer_);
                }
                return answer;
            });
    }

    // ---- The consumer

    /// Hands at most `max` messages, and at most one for each slot, to handle(); returns how many.
    /// See bus_harvest.hpp.
    template <class Handle>
    std::size_t harvest(std::size_t max, Handle&& handle);

    /// Waits for a message, the end, the deadline or isOver(). Returns whether a message was there.
    template <class IsOver>
    bool waitUntil(typename Clock::time_point deadline, const IsOver& isOver) {
        std::optional<typename RoleCheck::Scope> role;
        if (!consumer_.isHere()) {  // a handler has the role already
            role.emplace(consumerRole_, oneConsumer);
        }
        time_.suspend();
        bool hasMessage = false;
        const auto isReady = [&] {
            hasMessage = rings_.hasArrival();
            return hasMessage || rings_.isDrained() || isOver();
        };
        (void)waits_.arrived.waitUntil(isReady, deadline);
        // The answer of the wait: a publisher may have dropped the message since. If this returned
        // false, an event loop would go to sleep.
        return hasMessage;
    }

    // ---- Anybody

    void close() noexcept {
        rings_.close();
        waits_.notifyAll();
    }

    bool drain(typename Clock::time_point deadline) {
        close();
        if (consumer_.isHere()) {
            return rings_.isDrained();
        }
        return waits_.drained.waitUntil([this] { return rings_.isDrained(); }, deadline) &&
               counts_.awaitPublishers(waits_.drained, deadline);
    }

    [[nodiscard]] Counts& counts() noexcept { return counts_; }
    [[nodiscard]] const Rings& rings() const noexcept { return rings_; }
    [[nodiscard]] Consumer& consumer() noexcept { return consumer_; }
    [[nodiscard]] const Consumer& consumer() const noexcept { return consumer_; }
    [[nodiscard]] Wait& arrived() noexcept { return waits_.arrived; }
    [[nodiscard]] Observer* observer() const noexcept { return observer_; }

    [[nodiscard]] auto statistics() const {
        auto statistics = counts_.get();
        statistics.highWater = std::max(statistics.highWater, rings_.highest());
        return statistics;
    }

private:
    static constexpr std::size_t slots = allRooms<Traits>();
    /// The number of messages after which a harvest looks at the clock and at the pressure.
    static constexpr std::size_t chunk = 64;

    /// Wakes the consumer at the end of a publication, also when a constructor threw, because the
    /// consumer must pass the slot. If no message came last, the bus may be drained: it wakes all.
    template <class Ring>
    struct Announcement {
        BusCore& bus;
        Ring& ring;
        Priority priority;
        bool isDue = false;
        bool isOfMessage = false;
        std::size_t done = 0;  ///< messages that were committed

        [[gnu::always_inline]] ~Announcement() {
            if constexpr (canDropOldest<Ring>) {
                if (done != 0) {  // only behind a message of its own
                    bus.dropExcess(ring, priority);
                }
            }
            if (isOfMessage) {
                bus.waits_.arrived.notifyAll();
            } else if (isDue) {
                bus.waits_.notifyAll();
            }
        }
    };

    template <class Ring, class Count, class Build>
    [[gnu::always_inline]] PublishAnswer
    publishTo(Ring& ring, std::size_t type, Priority priority, OptionFields<Traits> fields,
              Count count, const Build& build, typename Counts::Inside& inside) {
        if constexpr (Traits::producers == Producers::one) {
            SLUICE_ASSERT(!isBuilding_,
                          "with one producer the constructor of a message must not publish");
            if (isBuilding_) {
                return {ring.isClosed() ? SendResult::closed : SendResult::full, 0};
            }
        }
        const CallCheck::Scope call(publishers_);
        Announcement<Ring> announcement{*this, ring, priority};
        // As many slots as are free, in one step if the ring can.
        auto claim = [&]() __attribute__((always_inline)) {
            if constexpr (Traits::producers == Producers::many && !std::is_same_v<Count, One>) {
                return ring.tryReserve(count);
            } else {
                return ring.tryReserve();
            }
        }
        ();
        if (__builtin_expect(!claim, 0)) {
            const bool isClosed = claim.result() == SendResult::closed;
            if constexpr (Traits::producers == Producers::one) {
                announcement.isDue = isClosed;  // an attempt keeps an SpscRing undrained
            }
            return {isClosed ? SendResult::closed : SendResult::full, 0};
        }
        announcement.isDue = true;
        do {
            announcement.isOfMessage = false;
            QueuedMessage& queued = claim.emplace();
            buildAlone(build, queued);
            if constexpr (Traits::timeStamp != TimeStamp::none) {
                queued.timeStamp = time_.stamp();
            }
            queued.set(fields, priority);
            if constexpr (Traits::ids) {
                queued.id = claim.number();
            }
            counts_.published(type, priority, inside);  // E1 counted, E2 inside
            claim.commit();
            announcement.isOfMessage = true;
            ++announcement.done;
        } while (!std::is_same_v<Count, One> && claim);
        return {SendResult::ok, announcement.done};
    }

    /// With one producer, a publication by the constructor of a message would get the same slot.
    template <class Build>
    [[gnu::always_inline]] void buildAlone(const Build& build, QueuedMessage& queued) {
        if constexpr (Traits::producers == Producers::one) {
            struct Building {
                bool& is;
                ~Building() { is = false; }
            } building{isBuilding_ = true};
            build(queued);
        } else {
            build(queued);
        }
    }

    /// Keeps the thread inside while it drops. Destructors of messages may publish, and the thread
    /// would leave at the end of their publication.
    template <class Ring>
    using Staying =
        std::conditional_t<canDropOldest<Ring>, typename Counts::Staying, NoBusCounts::Staying>;

    template <class Ring, class Waiting>
    static constexpr bool canMakeRoom =
        canDropOldest<Ring> || canBlock<Traits> || !std::is_same_v<Waiting, WaitByPolicy>;

    /// Follows the overflow policy, or the timeout of the call, when a publication was refused.
    template <class Ring, class Waiting, class Attempt>
    [[gnu::noinline]] void makeRoom([[maybe_unused]] Ring& ring, Priority priority,
                                    PublishAnswer& answer, [[maybe_unused]] const Waiting& waiting,
                                    const Attempt& attempt) {
        if constexpr (canDropOldest<Ring>) {
            for (bool isMore = true; isMore && answer.isRefused(); answer = attempt()) {
                isMore = dropExcess(ring, priority);  // if false, another thread may have made room
            }
        }
        if (answer.isRefused()) {
            const auto deadline = waitLimit<Traits, Clock>(waiting, priority);
            // A thread does not wait for itself.
            const bool hasEnd = deadline != Clock::time_point::max();
            if (deadline != Clock::time_point::min() && !consumer_.isMine() && !isBuilding_ &&
                (hasEnd || !Handling::isHere()) && Traits::mayWait()) {
                const auto isOver = [&] { return answer = attempt(), !answer.isRefused(); };
                // A publisher that was stopped in a DropOldestRing wakes no thread when it goes on.
                waits_.awaitRoom(priority, isOver, deadline,
                                 canBlock<Traits> && !canDropOldest<Ring>);
            }
        }
        if (answer.result == SendResult::ok) {
            counts_.sawUsed(roomOf<Traits>(priority));
        }
    }

    /// Returns whether it took out a message or a skipped slot.
    template <class Ring>
    bool dropExcess(Ring& ring, Priority priority) {
        const auto drop = [&](QueuedMessage& queued) noexcept {
            counts_.sawUsed(roomOf<Traits>(priority));
            counts_.count(queued.typeIndex(), priority, PublishOutcome::dropped, 1);
            queued.destroy();
        };
        const bool hasPassed = ring.dropExcess(drop);
        if (hasPassed) {
            waits_.notifyAll();  // the bus may be drained now
        }
        return hasPassed;
    }

    // ---- Consuming, see bus_harvest.hpp

    struct Consuming;
    template <Priority P>
    struct Delivery;

    static constexpr bool looksAround = Traits::statistics ||
                                        Traits::timeStamp == TimeStamp::cached ||
                                        !std::is_same_v<Observer, BusObserver>;

    void lookAround(Consuming& consuming) noexcept;
    void endChunk(std::size_t served) noexcept;
    void endHarvest(const Consuming& consuming) noexcept;

    // Read by all threads, seldom written.
    alignas(Traits::cacheLineSize) alignas(Observer*) Observer* observer_;
    PressureNotifier<Platform, Observer> notifier_;
    CallCheck publishers_;
    WaitPoints<Wait> waits_;

    Counts counts_;
    std::conditional_t<Traits::timeStamp == TimeStamp::none, NoTimeKeeper,
                       TimeKeeper<Traits, Counts>>
        time_;
    Rings rings_;

    // Written by the consumer.
    alignas(Traits::cacheLineSize) alignas(Consumer) Consumer consumer_;
    std::size_t emptyHarvests_ = 0;
    RoleCheck consumerRole_;

    // Whether a message is being built; written by the producer, with Producers::one.
    alignas(Traits::cacheLineSize) bool isBuilding_ = false;
};

}  // namespace sluice::detail
