#include <sluice/eventpp/argument_adapter.hpp>
#include <sluice/eventpp/event_maker.hpp>
#include <sluice/eventpp/event_util.hpp>

#include <functional>
#include <memory>

struct Event {
    explicit Event(int) {}
};

template <class AnyCallback>
struct List {
    using Callback = AnyCallback;
    using Handle = int;
    template <class F>
    bool forEachIf(F) const {
        return true;
    }
    bool remove(Handle) { return true; }
};

void listen() {
}

#if CASE == 0
EVENTPP_MAKE_EVENT(Move, Event, 1, (int, getX, setX), (int, getY));
void use() {
    List<void (*)()> list;
    sluice::removeListener(list, &listen);
    sluice::argumentAdapter<void(long)>([](long) {})(1);
    Move().setX(2);
}
#elif CASE == 1
// EXPECT: EVENTPP_MAKE_EVENT: an event has 15 fields at most
EVENTPP_MAKE_EVENT(Move, Event, 1, (int, a), (int, b), (int, c), (int, d), (int, e), (int, f),
                   (int, g), (int, h), (int, i), (int, j), (int, k), (int, l), (int, m), (int, n),
                   (int, o), (int, p));
#elif CASE == 2
// EXPECT: EVENTPP_MAKE_EVENT: a field is \(type, getter\) or \(type, getter, setter\)
EVENTPP_MAKE_EVENT(Move, Event, 1, (int, getX, setX, resetX));
#elif CASE == 3
// EXPECT: the Callback has no operator ==, as std::function has none: choose a comparable
void use(List<std::function<void()>>& list) {
    sluice::removeListener(list, &listen);
}
#elif CASE == 4
// EXPECT: the Callback has no operator ==
bool use(List<std::function<void(int)>>& list) {
    return sluice::hasListener(list, [](int) {});
}
#elif CASE == 5
// EXPECT: argumentAdapter: Prototype must be a function type, R\(Args...\)
void use() {
    sluice::argumentAdapter<int>([](int) {})(1);
}
#elif CASE == 6
// EXPECT: no match for call to
void use() {
    const auto take = [](const std::shared_ptr<Event>&) {};
    sluice::argumentAdapter<void(std::shared_ptr<Event>)>(take)(std::make_shared<int>(1));
}
#endif
