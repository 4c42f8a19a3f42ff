#pragma once

/// \file
/// Adapters for classes with eventpp's names: those of eventpp, of its fork, and ours.

#include "adapters/add_events.hpp"

#include <chrono>
#include <type_traits>
#include <utility>

namespace sluice::bench {

template <class CallbackList>
class VocabularyList {
public:
    template <class Callback>
    auto add(Callback callback) {
        return list_.append(callback);
    }
    void remove(const typename CallbackList::Handle& handle) { list_.remove(handle); }
    void call(std::uint64_t value, Tally& tally) { list_(value, tally); }

private:
    CallbackList list_;
};

template <class EventDispatcher>
class VocabularyDispatcher {
public:
    template <class Callback>
    void add(int event, Callback callback) {
        dispatcher_.appendListener(event, callback);
    }
    void dispatch(int event, std::uint64_t value, Tally& tally) {
        dispatcher_.dispatch(event, value, tally);
    }

private:
    EventDispatcher dispatcher_;
};

template <class EventQueue, class Type>
class VocabularyQueue {
public:
    using Argument = Type;

    template <class Callback>
    void add(int event, Callback callback) {
        queue_.appendListener(event, callback);
    }
    void enqueue(int event, const Argument& argument) { queue_.enqueue(event, argument); }
    void process() { queue_.process(); }
    void waitFor(std::chrono::milliseconds atMost) { (void)queue_.waitFor(atMost); }
    template <class Visitor>
    void visit(Visitor visitor) {
        queue_.processQueueWith(visitor);
    }

private:
    EventQueue queue_;
};

struct IgnoringVisitor {
    template <class... Arguments>
    void operator()(const Arguments&...) const {}
};

/// Only eventpp's fork and we have processQueueWith().
template <class EventQueue, class = void>
struct IsVisitable : std::false_type {};
template <class EventQueue>
struct IsVisitable<EventQueue, std::void_t<decltype(std::declval<EventQueue&>().processQueueWith(
                                   IgnoringVisitor()))>> : std::true_type {};

/// Policies of an object that one thread uses. They bear the name of the library's type: g++ 12
/// takes Vocabulary<...>::Queue as an argument of addBatches() for the same type in two sources
/// when only a type without linkage tells them apart, and the linker keeps one of the two
/// functions.
template <class SingleThreading>
struct OneThread {
    using Threading = SingleThreading;
};

/// Adds the rounds of a library with these classes, under one of its policies. `Library` has
/// `CallbackList<Prototype, Policies>`, `EventDispatcher<Event, Prototype, Policies>` and
/// `EventQueue<Event, Prototype, Policies>`. `CanSleep`: whether wait() of its queues compiles.
template <class Library, class Policies, Threads Use, bool CanSleep = true>
struct Vocabulary {
    using Shared = void(std::uint64_t, Tally&);
    template <class Argument>
    using EventQueue = typename Library::template EventQueue<int, void(const Argument&), Policies>;

    using List = VocabularyList<typename Library::template CallbackList<Shared, Policies>>;
    using Dispatcher =
        VocabularyDispatcher<typename Library::template EventDispatcher<int, Shared, Policies>>;
    template <class Argument>
    using Queue = VocabularyQueue<EventQueue<Argument>, Argument>;

    static void add(EventSubjects& subjects, Subject info) {
        info.features.topology = topologyOf(Use);
        EventSubject subject{std::move(info), {}};
        addCalls<List>(subject.rounds, Use);
        addChanges<List>(subject.rounds, Use);
        addDispatches<Dispatcher>(subject.rounds, Use);
        addBatches<Queue>(subject.rounds);
        if constexpr (IsVisitable<EventQueue<ShortArgument>>::value) {
            addVisits<Queue>(subject.rounds);
        }
        if constexpr (Use == Threads::any) {
            if constexpr (CanSleep) {
                addSleepers<Queue>(subject.rounds);
            }
            addCrossings<Queue>(subjects, std::move(subject));
        } else {
            subjects.push_back(std::move(subject));
        }
    }
};

}  // namespace sluice::bench
