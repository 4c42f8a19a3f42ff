#pragma once

#include <sluice/actor/detail/object_timers.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/counter.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::detail {

/// The part of a coroutine's frame that its scheduler uses. Function pointers replace a C++20
/// promise, because this header compiles as C++17.
struct CoroutineFrame {
    /// Runs the coroutine until it waits or ends. Returns true if the coroutine has ended and
    /// destroyed its frame. Exceptions of the coroutine propagate.
    bool (*resume)(CoroutineFrame&);
    void (*destroy)(CoroutineFrame&) noexcept;
};

/// Resumes the coroutines of one object, when they are woken or when their deadlines have passed.
/// Any thread may call Waiting::wake(); only the object's thread calls the other functions.
template <class Platform>
class CoroutineScheduler {
public:
    using TimePoint = typename Platform::Clock::time_point;

    /// The base class of the awaiters that suspend a coroutine.
    class Waiting : public Waker {
    public:
        /// Called after wake(). Returns false if the coroutine must wait again.
        virtual bool isDone() = 0;
        /// Called at the deadline. Returns false if another thread has woken the coroutine.
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
        bool isLate_ = false;  ///< the deadline passed while another thread woke the coroutine
        /// The next older woken coroutine; written by wake(), and then by the object's thread.
        typename Platform::template Cell<Waiting*> nextWoken_;
    };

    /// Makes the object's thread check for woken coroutines; called by any thread.
    using Notify = void (*)(CoroutineScheduler&) noexcept;

    explicit CoroutineScheduler(Notify notify) noexcept : notify_(notify) {}
    CoroutineScheduler(const CoroutineScheduler&) = delete;
    CoroutineScheduler& operator=(const CoroutineScheduler&) = delete;
    ~CoroutineScheduler() { destroyAll(); }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    void start(CoroutineFrame& frame) {
        ++count_;
        resume(frame);
    }

    /// Returns true if a woken coroutine has not been resumed yet.
    [[nodiscard]] bool hasWoken() const noexcept {
        return ready_ != nullptr || woken_.load(std::memory_order_relaxed) != nullptr;  // hint
    }
    /// TimePoint::min() if a coroutine was woken, TimePoint::max() if there is no deadline.
    [[nodiscard]] TimePoint nextDeadline() const noexcept {
        return hasWoken()             ? TimePoint::min()
               : earliest_ != nullptr ? earliest_->deadline_
                                      : TimePoint::max();
    }

