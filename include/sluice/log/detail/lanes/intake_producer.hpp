#pragma once

#include <sluice/log/detail/lanes/intake_options.hpp>
#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/quiet_thread.hpp>
#include <sluice/log/detail/lanes/record_writer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace sluice::log::detail {

/// The logging threads' side of an intake.
///
/// Brings a record into the calling thread's lane, or into the shared one, and makes room as the
/// policy says. What is promised is said at Intake::post().
///
/// Tests: those of Intake.
template <class Head, class Traits>
class IntakeProducer {
    using Platform = typename Traits::Platform;
    using Registry = LaneRegistry<Traits>;
    using Lane = typename Registry::Lane;
    using Threads = typename Registry::Threads;
    using Writer = RecordWriter<Head, Traits>;
    using Outcome = typename Writer::Outcome;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    IntakeProducer(Registry* registry, RoomMaker roomMaker) noexcept
        : registry_(registry), hash_(Threads::hash(registry)), roomMaker_(roomMaker) {}
    IntakeProducer(const IntakeProducer&) = delete;
    IntakeProducer& operator=(const IntakeProducer&) = delete;

    template <class Write>
    Posted post(const Head& head, std::size_t bytes, overflow_policy policy, Write&& write) {
        Lane* const lane = Threads::findFirst(registry_, hash_);
        if (__builtin_expect(lane == nullptr || !lane->enter(), 0)) {
            return postElsewhere(head, bytes, policy, write);
        }
        return postToOwn(*lane, head, bytes, policy, write);
    }

    // ---- Back end

    /// While one lives, the back end's thread is at work. Its own posts are told so: they may not
    /// wait for what it does, now or later.
    class AtWork {
    public:
        explicit AtWork(IntakeProducer& producer) noexcept : producer_(producer) {
            // Relaxed, all: only posts of the same thread want to know.
            producer.backEndThread_.store(Threads::mark(), std::memory_order_relaxed);
            producer.isAtWork_.store(1, std::memory_order_relaxed);
        }
        ~AtWork() { producer_.isAtWork_.store(0, std::memory_order_relaxed); }
        AtWork(const AtWork&) = delete;
        AtWork& operator=(const AtWork&) = delete;

    private:
        IntakeProducer& producer_;
    };

    /// There is no back end's thread any more, until one is at work again.
    void forgetBackEnd() noexcept {
        backEndThread_.store(nullptr, std::memory_order_relaxed);  // relaxed: see AtWork
        isAtWork_.store(0, std::memory_order_relaxed);
    }

private:
    struct Leave {
        Lane& lane;
        ~Leave() { lane.leave(); }
    };
    struct Unlock {
        Registry& registry;
        ~Unlock() { registry.unlockShared(); }
    };

    template <class Write>
    Posted postToOwn(Lane& lane, const Head& head, std::size_t bytes, overflow_policy policy,
                     Write& write) {
        const Leave leave{lane};
        const Outcome outcome = Writer::tryPost(*registry_, lane, 0, head, bytes, write);
        if (__builtin_expect(outcome == Outcome::ok, 1)) {
            return Posted::ok;
        }
        return postWithoutRoom(lane, head, bytes, policy, write, outcome);
    }

    /// As tryPost(), for all that is out of the ordinary.
    template <class Write>
    [[gnu::cold, gnu::noinline]] Outcome tryPostRarely(Lane& lane, std::uint32_t flags,
                                                       const Head& head, std::size_t bytes,
                                                       Write& write) {
        return Writer::tryPost(*registry_, lane, flags, head, bytes, write);
    }

    /// Makes room as the policy says and tries again.
    template <class Write>
    [[gnu::cold, gnu::noinline]] Posted postWithoutRoom(Lane& lane, const Head& head,
                                                        std::size_t bytes, overflow_policy policy,
                                                        Write& write, Outcome outcome) {
        while (outcome == Outcome::full && makeRoom(lane, bytes, policy)) {
            outcome = tryPostRarely(lane, 0, head, bytes, write);
        }
        if (outcome == Outcome::ok) {
            return Posted::ok;
        }
        if (outcome == Outcome::closed || isClosed()) {
            return Posted::closed;
        }
        lane.countDiscarded();
        return Posted::discarded;
    }

