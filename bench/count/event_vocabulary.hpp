#pragma once

/// \file
/// The rows of a library that speaks eventpp's vocabulary: ours, eventpp and its fork.

#include "event_rows.hpp"

#include <cstdint>
#include <string>

namespace sluice::count {

template <class CallbackList>
class VocabularyList {
public:
    template <class Callback>
    void add(Callback callback) {
        list_.append(callback);
    }
    void call(std::uint64_t value) { list_(value); }

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
    void dispatch(int event, const Message& message) { dispatcher_.dispatch(event, message); }

private:
    EventDispatcher dispatcher_;
};

template <class EventQueue>
class VocabularyQueue {
public:
    template <class Callback>
    void add(int event, Callback callback) {
        queue_.appendListener(event, callback);
    }
    void enqueue(int event, const Message& message) { queue_.enqueue(event, message); }
    void process() { queue_.process(); }
    template <class Visitor>
    void visit(Visitor visitor) {
        queue_.processQueueWith(visitor);
    }

private:
    EventQueue queue_;
};

/// Adds the rows of `Library`, which has CallbackList, EventDispatcher and EventQueue with default
/// policies. Its `hasVisitor` says whether there is processQueueWith().
template <class Library>
void addVocabulary(Rows& rows, const std::string& subject) {
    addList<VocabularyList<typename Library::CallbackList>>(rows, subject);
    addDispatcher<VocabularyDispatcher<typename Library::EventDispatcher>>(rows, subject);
    addProcess<VocabularyQueue<typename Library::EventQueue>>(rows, subject);
    if constexpr (Library::hasVisitor) {
        addProcessQueueWith<VocabularyQueue<typename Library::EventQueue>>(rows, subject);
    }
}

}  // namespace sluice::count
