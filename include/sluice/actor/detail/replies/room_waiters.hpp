#pragma once

#include <sluice/actor/request.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace sluice::detail {

/// The question of a request that is answered when messages have left a mailbox.
struct UntilRoom {};

/// The threads and coroutines that wait for room in the mailbox of one object. Any thread may add
/// one. The object's thread wakes all of them.
///
/// A wait that was given up leaves a node in the list. While the object does not run, the calls of
/// add() must free these nodes: now and then, one of them renews the list. It frees all nodes, and
/// wakes the waits that were not given up. They try to post again, and add themselves again. If a
/// renewal has woken n waits, the next one is 2n + 64 calls later. So the list stays short, and on
/// average a call wakes less than one other wait.
///
/// Progress: lock-free. A thread that is stopped in a renewal keeps the waits of the old list
/// asleep, until their deadlines. Meanwhile no other thread begins a renewal. So the list grows by
/// one node a call, until the object's thread frees the nodes.
///
/// Edges: E1 room: messages have left the mailbox -> tell() releases newest_ -> add() acquires. So
/// if a thread adds itself too late for tell(), it finds the room when it tries to post.
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

    /// Returns a future that is ready when messages have left the mailbox, or earlier. Before it
    /// waits, the caller must try to post once more.
    [[nodiscard]] typename Room::Future
    add(typename Room::TimePoint deadline = Room::TimePoint::max()) {
        // Relaxed: a count. One thread finds 1, and the others go on.
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
    void tell() noexcept {
        forAll([](const Room& room) { room.reply(); });
    }

private:
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

    /// Frees all nodes, and wakes the waits that were not given up.
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
    /// The number of add() calls until one of them renews the list. Written by any thread.
    Atomic<std::uint32_t> untilRenewal_{leastCalls};
};

}  // namespace sluice::detail
