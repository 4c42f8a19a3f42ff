#pragma once

#include <sluice/actor/detail/replies/waker.hpp>

#include <atomic>
#include <cstddef>
#include <utility>

namespace sluice::detail {

/// A coroutine of an object. This part lies in the frame of the coroutine. It has the functions
/// that a C++20 promise has, because this header compiles as C++17.
struct CoroutineFrame {
    /// Continues the coroutine until it waits or ends. True if it has ended: then the frame is
    /// destroyed. Exceptions of the coroutine leave this function.
    bool (*goOn)(CoroutineFrame&);
    void (*destroy)(CoroutineFrame&) noexcept;
};

/// Continues the coroutines of one object: those that other threads have woken, and those whose
/// deadline has come. Any thread may call Waiting::wake(). The object's thread calls all other
/// functions.
///
/// Edges: E1 woken: the writes of the waking thread -> woken_ pushed with release .. taken with
/// acquire -> the coroutine.
template <class Platform>
class CoroutineScheduler {
public:
    using TimePoint = typename Platform::Clock::time_point;

    /// The base of an object that a coroutine awaits.
    class Waiting : public Waker {
    public:
        /// Called after the coroutine was woken. Whether the coroutine continues; otherwise it
        /// waits again.
        virtual bool isDone() = 0;
        /// Called at the deadline. False if another thread has woken the coroutine meanwhile.
        virtual bool giveUp() = 0;

    protected:
        Waiting(CoroutineScheduler& scheduler, CoroutineFrame& frame) noexcept
            : Waker([](Waker& waker) noexcept {
                  auto& self = static_cast<Waiting&>(waker);
                  self.scheduler_.push(self);
              }),
              scheduler_(scheduler),
              frame_(frame) {
            nextWoken_.construct(nullptr);
        }
        ~Waiting() = default;

        void begin(TimePoint deadline) noexcept { scheduler_.insert(*this, deadline); }
        void end() noexcept { scheduler_.remove(*this); }

    private:
        friend CoroutineScheduler;

        CoroutineScheduler& scheduler_;
        CoroutineFrame& frame_;
        TimePoint deadline_{};
        Waiting* earlier_ = nullptr;
        Waiting* later_ = nullptr;
        bool isWaiting_ = false;
        bool isLate_ = false;  ///< whether its deadline has come
        /// The coroutine that was woken before this one. Written by the waking thread, then by the
        /// object's thread.
        typename Platform::template Cell<Waiting*> nextWoken_;
    };

    /// A function that makes the object's thread look for woken coroutines. Any thread calls it.
    using Tell = void (*)(CoroutineScheduler&) noexcept;

    explicit CoroutineScheduler(Tell tell) noexcept : tell_(tell) {}
    CoroutineScheduler(const CoroutineScheduler&) = delete;
    CoroutineScheduler& operator=(const CoroutineScheduler&) = delete;
    ~CoroutineScheduler() { destroyAll(); }

    /// The number of coroutines that have not ended.
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    /// Starts a coroutine, which runs until it waits.
    void start(CoroutineFrame& frame) {
        ++count_;
        goOn(frame);
    }

    /// Whether a woken coroutine has not continued yet.
    [[nodiscard]] bool hasWoken() const noexcept {
        // Relaxed: a hint. takeWoken() acquires.
        return ready_ != nullptr || woken_.load(std::memory_order_relaxed) != nullptr;
    }
    /// The earliest deadline of the waiting coroutines. TimePoint::max() if no coroutine waits.
    /// TimePoint::min() if a coroutine may continue now.
    [[nodiscard]] TimePoint nextDeadline() const noexcept {
        return hasWoken()             ? TimePoint::min()
               : earliest_ != nullptr ? earliest_->deadline_
                                      : TimePoint::max();
    }

