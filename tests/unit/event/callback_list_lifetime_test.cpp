#include "event_suites.hpp"
#include "support/rendezvous.hpp"
#include "support/watchdog.hpp"

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>

#include "support/testing.hpp"
#include <thread>

// When callbacks are destroyed, and lists that end inside their own calls.

namespace sluice {
namespace {

template <class Policies>
class CallbackListLifetimeTest : public testing::Test {
protected:
    using List = CallbackList<void(), Policies>;
    using Handle = typename List::Handle;
};
TYPED_TEST_SUITE(CallbackListLifetimeTest, test::CommonPolicies, test::PolicyNames);

/// Calls a function when it is destroyed; copies of it share that.
class AtEnd {
public:
    explicit AtEnd(std::function<void()> work)
        : work_(new std::function<void()>(std::move(work)), [](std::function<void()>* ended) {
              const std::unique_ptr<std::function<void()>> owner(ended);
              (*owner)();
          }) {}
    void operator()() const {}

private:
    std::shared_ptr<std::function<void()>> work_;
};

// ---- when a callback is destroyed

TYPED_TEST(CallbackListLifetimeTest, InnerCallDestroysNothingThatTheOuterOneUses) {
    typename TestFixture::List list;
    const auto captured = std::make_shared<int>(1);
    typename TestFixture::Handle handle;
    int depth = 0;
    handle = list.append([&, captured] {
        if (++depth == 1) {
            list();
            EXPECT_FALSE(handle);
            EXPECT_EQ(captured.use_count(), 2);
        } else {
            EXPECT_TRUE(list.remove(handle));
        }
    });
    list();
    EXPECT_EQ(captured.use_count(), 1);
}

TYPED_TEST(CallbackListLifetimeTest, ClearAssignmentAndDestructionDestroyTheCallbacks) {
    const auto captured = std::make_shared<int>(1);
    std::optional<typename TestFixture::List> list(std::in_place);
    const auto add = [&] {
        for (int i = 0; i < 3; ++i) {
            list->append([captured] {});
        }
    };
    add();
    list->clear();
    EXPECT_EQ(captured.use_count(), 1);
    add();
    *list = {};
    EXPECT_EQ(captured.use_count(), 1);
    add();
    *list = typename TestFixture::List(*list);
    EXPECT_EQ(captured.use_count(), 4);
    list.reset();
    EXPECT_EQ(captured.use_count(), 1);
}

TYPED_TEST(CallbackListLifetimeTest, RvaluesAreMovedInAndLvaluesCopiedOnce) {
    typename TestFixture::List list;
    const auto captured = std::make_shared<int>(1);
    // Moving a small target copies it in libc++, so this one is large.
    typename TestFixture::List::Callback callback = [captured, large = std::array<char, 64>{}] {
        (void)large;
    };
    list.append(callback);
    EXPECT_EQ(captured.use_count(), 3);
    list.append(std::move(callback));
    EXPECT_EQ(captured.use_count(), 3);
}

TYPED_TEST(CallbackListLifetimeTest, DestructorMayWaitForACallbackThatWasRemovedWithItsOwn) {
    const test::Watchdog watchdog([](std::FILE*) {});
    for (const bool isInCall : {false, true}) {
        typename TestFixture::List list;
        typename TestFixture::Handle second;
        const auto captured = std::make_shared<int>(1);
        const auto removeSecond = [&] {
            EXPECT_FALSE(list.removeAndWait(second));
            EXPECT_EQ(captured.use_count(), 1);
        };
        const auto first = list.append(AtEnd(removeSecond));
        second = list.append([captured] {});
        if (isInCall) {
            list.append([&] {
                list.remove(first);
                list.remove(second);
            });
            list();
        } else {
            list.clear();
        }
        EXPECT_EQ(captured.use_count(), 1);
    }
}

// ---- lists that end inside their own calls

TYPED_TEST(CallbackListLifetimeTest, CallbackMayDestroyItsList) {
    auto list = std::make_unique<typename TestFixture::List>();
    const auto captured = std::make_shared<int>(0);
    list->append([&list, captured] {
        list.reset();
        EXPECT_GE(captured.use_count(), 2) << "a callback that runs is kept";
        ++*captured;
    });
    list->append([captured] { *captured += 100; });
    (*list)();
    EXPECT_EQ(*captured, 1);
    EXPECT_EQ(captured.use_count(), 1);
}

// ---- destructors of callbacks

TYPED_TEST(CallbackListLifetimeTest, DestructorsOfCallbacksMayUseTheList) {
    typename TestFixture::List list;
    int calls = 0;
    const auto other = list.append([&calls] { ++calls; });
    const auto handle = list.append(AtEnd([&] {
        list();
        EXPECT_TRUE(list.remove(other));
        list.append([&calls] { calls += 10; });
    }));
    EXPECT_TRUE(list.remove(handle));
    EXPECT_EQ(calls, 1);
    EXPECT_FALSE(other);
    list();
    EXPECT_EQ(calls, 11);
}

TYPED_TEST(CallbackListLifetimeTest, DestructorsOfCallbacksMayDestroyTheList) {
    auto list = std::make_unique<typename TestFixture::List>();
    const auto handle = list->append(AtEnd([&] { list.reset(); }));
    list->append([] {});
    EXPECT_TRUE(list->remove(handle));
    EXPECT_EQ(list, nullptr);
}

// ---- Callbacks are destroyed as soon as no thread can be calling them, whatever else goes on.
// Programs rely on this: the captures of a callback may use objects that are destroyed after its
// list.

template <class Policies>
class CallbackEndTest : public testing::Test {
protected:
    using List = CallbackList<void(), Policies>;

