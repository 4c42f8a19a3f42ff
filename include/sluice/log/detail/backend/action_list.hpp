#pragma once

#include <memory>
#include <mutex>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <utility>

namespace sluice::log::detail {

/// An action that a thread sends to the back end. The sender allocates it. The end of a logger must
/// not fail, so the logger allocates that action when it begins.
class OrderedAction {
public:
    OrderedAction() = default;
    OrderedAction(const OrderedAction&) = delete;
    OrderedAction& operator=(const OrderedAction&) = delete;
    virtual ~OrderedAction() = default;

    /// The back end calls it after it has written each record with an earlier stamp.
    virtual void run() noexcept = 0;

    /// Called instead of run() if the back end has ended first.
    virtual void abandon() noexcept {}

private:
    friend class ActionList;
    Stamp stamp_ = 0;
    std::unique_ptr<OrderedAction> next_;
};

/// An action that calls `action()`.
template <class Action>
class FunctionAction final : public OrderedAction {
public:
    explicit FunctionAction(Action action) : action_(std::move(action)) {}

    void run() noexcept override { action_(); }

private:
    Action action_;
};

/// The actions that wait for the back end, in order with the records.
///
/// Flushes, changes of format and ends of loggers are actions. Each has a stamp of the same clock
/// as the records. The back end runs an action after it has written all records with earlier
/// stamps. An action takes no room in a lane, so it is never dropped, and its sender does not wait
/// for room.
///
/// Threads: any thread may call push(). Only the back end takes actions.
///
/// Invariant: stamps in the list never decrease, because push() reads the clock while it holds the
/// lock. Exception: they decrease if the clock starts again. Then takeUntil() takes actions without
/// regard to their stamps.
///
/// Edge: the back end calls look(), then it locks the list and takes actions. An action whose
/// push() returned before the look is in the list. An action that is pushed later has a stamp after
/// the look, so its stamp is not below the watermark: it stays in the list for a later harvest.
///
/// Tests: tests/unit/log/action_list_test.cpp.
class ActionList {
public:
    ActionList() = default;
    ActionList(const ActionList&) = delete;
    ActionList& operator=(const ActionList&) = delete;
    ~ActionList() { abandon(std::move(first_)); }

    /// Takes over `action` and stamps it with the result of now(). False if the list is closed:
    /// then the caller keeps `action`.
    template <class Now>
    [[nodiscard]] bool push(std::unique_ptr<OrderedAction>& action, Now&& now) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (isClosed_) {
            return false;
        }
        action->stamp_ = now();
        OrderedAction* const added = action.get();
        (last_ != nullptr ? last_->next_ : first_) = std::move(action);
        last_ = added;
        return true;
    }

    /// Calls handle(action, stamp) for each action with a stamp below `limit`, in order. It holds
    /// no lock during the call.
    template <class Handle>
    void takeBefore(Stamp limit, Handle&& handle) {
        while (std::unique_ptr<OrderedAction> action = takeOne(limit)) {
            handle(*action, action->stamp_);
        }
    }

    /// The newest action at some moment, and its stamp. Null and 0 for an empty list.
    struct Mark {
        const OrderedAction* action;
        Stamp stamp;
    };
    Mark newest() noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        return last_ == nullptr ? Mark{nullptr, 0} : Mark{last_, last_->stamp_};
    }

    /// The same for all actions up to the mark, with any stamp. The caller has taken no action
    /// since newest().
    template <class Handle>
    void takeUntil(Mark mark, Handle&& handle) {
        for (bool isLast = mark.action == nullptr; !isLast;) {
            const std::unique_ptr<OrderedAction> action = takeOne(endOfTime);
            isLast = action == nullptr || action.get() == mark.action;
            if (action != nullptr) {
                handle(*action, action->stamp_);
            }
        }
    }

    /// Refuses later actions, and abandons those in the list.
    void close() noexcept {
        std::unique_ptr<OrderedAction> left;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            isClosed_ = true;
            last_ = nullptr;
            left = std::move(first_);
        }
        abandon(std::move(left));
    }

    /// Called around fork(), so that the child gets a complete list.
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

    /// Called in the child of a fork(). Empties the list without destroying the actions, because
    /// other threads of the parent may have been using the objects that they hold.
    void forget() noexcept {
        static_cast<void>(first_.release());
        last_ = nullptr;
    }

private:
    std::unique_ptr<OrderedAction> takeOne(Stamp limit) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!first_ || first_->stamp_ >= limit) {
            return nullptr;
        }
        std::unique_ptr<OrderedAction> taken = std::move(first_);
        first_ = std::move(taken->next_);
        if (!first_) {
            last_ = nullptr;
        }
        return taken;
    }

    /// Abandons and destroys the actions one by one. The destructor of `first` would recurse, and
    /// need much stack for a long list.
    static void abandon(std::unique_ptr<OrderedAction> first) noexcept {
        while (first) {
            first->abandon();
            std::unique_ptr<OrderedAction> next = std::move(first->next_);
            first = std::move(next);
        }
    }

    std::mutex mutex_;  ///< guards the following
    std::unique_ptr<OrderedAction> first_;
    OrderedAction* last_ = nullptr;
    bool isClosed_ = false;
};

}  // namespace sluice::log::detail
