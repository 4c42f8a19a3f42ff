#pragma once

#include <sluice/event/detail/list/callback_chain.hpp>
#include <sluice/eventpp/detail/utility/listener_target.hpp>
#include <sluice/eventpp/detail/utility/self_removal.hpp>

#include <atomic>
#include <functional>
#include <type_traits>
#include <utility>

namespace sluice {

/// Adds listeners that remove themselves after a number of calls. counterRemover() makes it.
///
///     sluice::EventDispatcher<int, void()> dispatcher;
///     sluice::counterRemover(dispatcher).appendListener(7, [] { std::puts("seven"); }, 2);
///     dispatcher.dispatch(7);
///     dispatcher.dispatch(7);  // calls the listener for the last time
///
/// It has the functions of its target, a CallbackList, EventDispatcher, EventQueue or heterogeneous
/// form, with the number of calls as last argument. Without this argument, and with a number below
/// 1, the listener is called once.
///
/// The listener is removed before its last call. It runs exactly as often as the number says. This
/// also holds if several threads call at once, or call before the adding function has returned.
///
/// Threads: any thread that may use the target, also from a listener. A listener that is added here
/// stays valid if the target is moved. A copy of the target shares the counts. It keeps a listener
/// that has no calls left, without calling it.
///
/// Errors: exceptions of adding and of the listener. A call that throws counts. Progress: no thread
/// waits for another one. Cost: one allocation for a listener and one atomic subtraction for a
/// call.
///
/// Tests: tests/unit/eventpp/counter_remover_test.cpp.
template <class Target>
class CounterRemover : public detail::Adders<CounterRemover<Target>, Target> {
    using Base = detail::Adders<CounterRemover, Target>;
    friend Base;

public:
    using Handle = typename Target::Handle;

    explicit CounterRemover(Target& target) noexcept : target_(&target) {}

private:
    template <class Listener>
    struct Counted {
        template <class... Args>
        void call(Args&&... args) {
            const int left = takeOne();
            if (left == 0) {
                return;
            }
            if (left == 1) {
                removal.request();
            }
            std::invoke(listener, std::forward<Args>(args)...);
        }

        /// Returns how many calls were left. Relaxed: threads share no data by this number.
        int takeOne() noexcept {
            int left = callsLeft.load(std::memory_order_relaxed);
            while (left > 0 &&
                   !callsLeft.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {
            }
            return left;
        }

        std::atomic<int> callsLeft;
        Listener listener;
        detail::SelfRemoval<Handle> removal{};
    };

    template <class Put, class Listener>
    Handle add(const Put& put, Listener&& listener, int triggerCount = 1) {
        if (detail::isNull<std::decay_t<Listener>>(listener)) {
            return Handle();
        }
        using State = Counted<std::decay_t<Listener>>;
        const int calls = triggerCount < 1 ? 1 : triggerCount;
        return detail::addShared<State>(*target_, put, calls, std::forward<Listener>(listener));
    }

    Target* target_;
};

template <class Target>
[[nodiscard]] CounterRemover<Target> counterRemover(Target& target) noexcept {
    return CounterRemover<Target>(target);
}

}  // namespace sluice
