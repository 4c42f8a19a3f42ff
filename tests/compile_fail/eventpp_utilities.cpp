#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/eventpp/any_data.hpp>
#include <sluice/eventpp/any_id.hpp>
#include <sluice/eventpp/event_maker.hpp>
#include <sluice/eventpp/event_util.hpp>
#include <sluice/eventpp/listener_adapters.hpp>
#include <sluice/eventpp/queue_names.hpp>
#include <sluice/eventpp/removers.hpp>

#include <functional>
#include <memory>
#include <string>

using sluice::AnyData;
using sluice::AnyHashableId;

using List = sluice::CallbackList<void(int)>;
using Dispatcher = sluice::EventDispatcher<int, void(int)>;

struct Event {
    explicit Event(int) {}
};
struct Opaque {};
struct Other {
    using Handle = int;
};
struct Pointers {
    using Callback = void (*)(int);
};

void listen(int) {
}

#if CASE == 0
EVENTPP_MAKE_EVENT(Move, Event, 1, (int, getX, setX), (int, getY));
void use(sluice::void_enqueue::EventQueue<int, void(char)>& queue) {
    const AnyData<16> data = std::make_unique<int>(1);
    (void)AnyHashableId(std::string("open")).getDigest();
    List list;
    sluice::ScopedRemover<List>(list).append([](int) {});
    sluice::counterRemover(list).append([](int) {}, 2);
    sluice::conditionalRemover(list).append([](int) {}, [](int n) { return n > 0; });
    Dispatcher dispatcher;
    sluice::ScopedRemover<Dispatcher>(dispatcher).appendListener(3, [](int) {});
    sluice::CallbackList<void(int), Pointers> pointers;
    sluice::removeListener(pointers, &listen);
    sluice::argumentAdapter<void(long)>([](long) {})(1);
    Move().setX(2);
    queue.enqueue(1, 2);
}
#elif CASE == 1
// EXPECT: AnyData: the object must be copyable, or movable and passed as an rvalue
void use(const std::unique_ptr<int>& owner) {
    const AnyData<16> data = owner;
}
#elif CASE == 5
// EXPECT: AnyId: the Digester cannot digest this type; specialise it, or pass a std::string
const AnyHashableId id = "open";
#elif CASE == 7
// EXPECT: the target must be a callback list, an event dispatcher or an event queue
void use(Other& other) {
    sluice::counterRemover(other);
}
#elif CASE == 9
// EXPECT: ConditionalRemover: the condition must take the listener's arguments as lvalues
void use(List& list) {
    sluice::conditionalRemover(list).append([](int) {}, [](const char*) { return true; });
}
#elif CASE == 13
// EXPECT: EVENTPP_MAKE_EVENT: a field is \(type, getter\) or \(type, getter, setter\)
EVENTPP_MAKE_EVENT(Move, Event, 1, (int, getX, setX, resetX));
#elif CASE == 14
// EXPECT: the Callback has no operator ==, as std::function has none: choose a comparable
bool use(const List& list) {
    return sluice::hasListener(list, listen);
}
#endif
