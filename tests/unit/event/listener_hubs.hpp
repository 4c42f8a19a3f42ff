#pragma once

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_queue.hpp>
#include <sluice/event/heter_callback_list.hpp>
#include <sluice/event/heter_event_dispatcher.hpp>
#include <sluice/event/heter_event_queue.hpp>
#include <sluice/event/heter_tuple.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace sluice::test {

/// One shape for all that has listeners of `void(int)`, so that the utilities are tested with each:
/// a listener is added or removed, by a utility or by the target itself, and all are called.
template <class List>
struct ListHub {
    using Target = List;
    using Handle = typename List::Handle;

    template <class Adder, class... Args>
    static Handle append(Adder&& adder, Args&&... args) {
        return adder.append(std::forward<Args>(args)...);
    }
    template <class Adder, class... Args>
    static Handle prepend(Adder&& adder, Args&&... args) {
        return adder.prepend(std::forward<Args>(args)...);
    }
    template <class Adder, class... Args>
    static Handle insert(Adder&& adder, Args&&... args) {
        return adder.insert(std::forward<Args>(args)...);
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

    template <class Adder, class... Args>
    static Handle append(Adder&& adder, Args&&... args) {
        return adder.appendListener(event, std::forward<Args>(args)...);
    }
    template <class Adder, class... Args>
    static Handle prepend(Adder&& adder, Args&&... args) {
        return adder.prependListener(event, std::forward<Args>(args)...);
    }
    template <class Adder, class... Args>
    static Handle insert(Adder&& adder, Args&&... args) {
        return adder.insertListener(event, std::forward<Args>(args)...);
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

using Hubs = ::testing::Types<
    ListHub<CallbackList<void(int)>>, ListHub<CallbackList<void(int), OneThread>>,
    DispatcherHub<EventDispatcher<int, void(int)>>,
    DispatcherHub<EventDispatcher<int, void(int), OneThread>>, QueueHub<EventQueue<int, void(int)>>,
    QueueHub<EventQueue<int, void(int), OneThread>>, ListHub<HeterCallbackList<Prototypes>>,
    DispatcherHub<HeterEventDispatcher<int, Prototypes>>,
    QueueHub<HeterEventQueue<int, Prototypes, OneThread>>>;

}  // namespace sluice::test
