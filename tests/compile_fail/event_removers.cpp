#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/eventpp/conditional_remover.hpp>
#include <sluice/eventpp/counter_remover.hpp>
#include <sluice/eventpp/scoped_remover.hpp>

using List = sluice::CallbackList<void(int)>;
using Dispatcher = sluice::EventDispatcher<int, void(int)>;

struct Other {
    using Handle = int;
};

void use() {
#if CASE == 0
    List list;
    sluice::ScopedRemover<List>(list).append([](int) {});
    sluice::counterRemover(list).append([](int) {}, 2);
    sluice::conditionalRemover(list).append([](int) {}, [](int n) { return n > 0; });
    Dispatcher dispatcher;
    sluice::ScopedRemover<Dispatcher>(dispatcher).appendListener(3, [](int) {});
#elif CASE == 1
    // EXPECT: the target must be a callback list, an event dispatcher or an event queue
    Other other;
    sluice::counterRemover(other);
#elif CASE == 2
    // EXPECT: no matching function for call to .*remove.*
    Dispatcher dispatcher;
    sluice::ScopedRemover<Dispatcher>(dispatcher).remove(Dispatcher::Handle());
#elif CASE == 3
    // EXPECT: ConditionalRemover: the condition must take the listener's arguments as lvalues
    List list;
    sluice::conditionalRemover(list).append([](int) {}, [](const char*) { return true; });
#elif CASE == 4
    // EXPECT: use of deleted function.*ScopedRemover
    List list;
    const sluice::ScopedRemover<List> remover(list);
    const sluice::ScopedRemover<List> copy = remover;
#elif CASE == 5
    // EXPECT: (cannot convert|no viable conversion from) .* to .*Callback
    List list;
    sluice::counterRemover(list).append([](const char*) {});
#endif
}
