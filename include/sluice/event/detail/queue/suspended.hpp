#pragma once

#include <utility>

namespace sluice::detail {

/// Who waits without a thread: a coroutine that has been suspended until there is an event.
struct Suspended {
    explicit Suspended(void (*ownWake)(Suspended&)) noexcept : wake(ownWake) {}
    Suspended(const Suspended&) = delete;
    Suspended& operator=(const Suspended&) = delete;

    /// Looks again whether it may go on. Called once for each time it was added to a line.
    void (*const wake)(Suspended&);
    Suspended* next = nullptr;
    bool isWaiting = false;

protected:
    ~Suspended() = default;
};

/// What became of an attempt to wait.
enum class Suspension {
    waits,
    refused,  ///< there is an event
    ended     ///< there will be none
};

/// First come, first woken. Does not lock.
class SuspendedLine {
public:
    bool isEmpty() const noexcept { return first_ == nullptr; }

    void append(Suspended& who) noexcept {
        who.isWaiting = true;
        *end_ = &who;
        end_ = &who.next;
    }

    /// The first one, or nullptr.
    Suspended* takeFirst() noexcept {
        if (first_ == nullptr) {
            return nullptr;
        }
        Suspended* const who = first_;
        remove(first_);
        return who;
    }

    /// All, linked.
    Suspended* takeAll() noexcept {
        for (Suspended* who = first_; who != nullptr; who = who->next) {
            who->isWaiting = false;
        }
        end_ = &first_;
        return std::exchange(first_, nullptr);
    }

    void remove(const Suspended& who) noexcept {
        for (Suspended** link = &first_; *link != nullptr; link = &(*link)->next) {
            if (*link == &who) {
                remove(*link);
                return;
            }
        }
    }

private:
    void remove(Suspended*& link) noexcept {
        Suspended& who = *link;
        if (end_ == &who.next) {
            end_ = &link;
        }
        link = std::exchange(who.next, nullptr);
        who.isWaiting = false;
    }

    Suspended* first_ = nullptr;
    Suspended** end_ = &first_;
};

/// Without a lock: each of them may destroy itself, and what it waited for.
inline void wakeAll(Suspended* who) noexcept {
    while (who != nullptr) {
        Suspended& next = *who;
        who = std::exchange(next.next, nullptr);
        next.wake(next);
    }
}

}  // namespace sluice::detail
