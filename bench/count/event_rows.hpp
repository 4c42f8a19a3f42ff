#pragma once

/// \file
/// Callbacks, dispatches and queued events.

#include "count.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice::count {

/// Callbacks of a list, and events with a listener each.
inline constexpr int listeners = 8;

struct ValueListener {
    void operator()(std::uint64_t value) const { use(value); }
};
struct MessageListener {
    void operator()(const Message& message) const { use(message.first()); }
};
struct MessageVisitor {
    void operator()(int, const Message& message) const { use(message.first()); }
};

inline int eventOf(const Message& message) {
    return int(message.first() % listeners);
}

/// Counts the call of one callback among eight, its share of the call of the list included.
template <class List>
void countCallbacks(const Counting& counting) {
    List list;
    for (int i = 0; i < listeners; ++i) {
        list.add(ValueListener());
    }
    counting.whole([] {},
                   [&] {
                       for (std::uint64_t call = 0; call < roundSize / listeners; ++call) {
                           list.call(call);
                       }
                   });
}

template <class Dispatcher>
void countDispatches(const Counting& counting) {
    Dispatcher dispatcher;
    for (int event = 0; event < listeners; ++event) {
        dispatcher.add(event, MessageListener());
    }
    counting.each([] {},
                  [&] {
                      forEachMessage([&](const Message& message) {
                          dispatcher.dispatch(eventOf(message), message);
                      });
                  });
}

// Not inlined: both rows of a queue enqueue by the same code.
template <class Queue>
[[gnu::noinline]] void fill(Queue& queue) {
    forEachMessage([&](const Message& message) { queue.enqueue(eventOf(message), message); });
}

template <class Queue>
void countQueued(const Counting& counting) {
    Queue queue;
    for (int event = 0; event < listeners; ++event) {
        queue.add(event, MessageListener());
    }
    counting.each([] {},
                  [&] {
                      fill(queue);
                      queue.process();
                  });
}

template <class Queue>
void countVisited(const Counting& counting) {
    Queue queue;
    counting.each([] {},
                  [&] {
                      fill(queue);
                      queue.visit(MessageVisitor());
                  });
}

template <class List>
void addList(Rows& rows, const std::string& subject) {
    rows.push_back({"event/callback", subject, &countCallbacks<List>});
}
template <class Dispatcher>
void addDispatcher(Rows& rows, const std::string& subject) {
    rows.push_back({"event/dispatch", subject, &countDispatches<Dispatcher>});
}
template <class Queue>
void addProcess(Rows& rows, const std::string& subject) {
    rows.push_back({"event/enqueue+process", subject, &countQueued<Queue>});
}
template <class Queue>
void addProcessQueueWith(Rows& rows, const std::string& subject) {
    rows.push_back({"event/enqueue+processQueueWith", subject, &countVisited<Queue>});
}

}  // namespace sluice::count