    /// Calls a list in which another one lives and dies.
    template <class Work>
    static void within(Work work) {
        List outer;
        outer.append(work);
        outer();
    }

    const std::shared_ptr<int> captured = std::make_shared<int>(1);
};
TYPED_TEST_SUITE(CallbackEndTest, test::CommonPolicies, test::PolicyNames);

// ---- destructors of callbacks that use a list that ends

TYPED_TEST(CallbackEndTest, CallbacksOfARunningCallOutliveASwapIntoAListThatEnds) {
    typename TestFixture::List list;
    std::vector<int> seen;
    list.append([&] {
        typename TestFixture::List other;
        other.append([&] { seen.push_back(9); });
        list.swap(other);
        // `other` ends here, with the callbacks of the running call.
    });
    list.append([kept = this->captured, &seen] { seen.push_back(*kept); });
    list();
    EXPECT_EQ(seen, std::vector<int>{}) << "they have been removed from the list";
    EXPECT_EQ(this->captured.use_count(), 1);
    list();
    EXPECT_EQ(seen, std::vector<int>{9});
}

// ---- beside other threads

/// Another thread that makes a call of a list of its own, and stays in it as long as this lives.
template <class List>
class CallElsewhere {
public:
    CallElsewhere()
        : thread_([this] {
              List list;
              list.append([this] {
                  meeting_.arrive();
                  meeting_.arrive();
              });
              list();
              meeting_.arrive();
              meeting_.arrive();
          }) {
        meeting_.arrive();
    }
    CallElsewhere(const CallElsewhere&) = delete;
    CallElsewhere& operator=(const CallElsewhere&) = delete;
    ~CallElsewhere() {
        if (!hasReturned_) {
            endCall();
        }
        meeting_.arrive();
        thread_.join();
    }

    /// The thread lives on, outside of calls.
    void endCall() {
        meeting_.arrive();
        meeting_.arrive();
        hasReturned_ = true;
    }

private:
    test::Rendezvous meeting_;
    bool hasReturned_ = false;
    std::thread thread_;
};

template <class Policies>
class SharedCallbackEndTest : public CallbackEndTest<Policies> {};
using SharedPolicies = testing::Types<DefaultPolicies, test::OwnLockPolicies>;
TYPED_TEST_SUITE(SharedCallbackEndTest, SharedPolicies, test::PolicyNames);

TYPED_TEST(SharedCallbackEndTest, RemoveAndWaitDestroysBesideOtherThreads) {
    CallElsewhere<typename TestFixture::List> other;
    typename TestFixture::List list;
    const auto handle = list.append([kept = this->captured] {});
    EXPECT_TRUE(list.remove(handle));
    const auto next = list.append([kept = this->captured] {});
    other.endCall();
    EXPECT_TRUE(list.removeAndWait(next));
    EXPECT_EQ(this->captured.use_count(), 1);
}

}  // namespace
}  // namespace sluice
