#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_queue.hpp>
#include <sluice/eventpp/heter_callback_list.hpp>
#include <sluice/eventpp/heter_event_dispatcher.hpp>
#include <sluice/eventpp/heter_event_queue.hpp>
#include <sluice/eventpp/removers.hpp>

#include <support/crew.hpp>
#include <support/rendezvous.hpp>
#include <support/scale.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

/// Of one type, so that a utility is instantiated once for each target, and not for each lambda.
using Listener = std::function<void(int)>;

/// One shape for all that has listeners of `void(int)`, so that the utilities are tested with each:
/// a listener is added or removed, by a utility or by the target itself, and all are called.
template <class List>
struct ListHub {
    using Target = List;
    using Handle = typename List::Handle;

    template <class Adder, class... Options>
    static Handle append(Adder&& adder, Listener listener, Options&&... options) {
        return adder.append(std::move(listener), std::forward<Options>(options)...);
    }
    template <class Adder, class... Options>
    static Handle prepend(Adder&& adder, Listener listener, Options&&... options) {
        return adder.prepend(std::move(listener), std::forward<Options>(options)...);
    }
    template <class Adder, class... Options>
    static Handle insert(Adder&& adder, Listener listener, Options&&... options) {
        return adder.insert(std::move(listener), std::forward<Options>(options)...);
    }
    template <class Remover>
    static bool remove(Remover& remover, const Handle& handle) {
        return remover.remove(handle);
    }
    template <class Remover>
    static void setTarget(Remover& remover, Target& target) {
        remover.setCallbackList(target);
    }
    static bool isEmpty(const Target& target) { return target.empty(); }
    static void fire(Target& target, int value = 0) { target(value); }
};

template <class Dispatcher>
struct DispatcherHub {
    using Target = Dispatcher;
    using Handle = typename Dispatcher::Handle;
    static constexpr int event = 3;

    template <class Adder, class... Options>
    static Handle append(Adder&& adder, Listener listener, Options&&... options) {
        return adder.appendListener(event, std::move(listener), std::forward<Options>(options)...);
    }
    template <class Adder, class... Options>
    static Handle prepend(Adder&& adder, Listener listener, Options&&... options) {
        return adder.prependListener(event, std::move(listener), std::forward<Options>(options)...);
    }
    template <class Adder, class... Options>
    static Handle insert(Adder&& adder, Listener listener, Options&&... options) {
        return adder.insertListener(event, std::move(listener), std::forward<Options>(options)...);
    }
    template <class Remover>
    static bool remove(Remover& remover, const Handle& handle) {
        return remover.removeListener(event, handle);
    }
    template <class Remover>
    static void setTarget(Remover& remover, Target& target) {
        remover.setDispatcher(target);
    }
    static bool isEmpty(const Target& target) { return !target.hasAnyListener(event); }
    static void fire(Target& target, int value = 0) { target.dispatch(event, value); }
};

template <class Queue>
struct QueueHub : DispatcherHub<Queue> {
    static void fire(Queue& target, int value = 0) {
        target.enqueue(DispatcherHub<Queue>::event, value);
        target.process();
    }
};

struct OneThread {
    using Threading = SingleThreading;
};

/// Listeners of `void(int)` are those of the second one.
using Prototypes = HeterTuple<void(const std::string&), void(int)>;

/// Each kind of target, and each threading. With SLUICE_TEST_ALL_POLICIES each kind has both.
#ifdef SLUICE_TEST_ALL_POLICIES
using Hubs = testing::Types<
    ListHub<CallbackList<void(int)>>, ListHub<CallbackList<void(int), OneThread>>,
    DispatcherHub<EventDispatcher<int, void(int)>>,
    DispatcherHub<EventDispatcher<int, void(int), OneThread>>, QueueHub<EventQueue<int, void(int)>>,
    QueueHub<EventQueue<int, void(int), OneThread>>, ListHub<HeterCallbackList<Prototypes>>,
    DispatcherHub<HeterEventDispatcher<int, Prototypes>>,
    QueueHub<HeterEventQueue<int, Prototypes, OneThread>>>;
