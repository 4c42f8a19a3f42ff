#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>

#include <memory>
#include <string>

struct Include {
    using ArgumentPassingMode = sluice::ArgumentPassingIncludeEvent;
};
struct Exclude {
    using ArgumentPassingMode = sluice::ArgumentPassingExcludeEvent;
};
struct Unordered {};

#if CASE == 0
int allThatTheOtherCasesNearlyAre() {
    sluice::CallbackList<void(int, const std::string&)> list;
    const auto handle = list.append([](int, const std::string&) {});
    list(1, "text");
    sluice::EventDispatcher<int, void(int), Include> including;
    including.dispatch(1);
    sluice::EventDispatcher<int, void(int), Exclude> excluding;
    excluding.dispatch(1, 2);
    sluice::CallbackList<void(const std::unique_ptr<int>&)> owners;
    owners(std::make_unique<int>(1));
    return list.remove(handle) ? 1 : 0;
}
#elif CASE == 1
// EXPECT: the prototype of a CallbackList must be a function type such as void\(int\)
sluice::CallbackList<int> list;
#elif CASE == 2
// EXPECT: a prototype cannot have rvalue references, as several callbacks get the same arguments
sluice::CallbackList<void(std::string&&)> list;
#elif CASE == 5
// EXPECT: the arguments cannot be passed to more than one callback: take them by reference
void callsWithWhatCannotBeCopied(const sluice::CallbackList<void(std::unique_ptr<int>)>& list) {
    list(std::make_unique<int>(1));
}
#elif CASE == 6
// EXPECT: dispatch\(\): the number of arguments is the prototype's, but the policy wants the event
void includesTheEvent(const sluice::EventDispatcher<int, void(int), Exclude>& dispatcher) {
    dispatcher.dispatch(1);
}
#elif CASE == 7
// EXPECT: dispatch\(\): there is one argument more than in the prototype, but the policy wants
void excludesTheEvent(const sluice::EventDispatcher<int, void(int), Include>& dispatcher) {
    dispatcher.dispatch(1, 2);
}
#elif CASE == 10
// EXPECT: an event needs std::hash and ==, or <, or a Map in the policies
sluice::EventDispatcher<Unordered, void()> dispatcher;
#elif CASE == 11
// EXPECT: the first argument is no event, and the policies have no getEvent\(\) that takes
void dispatchesWhatIsNoEvent(const sluice::EventDispatcher<int, void(std::string)>& dispatcher) {
    dispatcher.dispatch("three", "four");
}
#endif
