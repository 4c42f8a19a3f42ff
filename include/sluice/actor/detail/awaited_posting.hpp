#pragma once

#include <sluice/actor/request.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/bus/message_header.hpp>
#include <sluice/wait/park.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// The question of a request that is answered when messages have left a mailbox.
struct UntilRoom {};

/// The threads and coroutines that wait for room in one object's mailbox. Any thread may add a
/// wait; the object's thread wakes all of them. Lock-free.
template <class Traits>
class RoomWaiters {
    template <class T>
    using Atomic = typename Traits::Platform::template Atomic<T>;

public:
    using Room = BasicRequest<Traits, UntilRoom, void>;

    RoomWaiters() = default;
    RoomWaiters(const RoomWaiters&) = delete;
    RoomWaiters& operator=(const RoomWaiters&) = delete;
    /// Cancels all waits.
    ~RoomWaiters() {
        forAll([](const Room& /*room*/) {});
    }

    /// A future that is ready when messages have left the mailbox, or earlier. Before waiting, the
    /// caller must try to post again.
    [[nodiscard]] typename Room::Future
    add(typename Room::TimePoint deadline = Room::TimePoint::max()) {
        // Relaxed: a count, of which exactly one thread sees 1.
        if (untilRenewal_.fetch_sub(1, std::memory_order_relaxed) == 1) {
            renew();
        }
        return Room::make(UntilRoom{}, deadline, [this](Room&& room) {
            auto* const node = new Node{std::move(room), nullptr};
            // Relaxed: only the value is used.
            node->older = newest_.load(std::memory_order_relaxed);
            while (!newest_.compare_exchange_weak(node->older, node, std::memory_order_acq_rel,
                                                  std::memory_order_relaxed)) {  // E1
            }
            return SendResult::ok;
        });
    }

    /// Called by the object's thread, after messages have left the mailbox.
    void notifyAll() noexcept {
        forAll([](const Room& room) { room.reply(); });
    }

private:
    // An abandoned wait leaves its node in the list. So that the list stays short while the object
    // does not run, some calls of add() renew it: they free all nodes and wake the waits that were
    // not abandoned, which try to post and add themselves again. After a renewal that has woken n
    // waits, the next one is 2n + 64 calls later, so a call wakes less than one other wait on
    // average. A thread preempted in a renewal delays the waits of the old list until their
    // deadlines; no other thread renews the list, which grows by a node for each call.
    //
    // Edge E1: messages have left the mailbox -> notifyAll() releases newest_ -> add() acquires. So
    // a thread that adds itself too late for notifyAll() finds the room when it tries to post.

    struct Node {
        Room room;
        Node* older;
    };

    template <class Use>
    void forAll(Use use) noexcept {
        Node* node = newest_.exchange(nullptr, std::memory_order_acq_rel);  // E1
        while (node != nullptr) {
            use(node->room);
            delete std::exchange(node, node->older);
        }
    }

    void renew() noexcept {
        std::uint32_t awaited = 0;
        forAll([&](const Room& room) {
            awaited += room.isAwaited() ? 1U : 0U;
            room.reply();
        });
        untilRenewal_.store(2 * awaited + leastCalls, std::memory_order_relaxed);  // see add()
    }

    static constexpr std::uint32_t leastCalls = 64;

    Atomic<Node*> newest_{nullptr};
    /// Calls of add() until the next renewal; written by any thread.
    Atomic<std::uint32_t> untilRenewal_{leastCalls};
};

/// A post that a coroutine awaits. See Coroutine.
template <class Object, class T>
struct PostToAwait {
    Object& object;
    T message;
    std::chrono::nanoseconds timeout;
    PublishOptions options;
};

/// Whether the post failed because there was no room.
[[nodiscard]] constexpr bool isWithoutRoom(SendResult result) noexcept {
    return result == SendResult::full;
}

/// Adds posts that wait for room, by a thread or by a coroutine, to an object with `tryPost`.
template <class Object, class Traits, bool IsOn = Traits::awaitedPosts>
class AwaitedPosting {
public:
    template <class... Args>
    void awaitPost(Args&&...) {
        refuse<Args...>();
    }

protected:
    template <class... Args>
    SendResult tryFor(Args&&...) {
        refuse<Args...>();
        return SendResult::full;
    }
    void notifyRoom() noexcept {}

private:
    template <class... Args>
    static void refuse() {
        static_assert(sizeof...(Args) == 0,
                      "to wait for room, set awaitedPosts to true in the traits of this object");
    }
};

template <class Object, class Traits>
class AwaitedPosting<Object, Traits, true> {
public:
    /// For `co_await`: the coroutine waits for room for at most `timeout`, and posts the message.
    template <class T, class Rep, class Period, class Options = PublishOptions>
    [[nodiscard]] auto awaitPost(T&& message, std::chrono::duration<Rep, Period> timeout,
                                 const Options& options = {}) {
        using Nanoseconds = std::chrono::time_point<StdPlatform::Clock, std::chrono::nanoseconds>;
        static_assert(std::is_nothrow_move_constructible_v<std::decay_t<T>>,
                      "a message whose post is awaited must have a noexcept move constructor");
        return PostToAwait<Object, std::decay_t<T>>{
            static_cast<Object&>(*this), std::forward<T>(message),
            deadlineAfter(Nanoseconds(), timeout).time_since_epoch(), optionsOf<Traits>(options)};
    }
    /// Ready when messages have left the mailbox, or earlier.
    [[nodiscard]] Future<void> room() { return waiters_.add(); }

protected:
    /// Calls tryOnce() until it finds room, for at most `timeout`; only once in a handler. Returns
    /// the last result.
    template <class Rep, class Period, class TryOnce>
    SendResult tryFor(std::chrono::duration<Rep, Period> timeout, const TryOnce& tryOnce) {
        const auto deadline = deadlineAfter<StdPlatform::Clock>(timeout);
        for (;;) {
            Future<void> room = waiters_.add(deadline);
            const SendResult result = tryOnce();
            if (!isWithoutRoom(result) || HandlerThread<StdPlatform>::isHere()) {
                return result;
            }
            if (!room.get()) {
                // Retry: a thread preempted in add() may have consumed the wake-up.
                return tryOnce();
            }
        }
    }
    /// Called by the object's thread, after it has handled messages.
    void notifyRoom() noexcept { waiters_.notifyAll(); }

private:
    RoomWaiters<RequestTraits> waiters_;
};

}  // namespace sluice::detail