#else
using Hubs =
    testing::Types<ListHub<CallbackList<void(int)>>,
                   DispatcherHub<EventDispatcher<int, void(int), OneThread>>,
                   QueueHub<EventQueue<int, void(int)>>, ListHub<HeterCallbackList<Prototypes>>,
                   DispatcherHub<HeterEventDispatcher<int, Prototypes>>,
                   QueueHub<HeterEventQueue<int, Prototypes, OneThread>>>;
#endif

// ---- ScopedRemover

using List = CallbackList<void(int)>;

template <class Hub>
class ScopedRemoverTest : public ::testing::Test {
protected:
    using Target = typename Hub::Target;
    using Remover = ScopedRemover<Target>;

    auto counting() {
        return [this](int) { ++calls_; };
    }
    int callsOf(Target& target) {
        calls_ = 0;
        Hub::fire(target);
        return calls_;
    }

private:
    int calls_ = 0;
};
TYPED_TEST_SUITE(ScopedRemoverTest, Hubs, );

TYPED_TEST(ScopedRemoverTest, AMoveTakesTheListenersAlong) {
    typename TestFixture::Target target;
    {
        typename TestFixture::Remover source(target);
        TypeParam::append(source, this->counting());
        {
            const typename TestFixture::Remover taker = std::move(source);
            source.reset();
            EXPECT_EQ(this->callsOf(target), 1);
        }
        EXPECT_EQ(this->callsOf(target), 0);
        TypeParam::append(source, this->counting());
        EXPECT_EQ(this->callsOf(target), 1) << "the source still has its target";
    }
    EXPECT_TRUE(TypeParam::isEmpty(target));
}

TYPED_TEST(ScopedRemoverTest, MoveAssignmentRemovesWhatTheTakerHadAdded) {
    typename TestFixture::Target oldTarget;
    typename TestFixture::Target newTarget;
    typename TestFixture::Remover taker(oldTarget);
    TypeParam::append(taker, this->counting());
    typename TestFixture::Remover source(newTarget);
    TypeParam::append(source, this->counting());
    taker = std::move(source);
    EXPECT_TRUE(TypeParam::isEmpty(oldTarget));
    EXPECT_FALSE(TypeParam::isEmpty(newTarget));
    auto& self = taker;
    taker = std::move(self);
    EXPECT_EQ(this->callsOf(newTarget), 1);
}

TYPED_TEST(ScopedRemoverTest, AnotherTargetRemovesFromTheFirstOne) {
    typename TestFixture::Target one;
    typename TestFixture::Target two;
    typename TestFixture::Remover remover;
    remover.reset();
    TypeParam::setTarget(remover, one);
    TypeParam::append(remover, this->counting());
    TypeParam::setTarget(remover, one);
    EXPECT_EQ(this->callsOf(one), 1) << "the same target again changes nothing";
    TypeParam::setTarget(remover, two);
    EXPECT_EQ(this->callsOf(one), 0);
    TypeParam::append(remover, this->counting());
    EXPECT_EQ(this->callsOf(two), 1);
}

TYPED_TEST(ScopedRemoverTest, RefusesListenersThatItDidNotAdd) {
    typename TestFixture::Target target;
    typename TestFixture::Remover remover(target);
    typename TestFixture::Remover other(target);
    const auto direct = TypeParam::append(target, this->counting());
    const auto foreign = TypeParam::append(other, this->counting());
    EXPECT_FALSE(TypeParam::remove(remover, direct));
    EXPECT_FALSE(TypeParam::remove(remover, foreign));
    EXPECT_FALSE(TypeParam::remove(remover, typename TypeParam::Handle()));
    typename TestFixture::Remover none;
    EXPECT_FALSE(TypeParam::remove(none, direct));
    EXPECT_EQ(this->callsOf(target), 2);
}

TYPED_TEST(ScopedRemoverTest, TheTargetMayGoFirst) {
    auto target = std::make_unique<typename TestFixture::Target>();
    typename TestFixture::Remover remover(*target);
    const auto handle = TypeParam::append(remover, this->counting());
    target.reset();
    EXPECT_FALSE(TypeParam::remove(remover, handle));
    remover.reset();
}

