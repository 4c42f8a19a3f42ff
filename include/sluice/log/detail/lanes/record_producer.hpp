#pragma once

#include <sluice/base/setup_error.hpp>
#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/record_queue_options.hpp>
#include <sluice/log/detail/lanes/record_writer.hpp>
#include <sluice/log/detail/lanes/signal_safe_scope.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::log::detail {

/// The logging threads' side of a record queue.
///
/// It writes a record into the calling thread's lane, or into the shared lane. If there is no room,
/// it makes room as the policy says. RecordQueue::post() has the contract.
///
/// Tests: those of RecordQueue.
template <class Head, class Traits>
class RecordProducer {
    using Platform = typename Traits::Platform;
    using Registry = LaneRegistry<Traits>;
    using RecordLane = typename Registry::RecordLane;
    using Threads = typename Registry::Threads;
    using Writer = RecordWriter<Head, Traits>;
    using WriteResult = typename Writer::WriteResult;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    RecordProducer(Registry* registry, RoomMaker roomMaker) noexcept
        : registry_(registry), hash_(Threads::hash(registry)), roomMaker_(roomMaker) {}
    RecordProducer(const RecordProducer&) = delete;
    RecordProducer& operator=(const RecordProducer&) = delete;

    template <class Write>
    SendResult post(const Head& head, std::size_t bytes, Overflow policy, Write&& write) {
        RecordLane* const lane = Threads::findFirst(registry_, hash_);
        if (__builtin_expect(lane == nullptr || !lane->enter(), 0)) {
            return postElsewhere(head, bytes, policy, write);
        }
        return postToOwn(*lane, head, bytes, policy, write);
    }

    // ---- Back end

    /// Marks the calling thread as the back end's, while it lives. Posts of this thread do not wait
    /// for room, because this thread alone can make room.
    class AtWork {
    public:
        explicit AtWork(RecordProducer& producer) noexcept : producer_(producer) {
            // Relaxed, all: only posts of the same thread depend on the values.
            producer.backEndThread_.store(Threads::mark(), std::memory_order_relaxed);
            producer.isAtWork_.store(1, std::memory_order_relaxed);
        }
        ~AtWork() { producer_.isAtWork_.store(0, std::memory_order_relaxed); }
        AtWork(const AtWork&) = delete;
        AtWork& operator=(const AtWork&) = delete;

    private:
        RecordProducer& producer_;
    };

    /// Until the next AtWork, no thread is the back end's.
    void forgetBackEnd() noexcept {
        backEndThread_.store(nullptr, std::memory_order_relaxed);  // relaxed: see AtWork
        isAtWork_.store(0, std::memory_order_relaxed);
    }

private:
    using SharedGuard = typename Registry::SharedGuard;

    struct LeaveLane {
        RecordLane& lane;
        ~LeaveLane() { lane.leave(); }
    };

    template <class Write>
    SendResult postToOwn(RecordLane& lane, const Head& head, std::size_t bytes, Overflow policy,
                         Write& write) {
        const LeaveLane leave{lane};
        const WriteResult result = Writer::tryPost(*registry_, lane, 0, head, bytes, write);
        if (__builtin_expect(result == WriteResult::ok, 1)) {
            return SendResult::ok;
        }
        return postWithoutRoom(lane, head, bytes, policy, write, result);
    }

    /// The same as tryPost(), out of line. For the rare cases.
    template <class Write>
    [[gnu::cold, gnu::noinline]] WriteResult tryPostRarely(RecordLane& lane, std::uint32_t flags,
                                                           const Head& head, std::size_t bytes,
                                                           Write& write) {
        return Writer::tryPost(*registry_, lane, flags, head, bytes, write);
    }

    /// Makes room as the policy says, and tries again.
    template <class Write>
    [[gnu::cold, gnu::noinline]] SendResult postWithoutRoom(RecordLane& lane, const Head& head,
                                                            std::size_t bytes, Overflow policy,
                                                            Write& write, WriteResult result) {
        while (result == WriteResult::full && makeRoom(lane, bytes, policy)) {
            result = tryPostRarely(lane, 0, head, bytes, write);
        }
        if (result == WriteResult::ok) {
            return SendResult::ok;
        }
        if (result == WriteResult::closed || isClosed()) {
            return SendResult::closed;
        }
        lane.countRejected();
        return SendResult::full;
    }