    /// False when the record cannot have room.
    bool makeRoom(Lane& lane, std::size_t bytes, overflow_policy policy) {
        if (hasPolled(policy)) {
            return !isClosed();
        }
        if (!mayMakeRoom(policy)) {
            return false;
        }
        const Room room = Writer::roomFor(lane, 0, bytes);
        if (policy == overflow_policy::overrun_oldest) {
            return lane.evictFor(room);
        }
        lane.awaitRoom(room, registry_->closed());
        return !isClosed();
    }

    /// Whether the caller is the thread that empties the lanes of a manual back end, and has just
    /// done so instead of waiting for room.
    bool hasPolled(overflow_policy policy) {
        return policy == overflow_policy::block && roomMaker_.make != nullptr &&
               !QuietThread::isQuiet() && roomMaker_.make(roomMaker_.engine);
    }

    /// The back end's own thread would wait for itself; and what it has in hand it cannot evict.
    [[nodiscard]] bool mayMakeRoom(overflow_policy policy) const noexcept {
        // Relaxed: see AtWork.
        return policy == overflow_policy::overrun_oldest
                   ? !isBackEnd() || isAtWork_.load(std::memory_order_relaxed) == 0
                   : policy == overflow_policy::block && !isBackEnd() && !QuietThread::isQuiet();
    }

    /// Not on the way that nearly every post takes: the thread has no lane yet, or no more, or the
    /// post interrupts another one.
    template <class Write>
    [[gnu::cold, gnu::noinline]] Posted postElsewhere(const Head& head, std::size_t bytes,
                                                      overflow_policy policy, Write& write) {
        Lane* lane = Threads::find(registry_, hash_);
        bool mayWait = lane == nullptr && !QuietThread::isQuiet();
        if (mayWait) {
            lane = enroll();
        }
        if (lane != nullptr && lane->enter()) {
            return postToOwn(*lane, head, bytes, policy, write);
        }
        return postToShared(head, bytes, policy, write, mayWait);
    }

    /// Null when the thread is ending, or when there is no memory for a lane.
    Lane* enroll() noexcept {
        const QuietThread quiet;  // a handler that interrupts this must not do it too
#if defined(__cpp_exceptions)
        try {
            return Threads::add(*registry_);
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
#else
        return Threads::add(*registry_);
#endif
    }

    template <class Write>
    Posted postToShared(const Head& head, std::size_t bytes, overflow_policy policy, Write& write,
                        bool mayWait) {
        Lane& lane = registry_->shared();
        while (registry_->lockShared(!mayWait)) {
            const Outcome outcome = tryPostLocked(lane, head, bytes, policy, write, mayWait);
            if (outcome == Outcome::ok) {
                return Posted::ok;
            }
            if (outcome == Outcome::closed || isClosed()) {
                return Posted::closed;
            }
            if (outcome != Outcome::full || policy != overflow_policy::block || !mayWait) {
                break;
            }
            if (hasPolled(policy)) {
                continue;
            }
            if (!mayMakeRoom(policy)) {
                break;
            }
            lane.awaitHalfFree(registry_->closed());
        }
        registry_->countDropped();
        return Posted::discarded;
    }

    /// With the shared lane's lock, which is given back.
    template <class Write>
    Outcome tryPostLocked(Lane& lane, const Head& head, std::size_t bytes, overflow_policy policy,
                          Write& write, bool mayWait) {
        constexpr std::uint32_t flags = RecordHeader::foreign;
        const Unlock unlock{*registry_};
        const Outcome outcome = tryPostRarely(lane, flags, head, bytes, write);
        if (outcome != Outcome::full || policy != overflow_policy::overrun_oldest || !mayWait ||
            !mayMakeRoom(policy)) {
            return outcome;
        }
        return lane.evictFor(Writer::roomFor(lane, flags, bytes))
                   ? tryPostRarely(lane, flags, head, bytes, write)
                   : outcome;
    }

    [[nodiscard]] bool isClosed() const noexcept {
        return registry_->closed().load(std::memory_order_acquire);
    }

    /// Whether this is the back end's own thread, which would wait for itself.
    [[nodiscard]] bool isBackEnd() const noexcept {
        return backEndThread_.load(std::memory_order_relaxed) == Threads::mark();
    }

    Registry* const registry_;
    const std::size_t hash_;
    const RoomMaker roomMaker_;
    Atomic<const void*> backEndThread_{nullptr};
    Atomic<unsigned char> isAtWork_{0};
};

}  // namespace sluice::log::detail