TYPED_TEST(ScopedRemoverTest, TakesTheListenersOfARemoverThatItsOwnListenerOwns) {
    using Scoped = typename TestFixture::Remover;
    typename TestFixture::Target target;
    Scoped remover(target);
    auto inner = std::make_shared<Scoped>(target);
    TypeParam::append(*inner, this->counting());
    TypeParam::append(remover, [inner](int) {});
    Scoped& other = *inner;
    inner.reset();
    remover = std::move(other);
    EXPECT_EQ(this->callsOf(target), 1);
}

TYPED_TEST(ScopedRemoverTest, AnAssignmentAndAnotherTargetMayEndTheRemover) {
    using Scoped = typename TestFixture::Remover;
    typename TestFixture::Target target;
    typename TestFixture::Target another;
    const auto ownedByItsListener = [&target] {
        const auto owner = std::make_shared<Scoped>(target);
        TypeParam::append(*owner, [owner](int) {});
        return owner.get();
    };
    Scoped empty;
    *ownedByItsListener() = std::move(empty);
    EXPECT_TRUE(TypeParam::isEmpty(target));
    TypeParam::setTarget(*ownedByItsListener(), another);
    EXPECT_TRUE(TypeParam::isEmpty(target));
}

TYPED_TEST(ScopedRemoverTest, ListenersRemovedElsewhereAreForgotten) {
    typename TestFixture::Target target;
    typename TestFixture::Remover remover(target);
    const auto kept = TypeParam::append(remover, this->counting());
    for (int i = 0; i < 1000; ++i) {
        TypeParam::remove(target, TypeParam::append(remover, this->counting()));
    }
    EXPECT_EQ(this->callsOf(target), 1);
    EXPECT_TRUE(TypeParam::remove(remover, kept));
}

TEST(ScopedRemoverDispatcherTest, AWrongEventRemovesNothingAndForgetsNothing) {
    EventDispatcher<int, void()> dispatcher;
    int calls = 0;
    {
        ScopedRemover<EventDispatcher<int, void()>> remover(dispatcher);
        const auto handle = remover.appendListener(3, [&calls] { ++calls; });
        EXPECT_FALSE(remover.removeListener(4, handle));
        dispatcher.dispatch(3);
        EXPECT_EQ(calls, 1);
    }
    dispatcher.dispatch(3);
    EXPECT_EQ(calls, 1);
}

TEST(ScopedRemoverListTest, RemovesFromTheListThatHasTheListenerNow) {
    auto first = std::make_unique<List>();
    ScopedRemover<List> remover(*first);
    const auto handle = remover.append([](int) {});
    List second(std::move(*first));
    first.reset();
    EXPECT_TRUE(remover.remove(handle));
    EXPECT_TRUE(second.empty());
}

/// A list whose handles count the questions whether they are expired.
struct AskedList : TagCallbackList {
    struct Handle {
        bool expired() const { return (*asked)++, *isRemoved; }
        bool remove() const { return !std::exchange(*isRemoved, true); }
        int* asked = nullptr;
        std::shared_ptr<bool> isRemoved = std::make_shared<bool>(true);
    };
    using Mutex = std::mutex;
    Handle append(int) { return {&asked, std::make_shared<bool>(false)}; }
    int asked = 0;
};

TEST(ScopedRemoverListTest, ChurnBesideManyListenersTakesConstantTime) {
    AskedList list;
    ScopedRemover<AskedList> remover(list);
    for (int i = 0; i < 1023; ++i) {
        (void)remover.append(0);
    }
    list.asked = 0;
    for (int i = 0; i < 10000; ++i) {
        remover.append(0).remove();
    }
    EXPECT_LE(list.asked, 3 * 10000);
}

TEST(ScopedRemoverListTest, ThreadsAddRemoveAndResetAtOnce) {
    List list;
    ScopedRemover<List> remover(list);
    std::atomic<int> calls{0};
    {
        test::Crew crew;
        crew.add([&] {
            for (std::size_t i = 0; i < test::scaled(8000); ++i) {
                const auto handle = remover.append([&calls](int) { ++calls; });
                remover.append([&calls](int) { ++calls; });
                remover.remove(handle);
            }
        });
        crew.add([&] {
            for (std::size_t i = 0; i < test::scaled(2000); ++i) {
                list(0);
                remover.reset();
            }
        });
    }
    remover.reset();
    EXPECT_TRUE(list.empty());
}

