#pragma once

#include <sluice/actor/detail/replies/waker.hpp>

#include <atomic>
#include <cstddef>
#include <utility>

namespace sluice::detail {

/// A coroutine of an object. It lies in the coroutine's frame. Its functions are those of a
/// promise, which C++17 does not have.
struct CoroutineFrame {
    /// Continues the coroutine until it waits or ends. True if it has ended: then the frame is
    /// destroyed. It passes an exception of the coroutine on.
    bool (*goOn)(CoroutineFrame&);
    void (*destroy)(CoroutineFrame&) noexcept;
};

/// Continues the coroutines of one object: those that other threads have woken, and those whose
/// deadline has come. Any thread calls Waiting::wake(). The object's thread calls all other
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
        /// Whether the coroutine continues after it was woken. Otherwise it waits again.
        virtual bool isDone() = 0;
        /// Called at the deadline. False if another thread has woken it.
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
        /// The coroutine that was woken before. Written by the waking thread, then by the object's.
        typename Platform::template Cell<Waiting*> nextWoken_;
    };

    /// Makes the object's thread look: see below.
    using Tell = void (*)(CoroutineScheduler&) noexcept;

    explicit CoroutineScheduler(Tell tell) noexcept : tell_(tell) {}
    CoroutineScheduler(const CoroutineScheduler&) = delete;
    CoroutineScheduler& operator=(const CoroutineScheduler&) = delete;
    ~CoroutineScheduler() { destroyAll(); }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    /// Starts a coroutine.
    void start(CoroutineFrame& frame) {
        ++count_;
        goOn(frame);
    }

    /// Whether a woken coroutine has not continued yet.
    [[nodiscard]] bool hasWoken() const noexcept {
        // Relaxed: a hint, taking acquires.
        return ready_ != nullptr || woken_.load(std::memory_order_relaxed) != nullptr;
    }
    /// TimePoint::max() if no coroutine waits, TimePoint::min() if one may continue.
    [[nodiscard]] TimePoint nextDeadline() const noexcept {
        return hasWoken()             ? TimePoint::min()
               : earliest_ != nullptr ? earliest_->deadline_
                                      : TimePoint::max();
    }

    /// Continues one coroutine that was woken, or whose deadline has come by readClock(). False if
    /// there is none.
    template <class ReadClock>
    bool goOnOne(ReadClock readClock) {
        if (Waiting* const woken = takeWoken()) {
            if (woken->isDone()) {
                remove(*woken);
                goOn(woken->frame_);
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
            insert(late, TimePoint::max());  // another thread has woken it; it is in the list of
                                             // the woken ones
        }
        return true;
    }

    /// Destroys the frames of all waiting coroutines. No thread wakes one of them afterwards.
    void destroyAll() noexcept {
        while (earliest_ != nullptr) {
            CoroutineFrame& frame = earliest_->frame_;
            remove(*earliest_);
            --count_;
            frame.destroy(frame);
        }
        ready_ = nullptr;
        woken_.store(nullptr, std::memory_order_relaxed);  // relaxed: no other thread uses it
    }

private:
    void goOn(CoroutineFrame& frame) {
        struct Count {
            std::size_t& count;
            bool isEnded = true;  // also when it throws
            ~Count() { count -= isEnded ? 1 : 0; }
        } ending{count_};
        ending.isEnded = frame.goOn(frame);
    }

    /// Called by any thread.
    void push(Waiting& waiting) noexcept {
        Waiting* newest =
            woken_.load(std::memory_order_relaxed);  // relaxed: only its value is used
        do {
            waiting.nextWoken_.get() = newest;
        } while (!woken_.compare_exchange_weak(newest, &waiting, std::memory_order_release,
                                               std::memory_order_relaxed));  // E1 woken
        tell_(*this);
    }

    /// The coroutine that was woken first.
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

    /// Searches from the end: most coroutines wait as long as those before them.
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
    typename Platform::template Atomic<Waiting*> woken_{nullptr};  ///< the last woken coroutine
    Waiting* ready_ = nullptr;  ///< taken from woken_; the first woken coroutine
    Waiting* earliest_ = nullptr;
    Waiting* latest_ = nullptr;
    std::size_t count_ = 0;  ///< coroutines that have not ended
};

}  // namespace sluice::detail
