#pragma once

#include <sluice/actor/request.hpp>

#include <atomic>
#include <utility>

namespace sluice::detail {

/// The question of a request that is answered when messages have left a mailbox.
struct UntilRoom {};

/// The threads and coroutines that wait for room in the mailbox of one object. Any thread may add
/// one. The object's thread wakes all of them.
///
/// Edges: E1 room: messages have left the mailbox -> tell() releases newest_ -> add() acquires. So
/// if a thread adds itself too late for tell(), it finds the room when it tries to post.
template <class Traits>
class RoomWaiters {
public:
    using Room = BasicRequest<Traits, UntilRoom, void>;

    RoomWaiters() = default;
    RoomWaiters(const RoomWaiters&) = delete;
    RoomWaiters& operator=(const RoomWaiters&) = delete;
    /// Cancels all waits.
    ~RoomWaiters() {
        forAll([](const Room& /*room*/) {});
    }

    /// Returns a future that is ready when messages have left the mailbox. Before it waits, the
    /// caller must try to post once more.
    [[nodiscard]] typename Room::Future
    add(typename Room::TimePoint deadline = Room::TimePoint::max()) {
        return Room::make(UntilRoom{}, deadline, [this](Room&& room) {
            auto* const node = new Node{std::move(room), nullptr};
            // Relaxed: only the value is used.
            node->older = newest_.load(std::memory_order_relaxed);
            while (!newest_.compare_exchange_weak(node->older, node, std::memory_order_acq_rel,
                                                  std::memory_order_relaxed)) {  // E1
            }
            return PublishResult::ok;
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

    typename Traits::Platform::template Atomic<Node*> newest_{nullptr};
};

}  // namespace sluice::detail
