#pragma once

#include <sluice/event/detail/list/callback_chain.hpp>
#include <sluice/eventpp/detail/utility/listener_target.hpp>
#include <sluice/eventpp/detail/utility/self_removal.hpp>

#include <atomic>
#include <functional>
#include <type_traits>
#include <utility>

namespace sluice {

/// Adds listeners that remove themselves when a condition holds. conditionalRemover() makes it.
///
///     sluice::CallbackList<void(int)> list;
///     sluice::conditionalRemover(list).append([](int left) { std::printf("%d left\n", left); },
///                                             [](int left) { return left == 0; });
///     list(1);
///     list(0);  // calls the listener for the last time
///
/// It has the functions of its target, a CallbackList, EventDispatcher, EventQueue or heterogeneous
/// form, with the condition as last argument.
///
/// Each call asks the condition first, with the arguments as lvalues if the condition takes them,
/// otherwise with none. If the condition holds, the listener is removed and called for the last
/// time, also if several threads call at once.
///
/// Threads: any thread that may use the target, also from a listener. So several threads may ask
/// the condition at once. A listener that is added here stays valid if the target is moved. In a
/// copy of the target, the listener ends at the same time. The copy keeps the ended listener
/// without calling it.
///
/// Errors: exceptions of adding, of the condition and of the listener. If the condition throws, the
/// listener stays and is not called. Progress: no thread waits for another one. Cost: one
/// allocation for a listener. A call costs the condition and one atomic load.
///
/// Tests: tests/unit/eventpp/conditional_remover_test.cpp.
template <class Target>
class ConditionalRemover : public detail::Adders<ConditionalRemover<Target>, Target> {
    using Base = detail::Adders<ConditionalRemover, Target>;
    friend Base;

public:
    using Handle = typename Target::Handle;

    explicit ConditionalRemover(Target& target) noexcept : target_(&target) {}

private:
    template <class Listener, class Condition>
    struct Conditional {
        template <class... Args>
        void call(Args&&... args) {
            // Relaxed: threads share no data by this flag.
            if (ended.load(std::memory_order_relaxed)) {
                return;
            }
            if (holds(args...)) {
                if (ended.exchange(true, std::memory_order_relaxed)) {
                    return;
                }
                removal.request();
            }
            std::invoke(listener, std::forward<Args>(args)...);
        }

        template <class... Args>
        bool holds(Args&... args) {
            if constexpr (std::is_invocable_v<Condition&, Args&...>) {
                return static_cast<bool>(std::invoke(condition, args...));
            } else {
                static_assert(std::is_invocable_v<Condition&>,
                              "ConditionalRemover: the condition must take the listener's "
                              "arguments as lvalues, or none");
                return static_cast<bool>(std::invoke(condition));
            }
        }

        std::atomic<bool> ended;
        Listener listener;
        Condition condition;
        detail::SelfRemoval<Handle> removal{};
    };

    template <class Put, class Listener, class Condition>
    Handle add(const Put& put, Listener&& listener, Condition&& condition) {
        if (detail::isNull<std::decay_t<Listener>>(listener)) {
            return Handle();
        }
        using State = Conditional<std::decay_t<Listener>, std::decay_t<Condition>>;
        return detail::addShared<State>(*target_, put, false, std::forward<Listener>(listener),
                                        std::forward<Condition>(condition));
    }

    Target* target_;
};

template <class Target>
[[nodiscard]] ConditionalRemover<Target> conditionalRemover(Target& target) noexcept {
    return ConditionalRemover<Target>(target);
}

}  // namespace sluice
