/// \file
/// eventpp, or a library with the same headers and names: compiled once for each of them, with its
/// folder in front of all others and, since they share a namespace too, another name for that. The
/// build names it: SLUICE_EVENTPP_ADD, the function's name; SLUICE_EVENTPP_ID;
/// SLUICE_EVENTPP_OURS; and SLUICE_EVENTPP_PRESET where there is a HighPerfPolicy.

#include "adapters/event_subjects.hpp"
#include "adapters/eventpp_vocabulary.hpp"

#include <eventpp/callbacklist.h>
#include <eventpp/eventdispatcher.h>
#include <eventpp/eventqueue.h>

namespace sluice::bench {

namespace {

struct Theirs {
    template <class Prototype, class Policies>
    using CallbackList = eventpp::CallbackList<Prototype, Policies>;
    template <class Event, class Prototype, class Policies>
    using EventDispatcher = eventpp::EventDispatcher<Event, Prototype, Policies>;
    template <class Event, class Prototype, class Policies>
    using EventQueue = eventpp::EventQueue<Event, Prototype, Policies>;
};

}  // namespace

void SLUICE_EVENTPP_ADD(EventSubjects& subjects) {
    const std::string id = SLUICE_EVENTPP_ID;
    Subject info;
    info.ours = SLUICE_EVENTPP_OURS;
    info.library = info.ours ? "sluice" : id;
#if defined(SLUICE_EVENTPP_VERSION)
    info.version = SLUICE_EVENTPP_VERSION;
#endif
    info.id = id;
    info.use = "default policies";
    Vocabulary<Theirs, eventpp::DefaultPolicies, Threads::any>::add(subjects, info);
    info.id = id + ":single";
    info.use = "SingleThreading";
    Vocabulary<Theirs, OneThread<eventpp::SingleThreading>, Threads::one>::add(subjects, info);
#if defined(SLUICE_EVENTPP_PRESET)
    info.id = id + ":HighPerfPolicy";
    info.use = "HighPerfPolicy";
    // The fork waits with a std::condition_variable, which takes no spin lock such as its preset
    // has.
    constexpr bool canSleep = SLUICE_EVENTPP_OURS;
    Vocabulary<Theirs, eventpp::HighPerfPolicy, Threads::any, canSleep>::add(subjects, info);
#endif
}

}  // namespace sluice::bench