#if !defined(NDEBUG)
TEST(ScopedRemoverDeathTest, AddingWithoutATargetIsRefused) {
    ScopedRemover<List> remover;
    EXPECT_DEATH(remover.append([](int) {}), "this ScopedRemover has no target");
}
#else
TEST(ScopedRemoverListTest, AddingWithoutATargetGivesAnEmptyHandle) {
    ScopedRemover<List> remover;
    EXPECT_FALSE(remover.append([](int) {}));
}
#endif

// ---- CounterRemover

template <class Hub>
class CounterRemoverTest : public ::testing::Test {};
TYPED_TEST_SUITE(CounterRemoverTest, Hubs, );

TYPED_TEST(CounterRemoverTest, AddsAtTheEndTheBeginningAndInFrontOfAnother) {
    typename TypeParam::Target target;
    std::vector<int> order;
    CounterRemover<typename TypeParam::Target> remover(target);
    const auto last = TypeParam::append(
        remover, [&order](int) { order.push_back(3); }, 2);
    TypeParam::prepend(
        remover, [&order](int) { order.push_back(1); }, 2);
    TypeParam::insert(
        remover, [&order](int) { order.push_back(2); }, last, 2);
    TypeParam::insert(
        remover, [&order](int) { order.push_back(9); }, last);
    TypeParam::fire(target);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 9, 3}));
    TypeParam::fire(target);
    TypeParam::fire(target);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 9, 3, 1, 2, 3}));
}

TYPED_TEST(CounterRemoverTest, TheListenerIsRemovedBeforeItsLastCall) {
    typename TypeParam::Target target;
    typename TypeParam::Handle handle;
    std::vector<bool> alive;
    handle = TypeParam::append(
        counterRemover(target), [&](int) { alive.push_back(static_cast<bool>(handle)); }, 2);
    EXPECT_TRUE(handle);
    TypeParam::fire(target);
    TypeParam::fire(target);
    EXPECT_EQ(alive, (std::vector<bool>{true, false}));
    EXPECT_TRUE(TypeParam::isEmpty(target));
}

TYPED_TEST(CounterRemoverTest, AListenerThatCallsTheTargetAgainStillHasItsCount) {
    typename TypeParam::Target target;
    int calls = 0;
    TypeParam::append(
        counterRemover(target),
        [&](int) {
            ++calls;
            TypeParam::fire(target);
        },
        4);
    TypeParam::fire(target);
    EXPECT_EQ(calls, 4);
}

TYPED_TEST(CounterRemoverTest, ACountBelowOneCountsAsOne) {
    typename TypeParam::Target target;
    std::array<int, 2> calls{};
    TypeParam::append(
        counterRemover(target), [&calls](int) { ++calls[0]; }, 0);
    TypeParam::append(
        counterRemover(target), [&calls](int) { ++calls[1]; }, std::numeric_limits<int>::min());
    TypeParam::fire(target);
    TypeParam::fire(target);
    EXPECT_EQ(calls, (std::array<int, 2>{1, 1}));
}

TYPED_TEST(CounterRemoverTest, ANullListenerIsNotAdded) {
    typename TypeParam::Target target;
    EXPECT_FALSE(TypeParam::append(counterRemover(target), std::function<void(int)>()));
    EXPECT_FALSE(TypeParam::append(counterRemover(target), static_cast<void (*)(int)>(nullptr)));
    EXPECT_TRUE(TypeParam::isEmpty(target));
    TypeParam::fire(target);
}

void countTwice(int& count) {
    count += 2;
}

TEST(CounterRemoverListTest, TakesFunctionsAndMovesListenersIn) {
    CallbackList<void(int&)> list;
    counterRemover(list).append(countTwice);
    auto owned = std::make_shared<int>(10);
    auto listener = [owned](int& count) { count += *owned; };
    counterRemover(list).append(std::move(listener));
    EXPECT_EQ(owned.use_count(), 2);
    int count = 0;
    list(count);
    list(count);
    EXPECT_EQ(count, 12);
    EXPECT_EQ(owned.use_count(), 1) << "the removed listener has gone";
}

TEST(CounterRemoverListTest, ACopyOfTheTargetSharesTheCount) {
    int calls = 0;
    List copy;
    {
        List list;
        counterRemover(list).append([&calls](int) { ++calls; }, 3);
        copy = list;
        list(0);
        copy(0);
    }
    for (int i = 0; i < 5; ++i) {
        copy(0);
    }
    EXPECT_EQ(calls, 3);
}