    /// Makes room for the record, or waits for room. False if the policy or the state of the thread
    /// does not allow it.
    bool makeRoom(RecordLane& lane, std::size_t bytes, Overflow policy) {
        if (hasPolled(policy)) {
            return !isClosed();
        }
        if (!mayMakeRoom(policy)) {
            return false;
        }
        const RecordSize size = Writer::sizeIn(lane, 0, bytes);
        if (policy == Overflow::dropOldest) {
            return lane.evictFor(size);
        }
        lane.awaitRoom(size, registry_->closed());
        return !isClosed();
    }

    /// If the calling thread polls a manual back end, it empties the lanes instead of waiting for
    /// room. False on any other thread.
    bool hasPolled(Overflow policy) {
        return policy == Overflow::block && roomMaker_.make != nullptr &&
               !SignalSafeScope::isActive() && roomMaker_.make(roomMaker_.core);
    }

    /// Whether the calling thread may wait or evict. The back end's own thread cannot wait for
    /// itself, and cannot evict records while it emits.
    [[nodiscard]] bool mayMakeRoom(Overflow policy) const noexcept {
        // Relaxed: see AtWork.
        return policy == Overflow::dropOldest
                   ? !isBackEnd() || isAtWork_.load(std::memory_order_relaxed) == 0
                   : policy == Overflow::block && !isBackEnd() && !SignalSafeScope::isActive();
    }

    /// Posts in the rare cases: the thread has no lane, or the post interrupts another post of the
    /// thread.
    template <class Write>
    [[gnu::cold, gnu::noinline]] SendResult postElsewhere(const Head& head, std::size_t bytes,
                                                          Overflow policy, Write& write) {
        RecordLane* lane = Threads::find(registry_, hash_);
        bool mayWait = lane == nullptr && !SignalSafeScope::isActive();
        if (mayWait) {
            lane = enroll();
        }
        if (lane != nullptr && lane->enter()) {
            return postToOwn(*lane, head, bytes, policy, write);
        }
        return postToShared(head, bytes, policy, write, mayWait);
    }

    /// Gives the calling thread a lane. Null if the thread is ending, or if there is no memory.
    RecordLane* enroll() noexcept {
        // So that a signal handler does not enroll the same thread meanwhile.
        const SignalSafeScope scope;
        return sluice::detail::resultOrDefault([this] { return Threads::add(*registry_); });
    }

    template <class Write>
    SendResult postToShared(const Head& head, std::size_t bytes, Overflow policy, Write& write,
                            bool mayWait) {
        RecordLane& lane = registry_->shared();
        while (SharedGuard guard = registry_->lockShared(!mayWait)) {
            const WriteResult result =
                tryPostToShared(std::move(guard), lane, head, bytes, policy, write, mayWait);
            if (result == WriteResult::ok) {
                return SendResult::ok;
            }
            if (result == WriteResult::closed || isClosed()) {
                return SendResult::closed;
            }
            if (result != WriteResult::full || policy != Overflow::block || !mayWait) {
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
        return SendResult::full;
    }

    /// Makes one attempt to post into the shared lane, and unlocks the lane.
    template <class Write>
    WriteResult tryPostToShared(SharedGuard /*guard*/, RecordLane& lane, const Head& head,
                                std::size_t bytes, Overflow policy, Write& write, bool mayWait) {
        constexpr std::uint32_t flags = RecordFrame::foreign;
        const WriteResult result = tryPostRarely(lane, flags, head, bytes, write);
        if (result != WriteResult::full || policy != Overflow::dropOldest || !mayWait ||
            !mayMakeRoom(policy)) {
            return result;
        }
        return lane.evictFor(Writer::sizeIn(lane, flags, bytes))
                   ? tryPostRarely(lane, flags, head, bytes, write)
                   : result;
    }

    [[nodiscard]] bool isClosed() const noexcept {
        return registry_->closed().load(std::memory_order_acquire);
    }

    /// Whether the calling thread is the back end's.
    [[nodiscard]] bool isBackEnd() const noexcept {
        return backEndThread_.load(std::memory_order_relaxed) == Threads::mark();
    }

    Registry* const registry_;
    const std::size_t hash_;  ///< hash of registry_, for ThreadSlots
    const RoomMaker roomMaker_;
    /// Mark of the back end's thread; written by that thread.
    Atomic<const void*> backEndThread_{nullptr};
    Atomic<unsigned char> isAtWork_{0};  ///< whether an AtWork lives; written by the same thread
};

}  // namespace sluice::log::detail
