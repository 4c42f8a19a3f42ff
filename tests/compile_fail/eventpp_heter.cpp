#include <sluice/eventpp/heter_callback_list.hpp>
#include <sluice/eventpp/heter_event_dispatcher.hpp>
#include <sluice/eventpp/heter_event_queue.hpp>

#include <memory>
#include <string>

using Two = sluice::HeterTuple<void(), void(int)>;

using Pointers = sluice::HeterTuple<void(), void(const std::unique_ptr<int>&)>;

struct AutoDetect {
    using ArgumentPassingMode = sluice::ArgumentPassingAutoDetect;
};
struct Include {
    using ArgumentPassingMode = sluice::ArgumentPassingIncludeEvent;
};

#if CASE == 0
void allThatTheOtherCasesNearlyAre() {
    sluice::HeterCallbackList<Two> list;
    list.append([](int) {});
    list(1);
    list.forEach<void(int)>([](const auto&) {});
    sluice::HeterEventDispatcher<int, Two, Include> including;
    including.dispatch(1);
    sluice::HeterEventDispatcher<int, Two> excluding;
    excluding.dispatch(1, 2);
    sluice::HeterEventQueue<int, Two> queue;
    queue.enqueue(1, 2);
    queue.processQueueWith([](int, auto&...) {});
    sluice::HeterEventQueue<int, Pointers> pointers;
    pointers.enqueue(1, std::make_unique<int>(2));
}
#elif CASE == 1
// EXPECT: the prototypes must be given as a HeterTuple such as HeterTuple<void\(int\)>
sluice::HeterCallbackList<void(int)> list;
#elif CASE == 4
// EXPECT: the callable fits none of the prototypes
void addsWhatNobodyCalls(sluice::HeterCallbackList<Two>& list) {
    list.append([](const std::string&) {});
}
#elif CASE == 5
// EXPECT: the arguments fit none of the prototypes
void callsWithWhatNobodyTakes(const sluice::HeterCallbackList<Two>& list) {
    list(std::string());
}
#elif CASE == 7
// EXPECT: choose ArgumentPassingIncludeEvent or ArgumentPassingExcludeEvent
sluice::HeterEventDispatcher<int, Two, AutoDetect> dispatcher;
#elif CASE == 10
// EXPECT: the first argument is no event, and the policies have no getEvent\(\) that takes
void queuesWhatIsNoEvent(sluice::HeterEventQueue<int, Two>& queue) {
    queue.enqueue("one", 2);
}
#endif
