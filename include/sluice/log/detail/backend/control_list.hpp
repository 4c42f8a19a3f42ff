#pragma once

#include <memory>
#include <mutex>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <utility>

namespace sluice::log::detail {

/// An action that a thread sends to the back end. The sender allocates it. The end of a logger must
/// not fail, so the logger allocates that action when it begins.
class Control {
public:
    Control() = default;
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;
    virtual ~Control() = default;

    /// The back end calls it after it has written each record with an earlier stamp.
    virtual void run() noexcept = 0;

    /// Called instead of run() if the back end has ended first.
    virtual void abandon() noexcept {}

private:
    friend class ControlList;
    Stamp stamp_ = 0;
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
/// Tests: tests/unit/log/control_list_test.cpp.
class ControlList {
public:
    ControlList() = default;
    ControlList(const ControlList&) = delete;
    ControlList& operator=(const ControlList&) = delete;
    ~ControlList() { abandon(std::move(first_)); }

    /// Takes over `control` and stamps it with the result of now(). False if the list is closed:
    /// then the caller keeps `control`.
    template <class Now>
    [[nodiscard]] bool push(std::unique_ptr<Control>& control, Now&& now) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (isClosed_) {
            return false;
        }
        control->stamp_ = now();
        Control* const added = control.get();
        (last_ != nullptr ? last_->next_ : first_) = std::move(control);
        last_ = added;
        return true;
    }

    /// Calls handle(control, stamp) for each action with a stamp below `limit`, in order. It holds
    /// no lock during the call.
    template <class Handle>
    void takeBefore(Stamp limit, Handle&& handle) {
        while (std::unique_ptr<Control> control = takeOne(limit)) {
            handle(*control, control->stamp_);
        }
    }

    /// The newest action at some moment, and its stamp. Null and 0 for an empty list.
    struct Mark {
        const Control* control;
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
        for (bool isLast = mark.control == nullptr; !isLast;) {
            const std::unique_ptr<Control> control = takeOne(endOfTime);
            isLast = control == nullptr || control.get() == mark.control;
            if (control != nullptr) {
                handle(*control, control->stamp_);
            }
        }
    }

    /// Refuses later actions, and abandons those in the list.
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
    std::unique_ptr<Control> takeOne(Stamp limit) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!first_ || first_->stamp_ >= limit) {
            return nullptr;
        }
        std::unique_ptr<Control> taken = std::move(first_);
        first_ = std::move(taken->next_);
        if (!first_) {
            last_ = nullptr;
        }
        return taken;
    }

    /// Abandons and destroys the actions one by one. The destructor of `first` would recurse, and
    /// need much stack for a long list.
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
