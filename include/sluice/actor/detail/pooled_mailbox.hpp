#pragma once

#include <atomic>

namespace sluice::detail {

/// A message in the mailbox of an object on an executor.
template <class Platform>
struct MailboxNode {
    /// The next older node. In the oldest node, the mailbox state before the push: idle or busy.
    typename Platform::template Cell<void*> older;
    MailboxNode* next = nullptr;  ///< the next message in MailboxBatch; written by the consumer
};

/// The mailbox of an object on an executor: a lock-free stack that its consumer takes as a whole.
/// One word holds the newest message or the object's state, so one atomic step adds a message and
/// shows whether the object must be scheduled.
template <class Platform>
class PooledMailbox {
public:
    using Node = MailboxNode<Platform>;

    enum class Pushed : unsigned char { queued, first, refused };

    /// If push() returns `first`, the caller must schedule the object. If the mailbox has ended or
    /// not begun, push() returns `refused`.
    [[nodiscard]] Pushed push(Node& node) noexcept {
        void* newest = newest_.load(std::memory_order_relaxed);  // hint
        if (newest == &marks_[ended]) {
            return Pushed::refused;
        }
        node.older.construct(newest);
        while (!newest_.compare_exchange_weak(newest, static_cast<void*>(&node),
                                              std::memory_order_release,     // E1 post, E2 turn
                                              std::memory_order_relaxed)) {  // retried
            if (newest == &marks_[ended]) {
                node.older.destroy();
                return Pushed::refused;
            }
            node.older.get() = newest;
        }
        return newest == &marks_[idle] ? Pushed::first : Pushed::queued;
    }

    /// Changes the state from ended to idle. Must be called before other threads may call push().
    /// begin() and cancelBegin() are relaxed: the mailbox is not shared yet.
    void begin() noexcept { newest_.store(&marks_[idle], std::memory_order_relaxed); }
    void cancelBegin() noexcept { newest_.store(&marks_[ended], std::memory_order_relaxed); }

    [[nodiscard]] bool hasEnded() const noexcept {
        return newest_.load(std::memory_order_acquire) == &marks_[ended];  // E3 end
    }

    // ---- The consumer

    [[nodiscard]] bool hasNew() const noexcept {
        return newest_.load(std::memory_order_relaxed) != &marks_[busy];  // hint
    }

    /// Calls take(node) for each new message, the newest first.
    template <class Take>
    void takeAll(Take take) noexcept {
        void* newest = newest_.exchange(&marks_[busy], std::memory_order_acquire);  // E1, E2
        while (newest != &marks_[idle] && newest != &marks_[busy]) {
            auto& node = *static_cast<Node*>(newest);
            newest = node.older.get();
            node.older.destroy();
            take(node);
        }
    }

    /// Changes the state from busy to idle. Fails and returns false if a message has arrived.
    [[nodiscard]] bool goIdle() noexcept { return leave(idle); }
    /// Like goIdle(), but changes the state from busy to ended.
    [[nodiscard]] bool end() noexcept { return leave(ended); }

private:
    // Happens-before edges (proof: docs/algorithms/actors.md):
    //   E1 post: push -> takeAll.
    //   E2 turn: goIdle -> push -> takeAll.
    //   E3 end: end -> hasEnded.

    enum State : unsigned char { idle, busy, ended };

    bool leave(State next) noexcept {
        void* expected = &marks_[busy];
        return newest_.compare_exchange_strong(expected, &marks_[next],
                                               std::memory_order_release,   // E2 turn, E3 end
                                               std::memory_order_relaxed);  // hint
    }

    /// The newest message, or the address of a state in marks_ if the stack is empty.
    typename Platform::template Atomic<void*> newest_{&marks_[ended]};
    char marks_[3]{};  ///< the address of marks_[s] stands for State s
};

/// An empty message that makes an object check its timers. A mailbox contains at most one signal.
template <class Platform>
class MailboxSignal {
    using Mailbox = PooledMailbox<Platform>;
    using Node = MailboxNode<Platform>;

public:
    /// Returns true if the caller must schedule the object.
    [[nodiscard]] bool send(Mailbox& mailbox) noexcept {
        return !isSent_.exchange(true, std::memory_order_acq_rel) &&  // E4 signal, E5 again
               mailbox.push(node_) == Mailbox::Pushed::first;
    }
    [[nodiscard]] bool is(const Node& node) const noexcept { return &node == &node_; }
    /// The consumer calls clear() after taking the signal and before checking the timers.
    void clear() noexcept { isSent_.exchange(false, std::memory_order_acq_rel); }  // E4, E5

private:
    // Happens-before edges: E4 signal: send -> clear. E5 again: clear -> send.

    Node node_;
    typename Platform::template Atomic<bool> isSent_{false};
};

/// A first-in, first-out list of messages that the consumer has taken out of the mailbox.
template <class Message, class Platform>
class MailboxBatch {
public:
    /// Appends the chain from `first` to `last`, linked by MailboxNode::next.
    void append(Message& first, Message& last) noexcept {
        (newest_ != nullptr ? newest_->next : oldest_) = &first;
        newest_ = &last;
    }
    /// Removes and returns the oldest message, or null if the list is empty.
    Message* pop() noexcept {
        auto* const message = static_cast<Message*>(oldest_);
        if (message != nullptr) {
            oldest_ = message->next;
            newest_ = oldest_ == nullptr ? nullptr : newest_;
        }
        return message;
    }

private:
    MailboxNode<Platform>* oldest_ = nullptr;
    MailboxNode<Platform>* newest_ = nullptr;
};

}  // namespace sluice::detail
