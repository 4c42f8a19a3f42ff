#pragma once

#include "unit/event/event_suites.hpp"

#include <sluice/event/event_queue.hpp>

#include "support/testing.hpp"
#include <initializer_list>
#include <list>

namespace sluice::test {

struct StdMutexPolicies {
    using Threading = GeneralThreading<std::mutex>;
};

struct ListPolicies {
    template <class Item>
    using QueueList = std::list<Item>;
};

/// A list with only the functions that a queue may use. It cannot even be moved.
template <class Item>
class MinimalList {
public:
    MinimalList() = default;
    MinimalList(const MinimalList&) = delete;
    MinimalList& operator=(const MinimalList&) = delete;

    using iterator = typename std::list<Item>::iterator;

    bool empty() const { return items_.empty(); }
    iterator begin() { return items_.begin(); }
    iterator end() { return items_.end(); }
    Item& front() { return items_.front(); }
    void swap(MinimalList& other) { items_.swap(other.items_); }
    void emplace_back() { items_.emplace_back(); }
    void splice(iterator position, MinimalList& other) { items_.splice(position, other.items_); }
    void splice(iterator position, MinimalList& other, iterator item) {
        items_.splice(position, other.items_, item);
    }

private:
    std::list<Item> items_;
};

struct MinimalListPolicies {
    template <class Item>
    using QueueList = MinimalList<Item>;
};

/// Another lock and another list than the default's.
struct SingleThreadMinimalListPolicies : SingleThreadPolicies, MinimalListPolicies {};
struct StdMutexMinimalListPolicies : StdMutexPolicies, MinimalListPolicies {};

/// The policies under which queues must behave the same.
using QueuePolicies = testing::Types<DefaultPolicies, SingleThreadPolicies, OwnLockPolicies,
                                     StdMutexPolicies, ListPolicies, MinimalListPolicies>;

/// Policies for the suites of code that does not depend on the policies; see CommonPolicies.
#ifdef SLUICE_TEST_ALL_POLICIES
using CommonQueuePolicies =
    testing::Types<DefaultPolicies, SingleThreadPolicies, OwnLockPolicies, StdMutexPolicies,
                   ListPolicies, MinimalListPolicies, SingleThreadMinimalListPolicies>;
using CommonSharedQueuePolicies =
    testing::Types<DefaultPolicies, OwnLockPolicies, StdMutexPolicies, ListPolicies,
                   MinimalListPolicies, StdMutexMinimalListPolicies>;
#else
using CommonQueuePolicies = testing::Types<DefaultPolicies, SingleThreadMinimalListPolicies>;
using CommonSharedQueuePolicies = testing::Types<DefaultPolicies, StdMutexMinimalListPolicies>;
#endif

struct QueuePolicyNames {
    template <class Policies>
    static std::string GetName(int) {
        if (std::is_same_v<Policies, ListPolicies>) {
            return "StdList";
        }
        if (std::is_same_v<Policies, MinimalListPolicies>) {
            return "MinimalList";
        }
        if (std::is_same_v<Policies, SingleThreadMinimalListPolicies>) {
            return "SingleThreadingMinimalList";
        }
        if (std::is_same_v<Policies, StdMutexMinimalListPolicies>) {
            return "StdMutexMinimalList";
        }
        return std::is_same_v<Policies, StdMutexPolicies> ? "StdMutex"
                                                          : PolicyNames::GetName<Policies>(0);
    }
};

/// A queue of numbers, and those that its only listeners, for events 0 to 9, were called with.
template <class Policies>
class NumberQueueTest : public testing::Test {
protected:
    using Queue = EventQueue<int, void(int), Policies>;
    using QueuedEvent = typename Queue::QueuedEvent;

    NumberQueueTest() {
        for (int event = 0; event < 10; ++event) {
            queue.appendListener(event, [this](int number) { seen.push_back(number); });
        }
    }

    void enqueue(std::initializer_list<int> numbers) {
        for (const int number : numbers) {
            EXPECT_TRUE(queue.enqueue(number));
        }
    }

    /// The numbers that were seen since the last call.
    std::vector<int> takeSeen() {
        std::vector<int> result;
        result.swap(seen);
        return result;
    }

    /// The queued numbers. The call takes them out of the queue.
    std::vector<int> takeQueued() {
        std::vector<int> result;
        queue.processQueueWith([&](int, int number) { result.push_back(number); });
        return result;
    }

    Queue queue;
    std::vector<int> seen;
};

}  // namespace sluice::test
