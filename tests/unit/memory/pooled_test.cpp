#include "support/counted_memory.hpp"
#include "support/sanitizers.hpp"

#include <sluice/memory/pooled.hpp>

#include "support/testing.hpp"
#include <memory_resource>

#if defined(__linux__)
#include <sys/resource.h>
#endif

namespace sluice {
namespace {

struct Base : Pooled<Base> {
    explicit Base(int n = 0) : number(n) {}
    virtual ~Base() = default;
    int number;
};

struct Derived : Base {
    using Base::Base;
    char more[200] = {};
};

struct alignas(128) Wide final : Pooled<Wide> {
    char content[100] = {};
};

struct Huge final : Pooled<Huge> {
    char content[100000] = {};
};

std::size_t inUse(PoolResource& resource, std::size_t bytes) {
    return resource.statistics(bytes).inUse;
}

TEST(PooledTest, NewAndDeleteUseThePool) {
    auto object = std::make_unique<Base>(7);
    EXPECT_EQ(object->number, 7);
    EXPECT_EQ(inUse(Base::resource(), sizeof(Base)), 1U);
    object.reset();
    EXPECT_EQ(inUse(Base::resource(), sizeof(Base)), 0U);
}

TEST(PooledTest, DerivedClassesHaveTheirOwnSize) {
    std::unique_ptr<Base> object = std::make_unique<Derived>(3);
    EXPECT_EQ(inUse(Base::resource(), sizeof(Derived)), 1U);
    EXPECT_EQ(inUse(Base::resource(), sizeof(Base)), 0U);
    object.reset();
    EXPECT_EQ(inUse(Base::resource(), sizeof(Derived)), 0U) << "deleted through its base";
}

TEST(PooledTest, OverAlignedClassesAreAligned) {
    std::vector<std::unique_ptr<Wide>> objects;
    for (int i = 0; i < 20; ++i) {
        objects.push_back(std::make_unique<Wide>());
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(objects.back().get()) % 128, 0U);
    }
}

TEST(PooledTest, LargeObjectsAndArraysComeFromTheHeap) {
    auto huge = std::make_unique<Huge>();
    huge->content[99999] = 1;
    auto array = std::make_unique<Derived[]>(10);
    array[9].number = 1;
    EXPECT_EQ(inUse(Base::resource(), sizeof(Derived)), 0U);
    auto wideArray = std::make_unique<Wide[]>(3);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wideArray.get()) % 128, 0U);
}

TEST(PooledTest, NothrowFormsUseThePoolToo) {
    auto* const object = new (std::nothrow) Base(1);
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(inUse(Base::resource(), sizeof(Base)), 1U);
    delete object;
    auto* const wide = new (std::nothrow) Wide;
    ASSERT_NE(wide, nullptr);
    delete wide;
}

TEST(PooledTest, PlacementFormIsNotHidden) {
    alignas(Derived) std::byte place[sizeof(Derived)];
    auto* const object = ::new (static_cast<void*>(place)) Derived(5);
    object->~Derived();
    auto* const again = new (static_cast<void*>(place)) Derived(6);
    EXPECT_EQ(again->number, 6);
    again->~Derived();
    std::optional<Base> optional(std::in_place, 8);
    EXPECT_EQ(optional->number, 8);
    std::variant<int, Base> variant(std::in_place_type<Base>, 9);
    EXPECT_EQ(std::get<Base>(variant).number, 9);
    std::vector<Derived> vector(3);
    EXPECT_EQ(vector.size(), 3U);
    EXPECT_EQ(inUse(Base::resource(), sizeof(Base)), 0U);
    EXPECT_EQ(inUse(Base::resource(), sizeof(Derived)), 0U);
}

struct DerivedWide : Base {
    alignas(256) char wide[256] = {};
};

TEST(PooledTest, OverAlignedClassesMayBeDeletedThroughTheirBase) {
    std::unique_ptr<Base> object = std::make_unique<DerivedWide>();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(static_cast<DerivedWide&>(*object).wide) % 256, 0U);
}

struct Fresh final : Pooled<Fresh> {
    int content = 0;
};

TEST(PooledTest, DoesNotDependOnTheDefaultResource) {
    test::CountedMemory memory;
    std::pmr::memory_resource* const before = std::pmr::set_default_resource(&memory);
    std::make_unique<Fresh>().reset();
    std::pmr::set_default_resource(before);
    EXPECT_EQ(memory.allocations(), 0U) << "the pools would have outlived this resource";
}

#if defined(__linux__) && defined(__cpp_exceptions) && !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
/// From now on this process gets no more memory.
void useUpMemory() {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_AS, &none);
    for (std::size_t bytes = std::size_t{1} << 24U; bytes >= 16; bytes /= 2) {
        void* volatile block = nullptr;  // volatile: clang removes blocks that are not used
        do {
            block = std::malloc(bytes);
        } while (block != nullptr);
    }
}

struct NeverBefore final : Pooled<NeverBefore> {
    int content = 0;
};

TEST(PooledDeathTest, FirstObjectMayFindNoMemory) {
    const auto allocate = [] {
        // glibc ends a program that has no memory for a thread's first thread_local object.
        std::make_unique<Base>().reset();
        useUpMemory();
        bool hasThrown = false;
        try {
            (void)new NeverBefore;
        } catch (const std::bad_alloc&) {
            hasThrown = true;
        }
        std::_Exit(hasThrown && new (std::nothrow) NeverBefore == nullptr ? 0 : 1);
    };
    EXPECT_EXIT(allocate(), ::testing::ExitedWithCode(0), "");
}
#endif

#if defined(__cpp_exceptions)
struct Refusing final : Pooled<Refusing> {
    Refusing() { throw std::runtime_error("constructor"); }
    char content[40] = {};
};
struct alignas(128) WideRefusing final : Pooled<WideRefusing> {
    WideRefusing() { throw std::runtime_error("constructor"); }
};
struct HugeRefusing final : Pooled<HugeRefusing> {
    HugeRefusing() { throw std::runtime_error("constructor"); }
    char content[100000] = {};
};

template <class T>
void expectNothingKept() {
    EXPECT_THROW((void)new T, std::runtime_error);
    EXPECT_THROW((void)new (std::nothrow) T, std::runtime_error);
    alignas(T) static std::byte storage[sizeof(T)];
    EXPECT_THROW((void)new (static_cast<void*>(storage)) T, std::runtime_error);
    for (std::size_t bytes = 16; bytes <= 4096; bytes *= 2) {
        EXPECT_EQ(inUse(T::resource(), bytes), 0U) << bytes;
    }
}

TEST(PooledTest, ThrowingConstructorGivesTheMemoryBack) {
    expectNothingKept<Refusing>();
    expectNothingKept<WideRefusing>();
    expectNothingKept<HugeRefusing>();
}
#endif

}  // namespace
}  // namespace sluice
