#include <sluice/eventpp/scoped_remover.hpp>

#include <support/crew.hpp>
#include <support/scale.hpp>

#include "listener_hubs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

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
TYPED_TEST_SUITE(ScopedRemoverTest, test::Hubs, );

TYPED_TEST(ScopedRemoverTest, NestedScopesUnwind) {
    using Counts = std::array<int, 5>;
    typename TestFixture::Target target;
    Counts counts{};
    const auto count = [&counts](std::size_t i) { return [&counts, i](int) { ++counts[i]; }; };
    TypeParam::append(target, count(0));
    {
        typename TestFixture::Remover first(target);
        TypeParam::append(first, count(1));
        {
            typename TestFixture::Remover second(target);
            TypeParam::append(second, count(2));
            {
                typename TestFixture::Remover third(target);
                TypeParam::append(third, count(3));
                {
                    typename TestFixture::Remover fourth(target);
                    TypeParam::append(fourth, count(4));
                    TypeParam::fire(target);
                    EXPECT_EQ(counts, (Counts{1, 1, 1, 1, 1}));
                }
                TypeParam::fire(target);
                EXPECT_EQ(counts, (Counts{2, 2, 2, 2, 1}));
            }
            TypeParam::fire(target);
            EXPECT_EQ(counts, (Counts{3, 3, 3, 2, 1}));
        }
        TypeParam::fire(target);
        EXPECT_EQ(counts, (Counts{4, 4, 3, 2, 1}));
    }
    TypeParam::fire(target);
    EXPECT_EQ(counts, (Counts{5, 4, 3, 2, 1}));
}

TYPED_TEST(ScopedRemoverTest, AddsAtTheEndTheBeginningAndInFrontOfAnother) {
    typename TestFixture::Target target;
    std::vector<int> order;
    {
        typename TestFixture::Remover remover(target);
        const auto last = TypeParam::append(remover, [&order](int) { order.push_back(3); });
        TypeParam::prepend(remover, [&order](int) { order.push_back(1); });
        TypeParam::insert(
            remover, [&order](int) { order.push_back(2); }, last);
        TypeParam::fire(target);
    }
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
    EXPECT_TRUE(TypeParam::isEmpty(target));
}

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

TYPED_TEST(ScopedRemoverTest, MoveAssignmentTakesTheListenersAlong) {
    typename TestFixture::Target target;
    typename TestFixture::Remover taker;
    {
        typename TestFixture::Remover source(target);
        TypeParam::append(source, this->counting());
        taker = std::move(source);
    }
    EXPECT_EQ(this->callsOf(target), 1);
    taker.reset();
    EXPECT_EQ(this->callsOf(target), 0);
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

TYPED_TEST(ScopedRemoverTest, SwapExchangesTargetsAndListeners) {
    typename TestFixture::Target one;
    typename TestFixture::Target two;
    typename TestFixture::Remover first(one);
    TypeParam::append(first, this->counting());
    {
        typename TestFixture::Remover second(two);
        TypeParam::append(second, this->counting());
        TypeParam::append(second, this->counting());
        first.swap(second);
    }
    EXPECT_EQ(this->callsOf(one), 0);
    EXPECT_EQ(this->callsOf(two), 2);
    typename TestFixture::Remover third(one);
    TypeParam::append(third, this->counting());
    swap(first, third);
    first.reset();
    EXPECT_EQ(this->callsOf(one), 0);
    EXPECT_EQ(this->callsOf(two), 2);
}

TYPED_TEST(ScopedRemoverTest, ResetRemovesAllAndKeepsTheTarget) {
    typename TestFixture::Target target;
    typename TestFixture::Remover remover(target);
    for (int i = 0; i < 10; ++i) {
        TypeParam::append(remover, this->counting());
    }
    EXPECT_EQ(this->callsOf(target), 10);
    remover.reset();
    EXPECT_EQ(this->callsOf(target), 0);
    TypeParam::append(remover, this->counting());
    EXPECT_EQ(this->callsOf(target), 1);
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

TYPED_TEST(ScopedRemoverTest, RemovesOneOfItsListenersOnce) {
    typename TestFixture::Target target;
    typename TestFixture::Remover remover(target);
    const auto first = TypeParam::append(remover, this->counting());
    TypeParam::append(remover, this->counting());
    EXPECT_TRUE(TypeParam::remove(remover, first));
    EXPECT_FALSE(TypeParam::remove(remover, first));
    EXPECT_EQ(this->callsOf(target), 1);
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

TYPED_TEST(ScopedRemoverTest, AListenerMayRemoveItselfAndAll) {
    typename TestFixture::Target target;
    typename TestFixture::Remover remover(target);
    typename TypeParam::Handle handle;
    int calls = 0;
    handle = TypeParam::append(remover, [&](int) {
        ++calls;
        EXPECT_TRUE(TypeParam::remove(remover, handle));
    });
    TypeParam::append(remover, [&](int) {
        ++calls;
        remover.reset();
    });
    TypeParam::append(remover, [&](int) { calls += 100; });
    TypeParam::fire(target);
    TypeParam::fire(target);
    EXPECT_EQ(calls, 2);
}

TYPED_TEST(ScopedRemoverTest, TheTargetMayGoFirst) {
    auto target = std::make_unique<typename TestFixture::Target>();
    typename TestFixture::Remover remover(*target);
    const auto handle = TypeParam::append(remover, this->counting());
    target.reset();
    EXPECT_FALSE(TypeParam::remove(remover, handle));
    remover.reset();
}

TYPED_TEST(ScopedRemoverTest, ListenersAreRemovedFromATargetThatMoved) {
    typename TestFixture::Target source;
    typename TestFixture::Remover remover(source);
    TypeParam::append(remover, this->counting());
    typename TestFixture::Target target(std::move(source));
    EXPECT_EQ(this->callsOf(target), 1);
    remover.reset();
    EXPECT_TRUE(TypeParam::isEmpty(target));
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

TEST(ScopedRemoverListTest, ForgottenListenersTakeNoMemory) {
    List list;
    detail::ScopedListeners<List::Handle, List::Mutex> listeners;
    for (int i = 0; i < 1000; ++i) {
        const auto handle = list.append([](int) {});
        listeners.keep(handle);
        list.remove(handle);
    }
    EXPECT_LE(listeners.capacity(), 4U);
    listeners.removeAll();
    EXPECT_EQ(listeners.capacity(), 0U);
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

TEST(ScopedRemoverListTest, IsMovedButNotCopied) {
    using Scoped = ScopedRemover<List>;
    static_assert(std::is_nothrow_move_constructible_v<Scoped>);
    static_assert(std::is_nothrow_move_assignable_v<Scoped>);
    static_assert(!std::is_copy_constructible_v<Scoped>);
    static_assert(!std::is_copy_assignable_v<Scoped>);
    static_assert(!std::is_convertible_v<List&, Scoped>);
    List list;
    const Scoped remover(list);
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

}  // namespace
}  // namespace sluice
