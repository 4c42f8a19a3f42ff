#pragma once

#include <sluice/actor/detail/replies/coroutine_scheduler.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/single_writer_counter.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::detail {

/// Adds coroutines to an object with timers. Without coroutines, which is the default, it adds
/// nothing to the object. Base is Timing.
template <class Base, class Traits, bool IsOn = Traits::maxCoroutines != 0>
class Coroutines : public Base {
protected:
    template <class... Args>
    explicit Coroutines(Args... args) : Base(args...) {}
    ~Coroutines() = default;

    void endCoroutines() noexcept {}
};

template <class Base, class Traits>
class Coroutines<Base, Traits, true> : public Base {
    using Scheduler = CoroutineScheduler<typename Traits::Platform>;
    using TimePoint = typename Scheduler::TimePoint;
    /// After it has continued this many coroutines, the object handles messages.
    static constexpr std::size_t batch = 32;

public:
    /// The number of times that a coroutine was started or continued.
    [[nodiscard]] std::uint64_t resumptions() const noexcept { return resumptions_.get(); }

    /// For detail::CoroutinePromise.
    friend Scheduler& coroutineSchedulerOf(Coroutines& object) noexcept {
        return object.scheduler_;
    }
    /// The clock of the deadlines of coroutines.
    [[nodiscard]] TimePoint coroutineClock() const { return this->now(); }

protected:
    template <class... Args>
    explicit Coroutines(Args... args)
        : Base(args...),
          scheduler_(
              [](Scheduler& scheduler) noexcept { static_cast<Home&>(scheduler).object->tell(); },
              this) {}
    ~Coroutines() = default;

    /// Starts a coroutine of the object, which runs until it waits. Only handlers of the object
    /// call it. Returns false if the object has Traits::maxCoroutines coroutines already, or if it
    /// is closed. Then the coroutine does not run.
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

    /// Continues coroutines that were woken or whose deadline has come, and fires timers. Returns
    /// the number of both.
    template <class IsOver, class Receive, class... Max>
    std::size_t fireTimers(IsOver isOver, const Receive& receive, Max... max) {
        std::size_t count = 0;
        while (count < batch && !isOver() && scheduler_.goOnOne([this] { return this->now(); })) {
            resumptions_.add(1);
            ++count;
        }
        return count + Base::fireTimers(isOver, receive, max...);
    }
    [[nodiscard]] TimePoint nextDeadline() const noexcept {
        return std::min(scheduler_.nextDeadline(), Base::nextDeadline());
    }
    [[nodiscard]] bool hasTimerNews() const noexcept {
        return scheduler_.hasWoken() || Base::hasTimerNews();
    }

    /// Called at the end of the object. Destroys the waiting coroutines.
    void endCoroutines() noexcept { scheduler_.destroyAll(); }

private:
    struct Home : Scheduler {
        Home(typename Scheduler::Tell tell, Coroutines* o) noexcept : Scheduler(tell), object(o) {}
        Coroutines* object;
    };

    Home scheduler_;
    SingleWriterCounter<typename Traits::Platform> resumptions_;
};

}  // namespace sluice::detail
