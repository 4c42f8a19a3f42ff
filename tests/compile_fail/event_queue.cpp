#include <sluice/event/event_queue.hpp>

#include <memory>
#include <utility>

struct Unassignable {
    int number;
    Unassignable& operator=(const Unassignable&) = delete;
    Unassignable(const Unassignable&) = default;
};
struct ExcludingPolicies {
    using ArgumentPassingMode = sluice::ArgumentPassingExcludeEvent;
};
struct IncludingPolicies {
    using ArgumentPassingMode = sluice::ArgumentPassingIncludeEvent;
};

struct PointerWithEvent {
    int event;
    std::unique_ptr<int> pointer;
};
struct EventInPointer {
    static int getEvent(const PointerWithEvent& pointer) { return pointer.event; }
};

template <class Argument, class Policies = sluice::DefaultPolicies>
using Queue = sluice::EventQueue<int, void(const Argument&), Policies>;
using Pointers = Queue<std::unique_ptr<int>>;

#if CASE == 0
bool allThatTheOtherCasesNearlyAre(Pointers& pointers, Queue<int>& numbers,
                                   Queue<int, ExcludingPolicies>& excluding,
                                   Queue<int, IncludingPolicies>& including,
                                   Queue<PointerWithEvent, EventInPointer>& withEvent,
                                   sluice::EventQueue<int, void(std::unique_ptr<int>)>& values) {
    Pointers::QueuedEvent pointer;
    Queue<int>::QueuedEvent number;
    return pointers.takeEvent(&pointer) && numbers.peekEvent(&number) && excluding.enqueue(1, 2) &&
           including.enqueue(1) && pointers.enqueue(1, std::make_unique<int>(2)) &&
           pointers.process() && withEvent.enqueue(PointerWithEvent{}) &&
           values.enqueue(1, nullptr) &&
           values.processQueueWith([](int, const std::unique_ptr<int>&) {});
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
// EXPECT: the number of arguments is the prototype's, but the policy wants the event in front
bool leaveTheEventOut(Queue<int, ExcludingPolicies>& queue) {
    return queue.enqueue(1);
}
#elif CASE == 4
// EXPECT: one argument more than in the prototype, but the policy wants the event among them
bool nameTheEventTwice(Queue<int, IncludingPolicies>& queue) {
    return queue.enqueue(1, 2);
}
#elif CASE == 8
// EXPECT ONLY: enqueue\(\): the queue keeps a copy of each argument, and cannot make one of these
bool leaveWhatCannotBeCopied(Pointers& queue, std::unique_ptr<int>& pointer) {
    return queue.enqueue(1, pointer);
}
#elif CASE == 10
// EXPECT ONLY: in the prototype, take by reference what cannot be copied
bool passWhatCannotBeCopied(sluice::EventQueue<int, void(std::unique_ptr<int>)>& queue) {
    return queue.process();
}
#elif CASE == 12
// EXPECT ONLY: the copy of this derived object would be its base class only: queue a pointer
struct Base {};
struct Derived : Base {};
bool giveADerivedObject(Queue<Base>& queue) {
    return queue.enqueue(1, Derived());
}
#elif CASE == 14
// EXPECT: the first argument is no event
bool referToATemporary(sluice::EventQueue<const std::string&, void()>& queue) {
    return queue.enqueue("text");
}
#endif