    /// Continues one coroutine that was woken, or whose deadline is not after readClock(). False if
    /// there is none.
    template <class ReadClock>
    bool goOnOne(ReadClock readClock) {
        if (Waiting* const woken = takeWoken()) {
            if (woken->isDone()) {
                remove(*woken);
                goOn(woken->frame_);
            } else if (woken->isLate_) {
                remove(*woken);
                insert(*woken, TimePoint::min());
            }
            return true;
        }
        if (earliest_ == nullptr || earliest_->deadline_ == TimePoint::max() ||
            readClock() < earliest_->deadline_) {
            return false;
        }
        Waiting& late = *earliest_;
        remove(late);
        if (late.giveUp()) {
            goOn(late.frame_);
        } else {
            // Another thread has woken it meanwhile. It waits until that thread has told so.
            late.isLate_ = true;
            insert(late, TimePoint::max());
        }
        return true;
    }

    /// Destroys the frames of all waiting coroutines. Afterwards no thread wakes one of them.
    void destroyAll() noexcept {
        while (earliest_ != nullptr) {
            CoroutineFrame& frame = earliest_->frame_;
            remove(*earliest_);
            --count_;
            frame.destroy(frame);
        }
        ready_ = nullptr;
        // Relaxed: no other thread uses woken_ any more.
        woken_.store(nullptr, std::memory_order_relaxed);
    }

private:
    void goOn(CoroutineFrame& frame) {
        struct Count {
            std::size_t& count;
            bool isEnded = true;  // also if the coroutine throws
            ~Count() { count -= isEnded ? 1 : 0; }
        } ending{count_};
        ending.isEnded = frame.goOn(frame);
    }

    /// Adds a woken coroutine. Any thread may call it.
    void push(Waiting& waiting) noexcept {
        Waiting* newest =
            woken_.load(std::memory_order_relaxed);  // relaxed: only its value is used
        do {
            waiting.nextWoken_.get() = newest;
        } while (!woken_.compare_exchange_weak(newest, &waiting, std::memory_order_release,
                                               std::memory_order_relaxed));  // E1 woken
        tell_(*this);
    }

    /// Removes and returns the coroutine that was woken first. Null if there is none.
    Waiting* takeWoken() noexcept {
        if (ready_ == nullptr && woken_.load(std::memory_order_relaxed) != nullptr) {
            Waiting* newest = woken_.exchange(nullptr, std::memory_order_acquire);  // E1 woken
            while (newest != nullptr) {
                Waiting* const older = std::exchange(newest->nextWoken_.get(), ready_);
                ready_ = std::exchange(newest, older);
            }
        }
        Waiting* const first = ready_;
        if (first != nullptr) {
            ready_ = first->nextWoken_.get();
        }
        return first;
    }

    /// Inserts a waiting coroutine in the order of the deadlines. It searches from the end, because
    /// most coroutines wait equally long.
    void insert(Waiting& waiting, TimePoint deadline) noexcept {
        waiting.deadline_ = deadline;
        Waiting* before = latest_;
        while (before != nullptr && deadline < before->deadline_) {
            before = before->earlier_;
        }
        waiting.earlier_ = before;
        waiting.later_ = before != nullptr ? before->later_ : earliest_;
        (waiting.earlier_ != nullptr ? waiting.earlier_->later_ : earliest_) = &waiting;
        (waiting.later_ != nullptr ? waiting.later_->earlier_ : latest_) = &waiting;
        waiting.isWaiting_ = true;
    }

    void remove(Waiting& waiting) noexcept {
        if (std::exchange(waiting.isWaiting_, false)) {
            (waiting.earlier_ != nullptr ? waiting.earlier_->later_ : earliest_) = waiting.later_;
            (waiting.later_ != nullptr ? waiting.later_->earlier_ : latest_) = waiting.earlier_;
        }
    }

    const Tell tell_;
    /// The coroutine that was woken last; a list by nextWoken_.
    typename Platform::template Atomic<Waiting*> woken_{nullptr};
    Waiting* ready_ = nullptr;  ///< the coroutine that was woken first, of those taken from woken_
    Waiting* earliest_ = nullptr;
    Waiting* latest_ = nullptr;
    std::size_t count_ = 0;  ///< coroutines that have not ended
};

}  // namespace sluice::detail
