#pragma once

#include <memory>
#include <mutex>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <utility>

namespace sluice::log::detail {

/// An action of the back end. Each one lives in a node of its own, which the sender allocates: what
/// must not fail, such as the end of a logger, is allocated when that begins.
class Control {
public:
    Control() = default;
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;
    virtual ~Control() = default;

    /// Runs on the back end when every record stamped up to here is written.
    virtual void run() noexcept = 0;

    /// The back end has ended without coming to it.
    virtual void abandon() noexcept {}

private:
    friend class ControlList;
    Key key_ = 0;
    std::unique_ptr<Control> next_;
};

/// What travels beside the records, and in order with them.
///
/// Flushes, changes of format, the end of a logger: each carries a stamp of the same clock as the
/// records and is carried out when everything stamped before it has been written. It takes no room
/// in any lane, so it cannot be dropped and nobody waits for room to send it.
///
/// Any thread may push(); the back end alone takes.
///
/// Invariant: stamps in the list never decrease, since each is taken while the list is locked. When
/// the clock has started again they do, and takeUntil() does not look at them.
/// Edge: a push that returned before the back end's look() is in the list that the back end takes
/// after that look(). One that comes later has a stamp of after the look, thus beyond its
/// watermark: either it is taken the next time, or it waits in the list for that.
///
/// Tests: tests/unit/log/control_list_test.cpp.
class ControlList {
public:
    ControlList() = default;
    ControlList(const ControlList&) = delete;
    ControlList& operator=(const ControlList&) = delete;
    ~ControlList() { abandon(std::move(first_)); }

    /// Takes over `control` and stamps it with what `now` returns; false, and nothing has happened,
    /// when the list is closed.
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

    /// Calls `handle(control, key)` for each entry with a stamp below `limit`, in order, under no
    /// lock.
    template <class Handle>
    void takeBefore(Key limit, Handle&& handle) {
        while (std::unique_ptr<Control> control = takeOne(limit)) {
            handle(*control, control->key_);
        }
    }

    /// The last entry at some moment, and its stamp; none and 0 of an empty list.
    struct Mark {
        const Control* control;
        Key key;
    };
    Mark newest() noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        return last_ == nullptr ? Mark{nullptr, 0} : Mark{last_, last_->key_};
    }

    /// As takeBefore() for all entries up to that one, whatever their stamps. The caller has taken
    /// nothing since newest().
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

    /// Nothing more is accepted; what is in the list is abandoned.
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

    /// Around fork(), so that the child finds the list whole.
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

    /// In the child of a fork(): who sent the entries does not exist. They are leaked, since others
    /// may have been inside of what they hold.
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

    /// One after the other: a long list must not be destroyed by recursion.
    static void abandon(std::unique_ptr<Control> first) noexcept {
        while (first) {
            first->abandon();
            std::unique_ptr<Control> next = std::move(first->next_);
            first = std::move(next);
        }
    }

    std::mutex mutex_;
    std::unique_ptr<Control> first_;
    Control* last_ = nullptr;
    bool isClosed_ = false;
};

}  // namespace sluice::log::detail
