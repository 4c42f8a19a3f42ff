#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>

#include "support/testing.hpp"
#include <list>

// No foreign code runs while a queue holds its lock: not when events are built, copied, moved or
// destroyed, nor when listeners, predicates and visitors are called.

namespace sluice {
namespace {

/// Knows whether this thread holds it.
class KnownLock {
public:
    void lock() {
        EXPECT_EQ(held(), 0) << "the lock is taken twice";
        mutex_.lock();
        ++held();
    }
    void unlock() {
        --held();
        mutex_.unlock();
    }
    static int& held() {
        static thread_local int count = 0;
        return count;
    }

private:
    std::mutex mutex_;
};

struct KnownLockPolicies {
    using Threading = GeneralThreading<KnownLock>;
};

/// To be called from all code that a user may write.
int foreignCode() {
    static int calls = 0;
    EXPECT_EQ(KnownLock::held(), 0) << "foreign code under the lock of the queue";
    return ++calls;
}

/// All special members are foreign code.
struct Foreign {
    Foreign() { foreignCode(); }
    Foreign(const Foreign&) { foreignCode(); }
    Foreign(Foreign&&) noexcept { foreignCode(); }
    Foreign& operator=(const Foreign&) {
        foreignCode();
        return *this;
    }
    Foreign& operator=(Foreign&&) noexcept {
        foreignCode();
        return *this;
    }
    ~Foreign() { foreignCode(); }
};

/// Trivially copyable by the letter, but not everything that makes one is trivial.
struct Trap {
    Trap() = default;
    Trap(const Trap&) = default;
    template <class T>
    // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): this is the trap
    Trap(T&&) {  // also for a Trap& and a Trap&&
        foreignCode();
    }
    Trap& operator=(const Trap&) = default;
    int data = 0;
};
static_assert(std::is_trivially_copy_constructible_v<Trap>);

/// Converts to a number by foreign code.
struct Number {
    operator int() const { return foreignCode() != 0 ? 1 : 0; }
};

template <class Argument>
using Queue = EventQueue<int, void(const Argument&), KnownLockPolicies>;

/// Everything that moves events in and out.
template <class Argument, class... Parameters>
void useInAllWays(const EventQueueOptions& options, Parameters&&... parameters) {
    Queue<Argument> queue(options);
    typename Queue<Argument>::QueuedEvent event{};
    queue.appendListener(1, [](const Argument&) { foreignCode(); });
    const auto fill = [&] {
        for (int i = 0; i < 3; ++i) {
            queue.enqueue(1, std::forward<Parameters>(parameters)...);
        }
    };
    fill();
    EXPECT_TRUE(queue.peekEvent(&event));
    EXPECT_TRUE(queue.takeEvent(&event));
    int asked = 0;
    (void)queue.processIf([&](const Argument&) { return foreignCode() != 0 && ++asked == 1; });
    fill();
    EXPECT_FALSE(queue.processUntil([](const Argument&) { return foreignCode() != 0; }));
    EXPECT_TRUE(queue.processOne());
    fill();
    EXPECT_TRUE(queue.processQueueWith([](int, Argument&) { foreignCode(); }));
    fill();
    queue.clearEvents();
    fill();
}

template <class Argument, class... Parameters>
void useWithAllLimits(Parameters&&... parameters) {
    useInAllWays<Argument>({}, std::forward<Parameters>(parameters)...);
    useInAllWays<Argument>({2, Overflow::reject}, std::forward<Parameters>(parameters)...);
    useInAllWays<Argument>({2, Overflow::dropOldest}, std::forward<Parameters>(parameters)...);
}

TEST(EventQueueContentTest, NoSpecialMemberRunsUnderTheLock) {
    Foreign foreign;
    useWithAllLimits<Foreign>(foreign);
    useWithAllLimits<Foreign>(std::as_const(foreign));
    useWithAllLimits<Foreign>(Foreign());
}

TEST(EventQueueContentTest, NoConstructorOfATrivialTypeThatIsNotTrivialRunsUnderTheLock) {
    Trap trap;
    useWithAllLimits<Trap>(trap);
    useWithAllLimits<Trap>(std::as_const(trap));
    useWithAllLimits<Trap>(Trap());
    useWithAllLimits<Trap>(5);
}

TEST(EventQueueContentTest, NoConversionRunsUnderTheLock) {
    useWithAllLimits<int>(Number{});
    useWithAllLimits<std::string>("text");
    EventQueue<int, void(int), KnownLockPolicies> queue;
    EXPECT_TRUE(queue.enqueue(Number{})) << "also the event is converted";
    EXPECT_TRUE(queue.enqueue(Number{}, 2.5));
}

struct ForeignGetEvent : KnownLockPolicies {
    static int getEvent(int number) {
        foreignCode();
        return number;
    }
};

TEST(EventQueueContentTest, GetEventDoesNotRunUnderTheLock) {
    EventQueue<int, void(int), ForeignGetEvent> queue;
    EXPECT_TRUE(queue.enqueue(1));
    EXPECT_EQ(queue.sizeApprox(), 1U);
}

TEST(EventQueueContentTest, EventTypeOfTheUserIsHandledWithoutTheLock) {
    struct Policies : KnownLockPolicies {
        static std::string getEvent(const Foreign&) { return foreignCode() != 0 ? "e" : ""; }
    };
    EventQueue<std::string, void(const Foreign&), Policies> queue;
    queue.appendListener("e", [](const Foreign&) { foreignCode(); });
    EXPECT_TRUE(queue.enqueue(Foreign()));
    EXPECT_TRUE(queue.enqueue("e", Foreign()));
    EXPECT_TRUE(queue.process());
}

/// Frees without the lock, too.
template <class T>
struct KnownAllocator {
    using value_type = T;
    KnownAllocator() = default;
    template <class U>
    KnownAllocator(const KnownAllocator<U>&) {}
    T* allocate(std::size_t count) {
        foreignCode();
        return std::allocator<T>().allocate(count);
    }
    void deallocate(T* place, std::size_t count) {
        foreignCode();
        std::allocator<T>().deallocate(place, count);
    }
    friend bool operator==(KnownAllocator, KnownAllocator) { return true; }
    friend bool operator!=(KnownAllocator, KnownAllocator) { return false; }
};

struct KnownListPolicies : KnownLockPolicies {
    template <class Item>
    using QueueList = std::list<Item, KnownAllocator<Item>>;
};

TEST(EventQueueContentTest, AllocatorOfAListIsNotCalledUnderTheLock) {
    EventQueue<int, void(const Foreign&), KnownListPolicies> queue(
        EventQueueOptions{2, Overflow::dropOldest});
    const auto fill = [&] {
        for (int i = 0; i < 3; ++i) {
            EXPECT_TRUE(queue.enqueue(1, Foreign()));
        }
    };
    fill();
    EXPECT_TRUE(queue.processOne());
    EXPECT_FALSE(queue.processIf([] { return false; }));
    EXPECT_TRUE(queue.process());
    fill();
    queue.clearEvents();
    fill();
}

// ---- conversions of plain values are those of a call

TEST(EventQueueContentTest, NumbersConvertAsInACall) {
    EventQueue<int, void(int, unsigned char, float)> queue;
    queue.appendListener(1, [](int a, unsigned char b, float c) {
        EXPECT_EQ(a, -2);
        EXPECT_EQ(b, 255);
        EXPECT_EQ(c, 0.5F);
    });
    EXPECT_TRUE(queue.enqueue('\1', -2L, 255, 0.5));
    EXPECT_TRUE(queue.process());
}

TEST(EventQueueMemoryTest, LargeEventTakesItsOwnSizeOnly) {
    struct Large {
        char bytes[1 << 20];
    };
    EventQueue<int, void(const Large&)> queue;
    EXPECT_TRUE(queue.enqueue(1, std::make_unique<Large>().operator*()));
    EXPECT_TRUE(queue.process());
    EXPECT_LE(queue.trim(), std::size_t{2} << 20);
}

}  // namespace
}  // namespace sluice
