#pragma once

#include <sluice/actor/detail/replies/waker.hpp>

#include <atomic>
#include <cstddef>
#include <utility>

namespace sluice::detail {

/// A coroutine of an object. It lies in the coroutine's frame. Its functions are those of a
/// promise, which C++17 does not know.
struct CoroutineFrame {
    /// Goes on, until it waits or ends. True when it has ended: the frame is gone then, also when
    /// the coroutine has thrown, which this passes on.
    bool (*goOn)(CoroutineFrame&);
    void (*destroy)(CoroutineFrame&) noexcept;
};

/// The coroutines of one object that wait: in the order of their deadlines, and those that other
/// threads have woken. All by the object's thread, except Waiting::wake().
///
/// Edges: E1 woken: what the waking thread wrote -> woken_ pushed with release .. taken with
/// acquire -> the coroutine.
template <class Platform>
class CoroutineLine {
public:
    using TimePoint = typename Platform::Clock::time_point;

    /// What a coroutine waits for.
    class Waiting : public Waker {
    public:
        /// Whether the coroutine goes on after it was woken. Otherwise it waits again.
        virtual bool isDone() = 0;
        /// At the deadline. False if it has been woken.
        virtual bool giveUp() = 0;

    protected:
        Waiting(CoroutineLine& line, CoroutineFrame& frame) noexcept
            : Waker([](Waker& waker) noexcept {
                  auto& self = static_cast<Waiting&>(waker);
                  self.line_.push(self);
              }),
              line_(line),
              frame_(frame) {
            nextWoken_.construct(nullptr);
        }
        ~Waiting() = default;

        void begin(TimePoint deadline) noexcept { line_.insert(*this, deadline); }
        void end() noexcept { line_.remove(*this); }

    private:
        friend CoroutineLine;

        CoroutineLine& line_;
        CoroutineFrame& frame_;
        TimePoint deadline_{};
        Waiting* earlier_ = nullptr;
        Waiting* later_ = nullptr;
        bool isInLine_ = false;
        /// The one woken before. Written by the thread that wakes, then by the object's.
        typename Platform::template Cell<Waiting*> nextWoken_;
    };

    /// Has the object's thread look: see below.
    using Tell = void (*)(CoroutineLine&) noexcept;

    explicit CoroutineLine(Tell tell) noexcept : tell_(tell) {}
    CoroutineLine(const CoroutineLine&) = delete;
    CoroutineLine& operator=(const CoroutineLine&) = delete;
    ~CoroutineLine() { destroyAll(); }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    /// Starts a coroutine.
    void start(CoroutineFrame& frame) {
        ++count_;
        goOn(frame);
    }

    /// Whether a coroutine was woken that has not gone on.
    [[nodiscard]] bool hasWoken() const noexcept {
        // Relaxed: a hint, taking acquires.
        return ready_ != nullptr || woken_.load(std::memory_order_relaxed) != nullptr;
    }
    /// TimePoint::max() if none waits, TimePoint::min() if one may go on.
    [[nodiscard]] TimePoint nextDeadline() const noexcept {
        return hasWoken()             ? TimePoint::min()
               : earliest_ != nullptr ? earliest_->deadline_
                                      : TimePoint::max();
    }

    /// Lets one coroutine go on that was woken, or whose deadline has come by readClock(). False if
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
            insert(late, TimePoint::max());  // it has been woken, and is found there
        }
        return true;
    }

    /// Destroys the frames of all that wait. No thread wakes one of them afterwards.
    void destroyAll() noexcept {
        while (earliest_ != nullptr) {
            CoroutineFrame& frame = earliest_->frame_;
            remove(*earliest_);
            --count_;
            frame.destroy(frame);
        }
        ready_ = nullptr;
        woken_.store(nullptr, std::memory_order_relaxed);  // relaxed: nobody else uses it
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

    /// By any thread.
    void push(Waiting& waiting) noexcept {
        Waiting* newest =
            woken_.load(std::memory_order_relaxed);  // relaxed: only its value is used
        do {
            waiting.nextWoken_.get() = newest;
        } while (!woken_.compare_exchange_weak(newest, &waiting, std::memory_order_release,
                                               std::memory_order_relaxed));  // E1 woken
        tell_(*this);
    }

    /// The one that was woken first.
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

    /// From the end: most wait for as long as those before them.
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
        waiting.isInLine_ = true;
    }

    void remove(Waiting& waiting) noexcept {
        if (std::exchange(waiting.isInLine_, false)) {
            (waiting.earlier_ != nullptr ? waiting.earlier_->later_ : earliest_) = waiting.later_;
            (waiting.later_ != nullptr ? waiting.later_->earlier_ : latest_) = waiting.earlier_;
        }
    }

    const Tell tell_;
    typename Platform::template Atomic<Waiting*> woken_{nullptr};  ///< the one that came last
    Waiting* ready_ = nullptr;  ///< taken from there, the one that came first
    Waiting* earliest_ = nullptr;
    Waiting* latest_ = nullptr;
    std::size_t count_ = 0;  ///< of the coroutines that have not ended
};

}  // namespace sluice::detail