    /// Resumes one woken or overdue coroutine. Returns false if no coroutine is woken or overdue.
    template <class ReadClock>
    bool resumeOne(ReadClock readClock) {
        if (Waiting* const woken = takeWoken()) {
            if (woken->isDone()) {
                remove(*woken);
                resume(woken->frame_);
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
            resume(late.frame_);
        } else {
            // Another thread is waking this coroutine: resume it when takeWoken() returns it.
            late.isLate_ = true;
            insert(late, TimePoint::max());
        }
        return true;
    }

    /// Destroys the frames of all waiting coroutines. No thread can wake the coroutines afterwards.
    void destroyAll() noexcept {
        while (earliest_ != nullptr) {
            CoroutineFrame& frame = earliest_->frame_;
            remove(*earliest_);
            --count_;
            frame.destroy(frame);
        }
        ready_ = nullptr;
        woken_.store(nullptr, std::memory_order_relaxed);  // not shared
    }

private:
    // Happens-before edge: E1 wake: push -> takeWoken.

    void resume(CoroutineFrame& frame) {
        bool isEnded = true;  // stays true if the coroutine throws
        const OnExit count{[&] { count_ -= isEnded ? 1 : 0; }};
        isEnded = frame.resume(frame);
    }

    void push(Waiting& waiting) noexcept {
        Waiting* newest = woken_.load(std::memory_order_relaxed);  // value only
        do {
            waiting.nextWoken_.get() = newest;
        } while (!woken_.compare_exchange_weak(newest, &waiting,
                                               std::memory_order_release,    // E1 wake
                                               std::memory_order_relaxed));  // retried
        notify_(*this);
    }

    /// Removes and returns the coroutine that was woken first, or null if none is woken.
    Waiting* takeWoken() noexcept {
        if (ready_ == nullptr && woken_.load(std::memory_order_relaxed) != nullptr) {  // hint
            Waiting* newest = woken_.exchange(nullptr, std::memory_order_acquire);     // E1 wake
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

    /// Inserts a coroutine by its deadline. Searches the list from both ends, because most
    /// deadlines are among the earliest or the latest.
    void insert(Waiting& waiting, TimePoint deadline) noexcept {
        waiting.deadline_ = deadline;
        Waiting* before = latest_;
        Waiting* after = earliest_;
        while (before != nullptr && deadline < before->deadline_) {
            if (deadline < after->deadline_) {
                before = after->earlier_;
                break;
            }
            before = before->earlier_;
            after = after->later_;
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

    const Notify notify_;
    /// The list of woken coroutines, the newest first, linked by nextWoken_.
    typename Platform::template Atomic<Waiting*> woken_{nullptr};
    Waiting* ready_ = nullptr;  ///< coroutines taken from woken_, in the order of their wake-ups
    Waiting* earliest_ = nullptr;
    Waiting* latest_ = nullptr;
    std::size_t count_ = 0;  ///< number of coroutines that have not ended
};

template <class Base, class Traits>
class Coroutines<Base, Traits, true> : public Base {
    using Scheduler = CoroutineScheduler<typename Traits::Platform>;
    using TimePoint = typename Scheduler::TimePoint;
    /// The maximum number of coroutines resumed between two batches of messages.
    static constexpr std::size_t batch = 32;

public:
    /// The number of times that a coroutine was started or resumed.
    [[nodiscard]] std::uint64_t resumptions() const noexcept { return resumptions_.get(); }

    /// For detail::CoroutinePromise.
    friend Scheduler& coroutineSchedulerOf(Coroutines& object) noexcept {
        return object.scheduler_;
    }
    [[nodiscard]] TimePoint coroutineClock() const { return this->now(); }

protected:
    template <class... Args>
    explicit Coroutines(Args... args)
        : Base(args...),
          scheduler_(
              [](Scheduler& scheduler) noexcept {
                  static_cast<Home&>(scheduler).object->wakeOwner();
              },
              this) {}
    ~Coroutines() = default;

    /// Starts a coroutine and runs it until it waits. Only handlers of the object may call run().
    /// Returns false if the object is closed or has Traits::maxCoroutines coroutines.
    template <class AnyCoroutine>
    [[nodiscard]] bool run(AnyCoroutine coroutine) {
        SLUICE_ASSERT(this->isHere(),
                      "only a handler of the object may start a coroutine of the object");
        if (scheduler_.count() >= Traits::maxCoroutines || this->isClosed()) {
            return false;
        }
        resumptions_.add(1);
        scheduler_.start(coroutine.release(&scheduler_));
        return true;
    }

    /// Resumes woken and overdue coroutines, then fires timers. Returns the total number.
    template <class IsOver, class Receive>
    std::size_t fireTimers(IsOver isOver, const Receive& receive) {
        std::size_t count = 0;
        while (count < batch && !isOver() && scheduler_.resumeOne([this] { return this->now(); })) {
            resumptions_.add(1);
            ++count;
        }
        return count + Base::fireTimers(isOver, receive);
    }
    [[nodiscard]] TimePoint nextDeadline() const noexcept {
        return std::min(scheduler_.nextDeadline(), Base::nextDeadline());
    }
    [[nodiscard]] bool hasTimerChanges() const noexcept {
        return scheduler_.hasWoken() || Base::hasTimerChanges();
    }

    void endCoroutines() noexcept { scheduler_.destroyAll(); }
    [[nodiscard]] bool hasCoroutines() const noexcept { return scheduler_.count() != 0; }

private:
    struct Home : Scheduler {
        Home(typename Scheduler::Notify notify, Coroutines* o) noexcept
            : Scheduler(notify), object(o) {}
        Coroutines* object;
    };

    Home scheduler_;
    SingleWriterCounter<typename Traits::Platform> resumptions_;
};

}  // namespace sluice::detail