/// Calls each added callback before it returns the handle, as another thread might.
struct EagerList : TagCallbackList {
    using Handle = List::Handle;

    template <class Callback>
    Handle append(const Callback& callback) {
        static_assert(std::is_invocable_v<const Callback&, char>);
        static_assert(!std::is_invocable_v<const Callback&, std::string>);
        callback(1);
        callback(2);
        return inner.append(callback);
    }
    template <class Callback>
    Handle prepend(const Callback& callback) {
        return append(callback);
    }
    template <class Callback>
    Handle insert(const Callback& callback, const Handle&) {
        return append(callback);
    }

    List inner;
};

TEST(CounterRemoverListTest, AListenerThatRunsOutBeforeItsHandleIsKnownIsRemoved) {
    EagerList list;
    std::vector<int> seen;
    EXPECT_FALSE(counterRemover(list).append([&seen](int n) { seen.push_back(n); }));
    EXPECT_EQ(seen, (std::vector<int>{1}));
    EXPECT_TRUE(list.inner.empty());
    EXPECT_TRUE(counterRemover(list).append([&seen](int n) { seen.push_back(n); }, 3));
    list.inner(3);
    EXPECT_TRUE(list.inner.empty());
    EXPECT_EQ(seen, (std::vector<int>{1, 1, 2, 3}));
}

TEST(CounterRemoverListTest, ThreadsThatCallAtOnceShareTheCountExactly) {
    constexpr int count = static_cast<int>(test::scaled(400'000));
    List list;
    std::atomic<int> calls{0};
    counterRemover(list).append([&calls](int) { ++calls; }, count);
    {
        test::Crew crew;
        for (int thread = 0; thread < 2; ++thread) {
            crew.add([&list] {
                for (int i = 0; i < count; ++i) {
                    list(i);
                }
            });
        }
    }
    EXPECT_EQ(calls, count);
    EXPECT_TRUE(list.empty());
}

#if defined(__cpp_exceptions)
TEST(CounterRemoverListTest, ACallThatThrowsCounts) {
    List list;
    counterRemover(list).append([](int) { throw std::runtime_error("listener"); }, 2);
    EXPECT_THROW(list(0), std::runtime_error);
    EXPECT_THROW(list(0), std::runtime_error);
    EXPECT_NO_THROW(list(0));
    EXPECT_TRUE(list.empty());
}
#endif

// ---- ConditionalRemover

template <class Hub>
class ConditionalRemoverTest : public ::testing::Test {};
TYPED_TEST_SUITE(ConditionalRemoverTest, Hubs, );

TYPED_TEST(ConditionalRemoverTest, TheConditionSeesTheArgumentsIfItTakesThem) {
    typename TypeParam::Target target;
    std::vector<int> seen;
    TypeParam::append(
        conditionalRemover(target), [&seen](int n) { seen.push_back(n); },
        [](int n) { return n == 3; });
    for (int n = 1; n < 6; ++n) {
        TypeParam::fire(target, n);
    }
    EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
}

TEST(ConditionalRemoverListTest, ThreadsThatCallAtOnceEndTheListenerOnce) {
    List list;
    std::atomic<int> calls{0};
    test::Rendezvous bothAsked;
    conditionalRemover(list).append([&calls](int) { ++calls; },
                                    [&bothAsked] {
                                        bothAsked.arrive();
                                        return true;
                                    });
    {
        test::Crew crew;
        crew.add([&list] { list(0); });
        crew.add([&list] { list(0); });
    }
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(list.empty());
}

#if defined(__cpp_exceptions)
TEST(ConditionalRemoverListTest, AThrowingConditionLeavesTheListenerUncalled) {
    List list;
    int calls = 0;
    conditionalRemover(list).append(
        [&calls](int) { ++calls; },
        [](int n) -> bool { return n == 0 ? throw std::runtime_error("condition") : false; });
    EXPECT_THROW(list(0), std::runtime_error);
    EXPECT_EQ(calls, 0);
    list(1);
    EXPECT_EQ(calls, 1);
}
#endif

}  // namespace
}  // namespace sluice
