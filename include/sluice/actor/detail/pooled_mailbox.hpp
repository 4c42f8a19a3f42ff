#pragma once

#include <atomic>

namespace sluice::detail {

/// A message on its way to an object on an executor.
template <class Platform>
struct MailboxNode {
    /// While the node is in a mailbox: the next older message, or the state below the oldest one.
    typename Platform::template Cell<void*> older;
    MailboxNode* next = nullptr;  ///< the next message in MailboxBatch; written by the consumer
};

/// The mailbox of an object on an executor: a stack of messages. Its consumer takes the whole stack
/// at once. One word is both the newest message and the state of the object. So one atomic step
/// adds a message and tells whether the object must be scheduled.
///
/// The word is one of these:
///
/// - *ended*: the mailbox refuses messages;
/// - *idle*: there are no messages, and no thread has the object;
/// - *busy*: there are no new messages, and the object is scheduled or running;
/// - a message, with older messages below it, and idle or busy below the oldest one.
///
/// The thread that changes idle to another state schedules the object. The thread that runs the
/// object is its only consumer.
///
/// Progress: push() is lock-free; a stopped thread delays no other thread. The other functions take
/// one step.
///
/// Edges:
///
/// - E1 message: the writes of the poster -> push() releases -> takeAll() acquires.
/// - E2 object: the writes of its consumer -> goIdle() releases -> push() continues with the same
///   word -> takeAll() of the next consumer acquires.
/// - E3 end: the last use of the object -> end() releases -> hasEnded() acquires.
///
/// Origin: the stack of R. K. Treiber (1986). The consumer takes it as a whole, as in the library
/// CAF.
template <class Platform>
class PooledMailbox {
public:
    using Node = MailboxNode<Platform>;

    enum class Pushed : unsigned char { queued, first, refused };

    /// Adds a message. After `first` the caller must schedule the object. `refused`: the object has
    /// ended, or has not begun.
    [[nodiscard]] Pushed push(Node& node) noexcept {
        void* newest = newest_.load(std::memory_order_relaxed);  // relaxed: the exchange checks it
        if (newest == &marks_[ended]) {
            return Pushed::refused;
        }
        node.older.construct(newest);
        while (!newest_.compare_exchange_weak(newest, static_cast<void*>(&node),
                                              std::memory_order_release,  // E1, E2
                                              std::memory_order_relaxed)) {
            if (newest == &marks_[ended]) {
                node.older.destroy();
                return Pushed::refused;
            }
            node.older.get() = newest;
        }
        return newest == &marks_[idle] ? Pushed::first : Pushed::queued;
    }

    /// Changes ended to idle. Called before other threads may push.
    void begin() noexcept { newest_.store(&marks_[idle], std::memory_order_relaxed); }

    /// Changes idle back to ended. Called only if no thread has pushed.
    void cancelBegin() noexcept {
        newest_.store(&marks_[ended], std::memory_order_relaxed);  // relaxed: as begin()
    }

    [[nodiscard]] bool hasEnded() const noexcept {
        return newest_.load(std::memory_order_acquire) == &marks_[ended];  // E3
    }

    // ---- The consumer

    /// Whether takeAll() would find messages.
    [[nodiscard]] bool hasNew() const noexcept {
        return newest_.load(std::memory_order_relaxed) != &marks_[busy];  // relaxed: a hint
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

    /// Changes busy to idle. False if a message has come: then the object stays busy.
    [[nodiscard]] bool goIdle() noexcept { return leave(idle); }  // E2
    /// The same, but changes busy to ended.
    [[nodiscard]] bool end() noexcept { return leave(ended); }  // E3

private:
    enum State : unsigned char { idle, busy, ended };

    bool leave(State next) noexcept {
        void* expected = &marks_[busy];
        return newest_.compare_exchange_strong(expected, &marks_[next], std::memory_order_release,
                                               std::memory_order_relaxed);
    }

    typename Platform::template Atomic<void*> newest_{&marks_[ended]};
    char marks_[3]{};  ///< the address of each element is a state
};

/// A message without content. It tells the object that there is news in another place. It is in a
/// mailbox at most once, even if it is sent several times.
///
/// Edges: E1 news: news written -> send() -> clear() -> news read. E2 reuse: last use of the
/// node by the consumer -> clear() -> the next send() that uses the node.
template <class Platform>
class MailboxSignal {
    using Mailbox = PooledMailbox<Platform>;
    using Node = MailboxNode<Platform>;

public:
    /// Sends it. True if the caller must schedule the object.
    [[nodiscard]] bool send(Mailbox& mailbox) noexcept {
        return !isSent_.exchange(true, std::memory_order_acq_rel) &&  // E1, E2
               mailbox.push(node_) == Mailbox::Pushed::first;
    }
    /// Whether a node that was taken is this message.
    [[nodiscard]] bool is(const Node& node) const noexcept { return &node == &node_; }
    /// The consumer calls it when it has taken the message, before it reads the news.
    void clear() noexcept { isSent_.exchange(false, std::memory_order_acq_rel); }  // E1, E2

private:
    Node node_;
    typename Platform::template Atomic<bool> isSent_{false};
};

/// The messages that the consumer of an object has taken out of the mailbox, in the order in which
/// they are handled. Message derives from MailboxNode.
template <class Message, class Platform>
class MailboxBatch {
public:
    /// Appends a chain of messages, which are linked by `next`.
    void append(Message& first, Message& last) noexcept {
        (newest_ != nullptr ? newest_->next : oldest_) = &first;
        newest_ = &last;
    }
    /// Removes and returns the oldest message. Null if there is none.
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
