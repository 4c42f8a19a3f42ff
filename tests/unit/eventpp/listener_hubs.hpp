#pragma once

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_queue.hpp>
#include <sluice/eventpp/heter_callback_list.hpp>
#include <sluice/eventpp/heter_event_dispatcher.hpp>
#include <sluice/eventpp/heter_event_queue.hpp>
#include <sluice/eventpp/heter_tuple.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

namespace sluice::test {

/// Of one type, so that a utility is instantiated once for each target, and not for each lambda.
using Listener = std::function<void(int)>;

/// One shape for all that has listeners of `void(int)`, so that the utilities are tested with each:
/// a listener is added or removed, by a utility or by the target itself, and all are called.
template <class List>
struct ListHub {
    using Target = List;
    using Handle = typename List::Handle;

    template <class Adder, class... Options>
    static Handle append(Adder&& adder, Listener listener, Options&&... options) {
        return adder.append(std::move(listener), std::forward<Options>(options)...);
    }
    template <class Adder, class... Options>
    static Handle prepend(Adder&& adder, Listener listener, Options&&... options) {
        return adder.prepend(std::move(listener), std::forward<Options>(options)...);
    }
    template <class Adder, class... Options>
    static Handle insert(Adder&& adder, Listener listener, Options&&... options) {
        return adder.insert(std::move(listener), std::forward<Options>(options)...);
    }
    template <class Remover>
    static bool remove(Remover& remover, const Handle& handle) {
        return remover.remove(handle);
    }
    template <class Remover>
    static void setTarget(Remover& remover, Target& target) {
        remover.setCallbackList(target);
    }
    static bool isEmpty(const Target& target) { return target.empty(); }
    static void fire(Target& target, int value = 0) { target(value); }
};

template <class Dispatcher>
struct DispatcherHub {
    using Target = Dispatcher;
    using Handle = typename Dispatcher::Handle;
    static constexpr int event = 3;

    template <class Adder, class... Options>
    static Handle append(Adder&& adder, Listener listener, Options&&... options) {
        return adder.appendListener(event, std::move(listener), std::forward<Options>(options)...);
    }
    template <class Adder, class... Options>
    static Handle prepend(Adder&& adder, Listener listener, Options&&... options) {
        return adder.prependListener(event, std::move(listener), std::forward<Options>(options)...);
    }
    template <class Adder, class... Options>
    static Handle insert(Adder&& adder, Listener listener, Options&&... options) {
        return adder.insertListener(event, std::move(listener), std::forward<Options>(options)...);
    }
    template <class Remover>
    static bool remove(Remover& remover, const Handle& handle) {
        return remover.removeListener(event, handle);
    }
    template <class Remover>
    static void setTarget(Remover& remover, Target& target) {
        remover.setDispatcher(target);
    }
    static bool isEmpty(const Target& target) { return !target.hasAnyListener(event); }
    static void fire(Target& target, int value = 0) { target.dispatch(event, value); }
};

template <class Queue>
struct QueueHub : DispatcherHub<Queue> {
    static void fire(Queue& target, int value = 0) {
        target.enqueue(DispatcherHub<Queue>::event, value);
        target.process();
    }
};

struct OneThread {
    using Threading = SingleThreading;
};

/// Listeners of `void(int)` are those of the second one.
using Prototypes = HeterTuple<void(const std::string&), void(int)>;

/// Each kind of target, and each threading. With SLUICE_TEST_ALL_POLICIES each kind has both.
#ifdef SLUICE_TEST_ALL_POLICIES
using Hubs = ::testing::Types<
    ListHub<CallbackList<void(int)>>, ListHub<CallbackList<void(int), OneThread>>,
    DispatcherHub<EventDispatcher<int, void(int)>>,
    DispatcherHub<EventDispatcher<int, void(int), OneThread>>, QueueHub<EventQueue<int, void(int)>>,
    QueueHub<EventQueue<int, void(int), OneThread>>, ListHub<HeterCallbackList<Prototypes>>,
    DispatcherHub<HeterEventDispatcher<int, Prototypes>>,
    QueueHub<HeterEventQueue<int, Prototypes, OneThread>>>;
#else
using Hubs =
    ::testing::Types<ListHub<CallbackList<void(int)>>,
                     DispatcherHub<EventDispatcher<int, void(int), OneThread>>,
                     QueueHub<EventQueue<int, void(int)>>, ListHub<HeterCallbackList<Prototypes>>,
                     DispatcherHub<HeterEventDispatcher<int, Prototypes>>,
                     QueueHub<HeterEventQueue<int, Prototypes, OneThread>>>;
#endif

}  // namespace sluice::test
