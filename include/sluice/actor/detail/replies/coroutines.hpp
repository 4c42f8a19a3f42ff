#pragma once

#include <sluice/actor/detail/replies/coroutine_line.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/single_writer_counter.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::detail {

/// An object that may have coroutines which wait, besides timers. Without coroutines, the default,
/// it adds nothing to the object. Base is Timing.
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
    using Line = CoroutineLine<typename Traits::Platform>;
    using TimePoint = typename Line::TimePoint;
    /// After so many continued coroutines, the object handles messages.
    static constexpr std::size_t batch = 32;

public:
    /// The number of times that a coroutine was started or continued.
    [[nodiscard]] std::uint64_t resumptions() const noexcept { return resumptions_.get(); }

    /// For detail::CoroutinePromise.
    friend Line& coroutineLineOf(Coroutines& object) noexcept { return object.line_; }
    [[nodiscard]] TimePoint coroutineClock() const { return this->now(); }

protected:
    template <class... Args>
    explicit Coroutines(Args... args)
        : Base(args...),
          line_([](Line& line) noexcept { static_cast<Home&>(line).object->tell(); }, this) {}
    ~Coroutines() = default;

    /// In a handler: starts a coroutine of the object, which runs until it waits. False if the
    /// object has Traits::maxCoroutines already, or if it is closed: then the coroutine does not
    /// run.
    template <class AnyCoroutine>
    [[nodiscard]] bool run(AnyCoroutine coroutine) {
        SLUICE_ASSERT(this->isHere(), "a coroutine of an object is started by its handlers");
        if (line_.count() >= Traits::maxCoroutines || this->isClosed()) {
            return false;
        }
        resumptions_.add(1);
        line_.start(coroutine.release(&line_));
        return true;
    }

    /// Continues coroutines that were woken or whose deadline has come, and fires timers.
    template <class IsOver, class Receive, class... Max>
    std::size_t fireTimers(IsOver isOver, const Receive& receive, Max... max) {
        std::size_t count = 0;
        while (count < batch && !isOver() && line_.goOnOne([this] { return this->now(); })) {
            resumptions_.add(1);
            ++count;
        }
        return count + Base::fireTimers(isOver, receive, max...);
    }
    [[nodiscard]] TimePoint nextDeadline() const noexcept {
        return std::min(line_.nextDeadline(), Base::nextDeadline());
    }
    [[nodiscard]] bool hasTimerNews() const noexcept {
        return line_.hasWoken() || Base::hasTimerNews();
    }

    /// At the end of the object: destroys the waiting coroutines.
    void endCoroutines() noexcept { line_.destroyAll(); }

private:
    struct Home : Line {
        Home(typename Line::Tell tell, Coroutines* o) noexcept : Line(tell), object(o) {}
        Coroutines* object;
    };

    Home line_;
    SingleWriterCounter<typename Traits::Platform> resumptions_;
};

}  // namespace sluice::detail
