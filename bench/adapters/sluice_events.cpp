#include "adapters/event_subjects.hpp"
#include "adapters/eventpp_vocabulary.hpp"

#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_queue.hpp>

namespace sluice::bench {

namespace {

struct Ours {
    template <class Prototype, class Policies>
    using CallbackList = sluice::CallbackList<Prototype, Policies>;
    template <class Event, class Prototype, class Policies>
    using EventDispatcher = sluice::EventDispatcher<Event, Prototype, Policies>;
    template <class Event, class Prototype, class Policies>
    using EventQueue = sluice::EventQueue<Event, Prototype, Policies>;
};

}  // namespace

void addSluiceEvents(EventSubjects& subjects) {
    Subject info;
    info.library = "sluice";
    info.ours = true;
    info.id = "sluice";
    info.use = "default policies";
    Vocabulary<Ours, DefaultPolicies, Threads::any>::add(subjects, info);
    info.id = "sluice:single";
    info.use = "SingleThreading";
    Vocabulary<Ours, OneThread<SingleThreading>, Threads::one>::add(subjects, info);
}

}  // namespace sluice::bench
