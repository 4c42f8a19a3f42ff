#pragma once

#include <memory>
#include <mutex>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <utility>

namespace sluice::log::detail {

/// An action of the back end. The sender allocates it. For an action that must not fail, such as
/// the end of a logger, the sender allocates it early, when the logger begins.
class Control {
public:
    Control() = default;
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;
    virtual ~Control() = default;

    /// Runs on the back end after each record with an earlier stamp is written.
    virtual void run() noexcept = 0;

    /// The back end has ended without running it.
    virtual void abandon() noexcept {}

private:
    friend class ControlList;
    Key key_ = 0;
    std::unique_ptr<Control> next_;
};

/// A control that calls `action()`.
template <class Action>
class ActionControl final : public Control {
public:
    explicit ActionControl(Action action) : action_(std::move(action)) {}

    void run() noexcept override { action_(); }

private:
    Action action_;
};

/// The actions that wait for the back end, in order with the records.
///
/// Flushes, changes of format, the end of a logger: each has a stamp of the same clock as the
/// records. The back end runs it after it has written all records with earlier stamps. An action
/// takes no room in a lane. So it cannot be dropped, and its sender does not wait for room.
///
/// Any thread may push(). Only the back end takes.
///
/// Invariant: stamps in the list never decrease, because push() reads the clock with the lock. They
/// decrease if the clock starts again; takeUntil() ignores them.
///
/// Edge: the back end calls look(), then it locks the list and takes. A push that returned before
/// the look is in the list. A later push has a stamp after the look, so its stamp is not below the
/// watermark: it waits in the list for a later harvest.
///
/// Tests: tests/unit/log/control_list_test.cpp.
class ControlList {
public:
    ControlList() = default;
    ControlList(const ControlList&) = delete;
    ControlList& operator=(const ControlList&) = delete;
    ~ControlList() { abandon(std::move(first_)); }

    /// Takes over `control` and stamps it with the result of `now`. False if the list is closed:
    /// then the caller keeps it.
    template <class Now>
    [[nodiscard]] bool push(std::unique_ptr<Control>& control, Now&& now) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (isClosed_) {
            return false;
        }
        control->key_ = now();
        Control* const added = control.get();
        (last_ != nullptr ? last_->next_ : first_) = std::move(control);
        last_ = added;
        return true;
    }

    /// Calls `handle(control, key)` for each entry with a stamp below `limit`, in order, without
    /// the lock.
    template <class Handle>
    void takeBefore(Key limit, Handle&& handle) {
        while (std::unique_ptr<Control> control = takeOne(limit)) {
            handle(*control, control->key_);
        }
    }

    /// The last entry at a moment, and its stamp. Null and 0 for an empty list.
    struct Mark {
        const Control* control;
        Key key;
    };
    Mark newest() noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        return last_ == nullptr ? Mark{nullptr, 0} : Mark{last_, last_->key_};
    }

    /// The same for all entries up to the mark, with any stamp. The caller has taken no entry since
    /// newest().
    template <class Handle>
    void takeUntil(Mark mark, Handle&& handle) {
        for (bool isLast = mark.control == nullptr; !isLast;) {
            const std::unique_ptr<Control> control = takeOne(endOfTime);
            isLast = control == nullptr || control.get() == mark.control;
            if (control != nullptr) {
                handle(*control, control->key_);
            }
        }
    }

    /// Refuses later entries, and abandons those in the list.
    void close() noexcept {
        std::unique_ptr<Control> left;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            isClosed_ = true;
            last_ = nullptr;
            left = std::move(first_);
        }
        abandon(std::move(left));
    }

    /// Around fork(), so that the child gets a complete list.
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

    /// In the child of a fork(): the senders of the entries do not exist. The entries are leaked,
    /// because other threads may have been using the objects that they hold.
    void forget() noexcept {
        static_cast<void>(first_.release());
        last_ = nullptr;
    }

private:
    std::unique_ptr<Control> takeOne(Key limit) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!first_ || first_->key_ >= limit) {
            return nullptr;
        }
        std::unique_ptr<Control> taken = std::move(first_);
        first_ = std::move(taken->next_);
        if (!first_) {
            last_ = nullptr;
        }
        return taken;
    }

    /// One after the other: recursion would need much stack for a long list.
    static void abandon(std::unique_ptr<Control> first) noexcept {
        while (first) {
            first->abandon();
            std::unique_ptr<Control> next = std::move(first->next_);
            first = std::move(next);
        }
    }

    std::mutex mutex_;  ///< guards the following
    std::unique_ptr<Control> first_;
    Control* last_ = nullptr;
    bool isClosed_ = false;
};

}  // namespace sluice::log::detail
