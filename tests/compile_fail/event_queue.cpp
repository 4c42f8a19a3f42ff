#include <sluice/event/event_queue.hpp>

#include <memory>

struct Unassignable {
    int number;
    Unassignable& operator=(const Unassignable&) = delete;
    Unassignable(const Unassignable&) = default;
};
struct CountingPolicies {
    static constexpr bool statistics = true;
};
struct ExcludingPolicies {
    using ArgumentPassingMode = sluice::ArgumentPassingExcludeEvent;
};
struct IncludingPolicies {
    using ArgumentPassingMode = sluice::ArgumentPassingIncludeEvent;
};

template <class Argument, class Policies = sluice::DefaultPolicies>
using Queue = sluice::EventQueue<int, void(const Argument&), Policies>;
using Pointers = Queue<std::unique_ptr<int>>;

#if CASE == 0
bool allThatTheOtherCasesNearlyAre(Pointers& pointers, Queue<int>& numbers,
                                   Queue<int, CountingPolicies>& counting,
                                   Queue<int, ExcludingPolicies>& excluding,
                                   Queue<int, IncludingPolicies>& including) {
    Pointers::QueuedEvent pointer;
    Queue<int>::QueuedEvent number;
    return pointers.takeEvent(&pointer) && numbers.peekEvent(&number) &&
           counting.statistics().queued == 0 && excluding.enqueue(1, 2) && including.enqueue(1);
}
#elif CASE == 1
// EXPECT: peekEvent\(\) copies the event, but one of its arguments cannot be copied
bool peekAtWhatCannotBeCopied(Pointers& queue) {
    Pointers::QueuedEvent event;
    return queue.peekEvent(&event);
}
#elif CASE == 2
// EXPECT: takeEvent\(\) assigns the event, but one of its arguments cannot be assigned
bool takeWhatCannotBeAssigned(Queue<Unassignable>& queue, Queue<Unassignable>::QueuedEvent& event) {
    return queue.takeEvent(&event);
}
#elif CASE == 3
// EXPECT: statistics\(\) needs .static constexpr bool statistics = true.
auto askForWhatIsNotCounted(const Queue<int>& queue) {
    return queue.statistics();
}
#elif CASE == 4
// EXPECT: the number of arguments is the prototype's, but the policy wants the event in front
bool leaveTheEventOut(Queue<int, ExcludingPolicies>& queue) {
    return queue.enqueue(1);
}
#elif CASE == 5
// EXPECT: one argument more than in the prototype, but the policy wants the event among them
bool nameTheEventTwice(Queue<int, IncludingPolicies>& queue) {
    return queue.enqueue(1, 2);
}
#elif CASE == 6
// EXPECT: no matching (member )?function for call
bool giveTooManyArguments(Queue<int>& queue) {
    return queue.enqueue(1, 2, 3);
}
#endif
