// Every forwarding header, in an order in which each of them finds only itself and its own
// includes. The target itself compiles each header alone.
#include <eventpp/utilities/anydata.h>
#include <eventpp/utilities/anyid.h>
#include <eventpp/utilities/argumentadapter.h>
#include <eventpp/utilities/conditionalfunctor.h>
#include <eventpp/utilities/conditionalremover.h>
#include <eventpp/utilities/counterremover.h>
#include <eventpp/utilities/eventmaker.h>
#include <eventpp/utilities/eventutil.h>
#include <eventpp/utilities/orderedqueuelist.h>
#include <eventpp/utilities/scopedremover.h>

#include <eventpp/mixins/mixinfilter.h>

#include <eventpp/internal/poolallocator_i.h>

#include <eventpp/callbacklist.h>
#include <eventpp/eventdispatcher.h>
#include <eventpp/eventpolicies.h>
#include <eventpp/eventqueue.h>
#include <eventpp/hetereventqueue.h>

#include "support/testing.hpp"
#include <list>

namespace {

template <class Ours, class Theirs>
constexpr bool same = std::is_same_v<Ours, Theirs>;

TEST(EventppNamesTest, NameTheTypesOfSluice) {
    using List = eventpp::CallbackList<void(int)>;
    static_assert(same<sluice::CallbackList<void(int)>, List>);
    static_assert(
        same<sluice::EventDispatcher<int, void()>, eventpp::EventDispatcher<int, void()>>);
    static_assert(same<sluice::AnyData<16>, eventpp::AnyData<16>>);
    static_assert(same<sluice::AnyHashableId, eventpp::AnyHashableId>);
    static_assert(same<sluice::AnyId<>, eventpp::AnyId<std::hash, eventpp::EmptyAnyStorage>>);
    static_assert(same<sluice::ScopedRemover<List>, eventpp::ScopedRemover<List>>);
    static_assert(same<sluice::CounterRemover<List>, eventpp::CounterRemover<List>>);
    static_assert(same<sluice::ConditionalRemover<List>, eventpp::ConditionalRemover<List>>);
    static_assert(
        same<sluice::ConditionalFunctor<int, int>, eventpp::ConditionalFunctor<int, int>>);
    static_assert(same<sluice::ArgumentAdapter<void (*)(), void()>,
                       eventpp::ArgumentAdapter<void (*)(), void()>>);
    static_assert(eventpp::maxSizeOf<char, long>() == sizeof(long));
}

// enqueue() returns nothing, so these queues are classes of their own, derived from Sluice's.
template <class Queue, class Base>
constexpr bool onlyEnqueueDiffers =
    std::is_base_of_v<Base, Queue> && same<bool, decltype(std::declval<Base&>().enqueue(3, 4))> &&
    same<void, decltype(std::declval<Queue&>().enqueue(3, 4))>;

TEST(EventppNamesTest, NameQueuesWhoseEnqueueReturnsNothing) {
    using Prototypes = eventpp::HeterTuple<void(), void(int)>;
    static_assert(onlyEnqueueDiffers<eventpp::EventQueue<int, void(int)>,
                                     sluice::EventQueue<int, void(int)>>);
    static_assert(onlyEnqueueDiffers<eventpp::HeterEventQueue<int, Prototypes>,
                                     sluice::HeterEventQueue<int, Prototypes>>);
}

// Names that programs use for the handles that they store.
TEST(EventppNamesTest, NameTheHandlesOfTheBases) {
    namespace internal = eventpp::internal_;
    using Policies = eventpp::DefaultPolicies;
    using Prototypes = eventpp::HeterTuple<void(), void(int)>;
    static_assert(same<eventpp::CallbackList<void()>::Handle,
                       internal::CallbackListBase<void(), Policies>::Handle>);
    static_assert(same<eventpp::EventDispatcher<int, void()>::Handle,
                       internal::EventDispatcherBase<int, void(), Policies, void>::Handle>);
    static_assert(same<eventpp::EventQueue<int, void()>::Handle,
                       internal::EventQueueBase<int, void(), Policies>::Handle>);
    static_assert(same<eventpp::HeterCallbackList<Prototypes>::Handle,
                       internal::HeterCallbackListBase<Prototypes, Policies>::Handle>);
    static_assert(
        same<eventpp::HeterEventDispatcher<int, Prototypes>::Handle,
             internal::HeterEventDispatcherBase<int, Prototypes, Policies, void>::Handle>);
    static_assert(same<eventpp::HeterEventQueue<int, Prototypes>::Handle,
                       internal::HeterEventQueueBase<int, Prototypes, Policies>::Handle>);
    static_assert(eventpp::HeterTupleSize<Prototypes>::value == 2);
}

TEST(EventppNamesTest, NameWhatTheForkAdds) {
    static_assert(same<sluice::HighPerfPolicy, eventpp::HighPerfPolicy>);
    static_assert(same<sluice::PoolQueueList<int, 8>, eventpp::PoolQueueList<int, 8>>);
    static_assert(same<std::list<int, eventpp::PoolAllocator<int>>, eventpp::PoolQueueList<int>>);
    struct EVENTPP_ALIGN_CACHELINE Line {
        char content;
    };
    static_assert(sizeof(Line) == EVENTPP_CACHELINE_SIZE);
    static_assert(EVENTPP_CACHELINE_SIZE == sluice::cacheLineSize);
    eventpp::EventQueue<int, void(int), eventpp::HighPerfPolicy> queue;
    int seen = 0;
    queue.enqueue(3, 4);
    EXPECT_TRUE(queue.processQueueWith([&seen](int event, int n) { seen = 10 * event + n; }));
    EXPECT_EQ(seen, 34);
}

TEST(EventppNamesTest, NameThePoliciesOfSluice) {
    static_assert(same<sluice::MultipleThreading, eventpp::MultipleThreading>);
    static_assert(same<sluice::SingleThreading, eventpp::SingleThreading>);
    static_assert(same<sluice::GeneralThreading<sluice::SpinLock>,
                       eventpp::GeneralThreading<eventpp::SpinLock>>);
    static_assert(same<sluice::DefaultPolicies, eventpp::DefaultPolicies>);
    static_assert(same<sluice::ArgumentPassingAutoDetect, eventpp::ArgumentPassingAutoDetect>);
    static_assert(same<sluice::ArgumentPassingIncludeEvent, eventpp::ArgumentPassingIncludeEvent>);
    static_assert(same<sluice::ArgumentPassingExcludeEvent, eventpp::ArgumentPassingExcludeEvent>);
    static_assert(
        same<sluice::MixinList<sluice::MixinFilter>, eventpp::MixinList<eventpp::MixinFilter>>);
    static_assert(std::is_base_of_v<eventpp::TagHomo, eventpp::TagCallbackList>);
    static_assert(std::is_base_of_v<eventpp::TagHomo, eventpp::TagEventDispatcher>);
    static_assert(std::is_base_of_v<eventpp::TagHomo, eventpp::TagEventQueue>);
    static_assert(std::is_base_of_v<eventpp::TagHeter, eventpp::TagHeterCallbackList>);
    static_assert(std::is_base_of_v<eventpp::TagHeter, eventpp::TagHeterEventDispatcher>);
    static_assert(std::is_base_of_v<eventpp::TagHeter, eventpp::TagHeterEventQueue>);
}

using namespace eventpp;

struct FilteredPolicies {
    using Mixins = MixinList<MixinFilter>;
};
struct PointerPolicies {
    using Callback = void (*)();
};

struct Event {
    explicit Event(int) {}
};
EVENTPP_MAKE_EVENT(MoveEvent, Event, 1, (int, getX, setX));

void listen() {
}

/// As a program that opens eventpp's namespace writes it.
TEST(EventppNamesTest, AProgramMayOpenTheNamespace) {
    EventDispatcher<int, void(int), FilteredPolicies> dispatcher;
    std::vector<int> seen;
    {
        ScopedRemover<decltype(dispatcher)> remover(dispatcher);
        remover.appendListener(3, [&seen](int n) { seen.push_back(n); });
        counterRemover(dispatcher).appendListener(3, [&seen](int n) { seen.push_back(10 * n); });
        conditionalRemover(dispatcher)
            .appendListener(
                3, [&seen](int n) { seen.push_back(100 * n); }, [] { return true; });
        dispatcher.appendFilter([](int& n) { return ++n > 0; });
        dispatcher.dispatch(3, 1);
    }
    dispatcher.dispatch(3, 2);
    EXPECT_EQ(seen, (std::vector<int>{2, 20, 200}));

    CallbackList<void(), PointerPolicies> list;
    list.append(&listen);
    EXPECT_TRUE(hasListener(list, &listen));
    EXPECT_TRUE(hasAnyListener(list));
    EXPECT_TRUE(removeListener(list, &listen));
    conditionalFunctor([](int) {}, [](int) { return true; })(1);
    argumentAdapter<void(long)>([](long) {})(1);
    EXPECT_EQ(MoveEvent(4).getX(), 4);
    EXPECT_EQ(AnyHashableId(3), AnyHashableId(3));
}

}  // namespace
