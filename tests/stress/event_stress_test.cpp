#include "support/crew.hpp"
#include "support/dice.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>

#include "support/testing.hpp"

// Threads that add, remove, call and dispatch at the same time. Callbacks carry canaries which
// their destructor poisons with plain writes, so that one that is called too late shows, to
// ThreadSanitizer even when the times happen to fit.

namespace sluice {
namespace {

struct OwnLockPolicies {
    using Threading = GeneralThreading<std::mutex>;
};

/// A callback that knows whether it is alive, and counts its calls.
class Canary {
public:
    explicit Canary(std::atomic<std::size_t>& calls) : calls_(&calls) {
        living.fetch_add(1, std::memory_order_relaxed);
    }
    Canary(const Canary& other) : Canary(*other.calls_) {}
    Canary& operator=(const Canary&) = delete;
    ~Canary() {
        for (volatile std::uint64_t& word : words_) {
            word = poison;
        }
        living.fetch_sub(1, std::memory_order_relaxed);
    }

    void operator()() const {
        for (const volatile std::uint64_t& word : words_) {
            if (word != alive) {
                broken.fetch_add(1, std::memory_order_relaxed);
            }
        }
        calls_->fetch_add(1, std::memory_order_relaxed);
    }

    inline static std::atomic<std::int64_t> living{0};
    inline static std::atomic<int> broken{0};

private:
    static constexpr std::uint64_t alive = 0x5a5a1234c0ffee99U;
    static constexpr std::uint64_t poison = 0xdeaddeaddeaddeadU;

    std::atomic<std::size_t>* calls_;
    std::array<std::uint64_t, 4> words_{alive, alive, alive, alive};
};

template <class Policies>
class EventStressTest : public testing::Test {
protected:
    using List = CallbackList<void(), Policies>;
    using Handle = typename List::Handle;
    using Dispatcher = EventDispatcher<int, void(), Policies>;

    EventStressTest() { Canary::broken.store(0); }

    ~EventStressTest() override {
        // One call from each of the two sides that may hold garbage back, both alone by now.
        List()();
        EXPECT_EQ(Canary::broken.load(), 0) << "a callback was called after its end";
        EXPECT_EQ(Canary::living.load(), 0) << "callbacks were not destroyed";
    }

    Canary canary() { return Canary(calls_); }

    std::size_t sizeOf(const List& list) {
        std::size_t size = 0;
        list.forEach([&size](typename List::Callback&) { ++size; });
        return size;
    }

    void printState(std::FILE* out) const {
        std::fprintf(out, "calls %zu, living callbacks %lld\n", calls_.load(),
                     static_cast<long long>(Canary::living.load()));
    }

    std::atomic<std::size_t> calls_{0};
    test::Watchdog watchdog_{[this](std::FILE* out) { printState(out); }};
};

struct PolicyNames {
    template <class Policies>
    static std::string GetName(int) {
        return std::is_same_v<Policies, DefaultPolicies> ? "MultipleThreading" : "GeneralThreading";
    }
};
using AllPolicies = testing::Types<DefaultPolicies, OwnLockPolicies>;
TYPED_TEST_SUITE(EventStressTest, AllPolicies, PolicyNames);

TYPED_TEST(EventStressTest, CallsGoOnWhileOthersAddAndRemove) {
    const std::size_t rounds = test::scaled(20000);
    typename TestFixture::List list;
    std::atomic<std::size_t> lasting{0};
    list.append(Canary(lasting));
    std::atomic<int> atWork{2};
    std::size_t calls = 0;
    {
        test::Crew crew;
        for (std::uint32_t thread = 0; thread < 2; ++thread) {
            crew.add([&, thread] {
                test::Dice dice(thread + 77);
                std::vector<typename TestFixture::Handle> own;
                for (std::size_t i = 0; i < rounds; ++i) {
                    if (own.size() < 8 || dice() % 2 == 0) {
                        own.push_back(dice() % 2 == 0 ? list.append(this->canary())
                                                      : list.prepend(this->canary()));
                    } else {
                        std::swap(own[dice() % own.size()], own.back());
                        EXPECT_TRUE(list.remove(own.back()));
                        own.pop_back();
                    }
                }
                for (const auto& handle : own) {
                    EXPECT_TRUE(list.ownsHandle(handle));
                    EXPECT_TRUE(list.remove(handle));
                }
                atWork.fetch_sub(1);
            });
        }
        crew.add([&] {
            while (atWork.load() != 0) {
                list();
                ++calls;
            }
        });
    }
    EXPECT_EQ(lasting.load(), calls) << "the one that stays is called exactly once by each call";
    EXPECT_EQ(this->sizeOf(list), 1U);
}

TYPED_TEST(EventStressTest, NothingRunsAfterRemoveAndWait) {
    const std::size_t rounds = test::scaled(2000);
    typename TestFixture::List list;
    std::atomic<bool> isOver{false};
    std::atomic<std::size_t> calls{0};
    int afterwards = 0;
    {
        test::Crew crew;
        crew.add([&] {
            while (!isOver.load()) {
                list();
                calls.fetch_add(1);
            }
        });
        crew.add([&] {
            test::awaitThat([&] { return calls.load() != 0; });
            for (std::size_t round = 0; round < rounds; ++round) {
                auto isValid = std::make_unique<bool>(true);
                // A plain variable: a call that runs on is a data race, too.
                const auto handle = list.append(
                    [&afterwards, flag = isValid.get()] { afterwards += *flag ? 0 : 1; });
                EXPECT_TRUE(list.removeAndWait(handle));
                *isValid = false;
            }
            isOver.store(true);
        });
    }
    EXPECT_EQ(afterwards, 0);
}

TYPED_TEST(EventStressTest, CopiesAreMadeOfListsThatChange) {
    const std::size_t rounds = test::scaled(2000);
    typename TestFixture::List list;
    for (int i = 0; i < 5; ++i) {
        list.append(this->canary());
    }
    std::atomic<bool> isOver{false};
    {
        test::Crew crew;
        crew.add([&] {
            while (!isOver.load()) {
                list.remove(list.append(this->canary()));
                list.remove(list.prepend(this->canary()));
            }
        });
        crew.add([&] {
            for (std::size_t round = 0; round < rounds; ++round) {
                // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the list changes
                const typename TestFixture::List copy(list);
                const std::size_t size = this->sizeOf(copy);
                EXPECT_GE(size, 5U);
                EXPECT_LE(size, 6U);
                copy();
            }
            isOver.store(true);
        });
    }
}

}  // namespace
}  // namespace sluice
