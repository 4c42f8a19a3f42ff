#include <sluice/fixed/fixed_function.hpp>

#include "support/testing.hpp"
#include <ostream>

namespace sluice {
namespace {

using Unary = FixedFunction<int(int)>;

int twice(int number) {
    return 2 * number;
}
int twiceQuietly(int number) noexcept {
    return 2 * number;
}

struct Counter {
    int total = 0;
    int add(int number) { return total += number; }
    int read() const noexcept { return total; }
};

/// Counts how often it is copied and moved.
struct Parcel {
    int copies = 0;
    int moves = 0;
    Parcel() = default;
    Parcel(const Parcel& other) : copies(other.copies + 1), moves(other.moves) {}
    Parcel(Parcel&& other) noexcept : copies(other.copies), moves(other.moves + 1) {}
    Parcel& operator=(const Parcel&) = delete;
};

/// A callable that counts its living objects and answers its number.
class Tracked {
public:
    static inline int living = 0;
    explicit Tracked(int number) : number_(number) { ++living; }
    Tracked(Tracked&& other) noexcept : number_(std::exchange(other.number_, -1)) { ++living; }
    Tracked& operator=(Tracked&&) = delete;
    ~Tracked() { --living; }
    int operator()(int added) const { return number_ + added; }

private:
    int number_;
};

/// Tells in which form it is called.
struct Forms {
    int operator()() { return 1; }
    int operator()() const { return 2; }
};

template <class Signature, class Callable>
inline constexpr bool accepts = std::is_constructible_v<FixedFunction<Signature>, Callable>;

static_assert(sizeof(FixedFunction<void()>) == 64 || sizeof(void*) != 8);
static_assert(sizeof(FixedFunction<void(), 16>) == 32 || sizeof(void*) != 8);
static_assert(std::is_nothrow_move_constructible_v<Unary> &&
              std::is_nothrow_move_assignable_v<Unary>);
static_assert(!std::is_copy_constructible_v<Unary> && !std::is_copy_assignable_v<Unary>);
static_assert(std::is_nothrow_swappable_v<Unary>);
static_assert(!std::is_convertible_v<Unary, bool>);

static_assert(accepts<int(int), int (*)(int)> && accepts<void(int), int (*)(int)>);
static_assert(accepts<long(short), int (*)(int)> && !accepts<int(int), int (*)(int*)>);
static_assert(!accepts<int(int), void (*)(int)> && !accepts<int(int), int>);
static_assert(accepts<int(Counter&, int), decltype(&Counter::add)>);
static_assert(!accepts<int(const Counter&, int), decltype(&Counter::add)>);
static_assert(accepts<int(int), Tracked> && !accepts<int(int), Tracked&>, "it cannot be copied");
static_assert(!accepts<const std::string&(), std::string (*)()>, "it would dangle");
static_assert(!accepts<const std::string&(), const char*& (*)()>, "it would dangle too");
static_assert(accepts<const std::string&(), std::string& (*)()>);
static_assert(accepts<const std::ios_base&(), std::ostream& (*)()>, "a base is no temporary");

static_assert(accepts<int(int) noexcept, decltype(&twiceQuietly)>);
static_assert(!accepts<int(int) noexcept, decltype(&twice)>);
static_assert(!accepts<int(int) const noexcept, decltype(&twice)>);
static_assert(noexcept(std::declval<FixedFunction<int(int) noexcept>&>()(1)));
static_assert(!noexcept(std::declval<Unary&>()(1)));

template <class Function>
inline constexpr bool callableAsConst = std::is_invocable_v<const Function&>;
static_assert(!callableAsConst<FixedFunction<int()>> &&
              callableAsConst<FixedFunction<int() const>>);

// A parameter may be incomplete until the call.
struct Later;
using TakesLater = FixedFunction<int(Later)>;
TakesLater readyFromTheStart;
struct Later {
    int number;
};

TEST(FixedFunctionTest, CallsWhatItHolds) {
    Unary function = [](int number) { return number + 1; };
    EXPECT_EQ(function(2), 3);
    function = [added = 10](int number) { return number + added; };
    EXPECT_EQ(function(2), 12);
    function = twice;
    EXPECT_EQ(function(4), 8);
    function = &twiceQuietly;
    EXPECT_EQ(function(5), 10);
    TakesLater later = [](Later argument) { return argument.number; };
    EXPECT_EQ(later(Later{6}), 6);
}

TEST(FixedFunctionTest, EmptyCallablesMakeItEmpty) {
    int (*noFunction)(int) = nullptr;
    EXPECT_FALSE(Unary(noFunction));
    EXPECT_FALSE(Unary(std::function<int(int)>()));
    Unary nothing;
    const FixedFunction<int(int), 64> wider(std::move(nothing));
    EXPECT_FALSE(wider);
    int (Counter::*noMember)(int) = nullptr;
    EXPECT_FALSE((FixedFunction<int(Counter&, int)>(noMember)));
    int Counter::*noData = nullptr;
    EXPECT_FALSE((FixedFunction<int(Counter&)>(noData)));
}

TEST(FixedFunctionTest, ReachesMembers) {
    Counter counter;
    FixedFunction<int(Counter&, int)> add = &Counter::add;
    EXPECT_EQ(add(counter, 5), 5);
    FixedFunction<int(Counter*, int)> addThrough = &Counter::add;
    EXPECT_EQ(addThrough(&counter, 2), 7);
    FixedFunction<int(const Counter&) noexcept> read = &Counter::read;
    EXPECT_EQ(read(counter), 7);
    FixedFunction<int&(Counter&)> total = &Counter::total;
    total(counter) = 1;
    EXPECT_EQ(counter.total, 1);
}

TEST(FixedFunctionTest, MovesByBytesOrByMoveConstructor) {
    struct Trivial {
        char text[48];
        int operator()(int index) const { return text[index]; }
    };
    Trivial trivial{};
    trivial.text[0] = 'a';
    trivial.text[47] = 'z';
    Unary bytes = trivial;
    Unary movedBytes = std::move(bytes);
    EXPECT_EQ(movedBytes(0), 'a');
    EXPECT_EQ(movedBytes(47), 'z');

    // Moving its bytes alone would leave the string pointing into the old object.
    FixedFunction<std::string()> text = [text = std::string("short")] { return text; };
    auto movedText = std::move(text);
    text = [] { return std::string("xxxxx"); };
    EXPECT_EQ(movedText(), "short");
}

TEST(FixedFunctionTest, SignatureChoosesHowTheTargetIsCalled) {
    FixedFunction<int()> changing = Forms();
    EXPECT_EQ(changing(), 1);
    const FixedFunction<int() const> reading = Forms();
    EXPECT_EQ(reading(), 2);
    FixedFunction<int()> counting = [calls = 0]() mutable { return ++calls; };
    EXPECT_EQ(counting(), 1);
    EXPECT_EQ(counting(), 2);
    const FixedFunction<int(int) const noexcept> quiet = twiceQuietly;
    EXPECT_EQ(quiet(4), 8);
}

TEST(FixedFunctionTest, ValuesAreNeverCopiedAndMovedOnce) {
    FixedFunction<void(Parcel)> check =
        [](Parcel parcel) {  // NOLINT(performance-unnecessary-value-param)
            EXPECT_EQ(parcel.copies, 0);
            EXPECT_EQ(parcel.moves, 1);
        };
    check(Parcel());
    FixedFunction<void(Parcel)> look = [](const Parcel& parcel) {
        EXPECT_EQ(parcel.copies, 1);
        EXPECT_EQ(parcel.moves, 0);
    };
    const Parcel kept;
    look(kept);
    FixedFunction<int(std::unique_ptr<int>)> own = [](std::unique_ptr<int> owned) {
        return *owned;
    };
    EXPECT_EQ(own(std::make_unique<int>(8)), 8);
}

TEST(FixedFunctionTest, HoldsItsTargetInsideItselfAligned) {
    struct alignas(std::max_align_t) Strict {
        const void* operator()() const { return this; }
    };
    struct Odd {
        char shift;
        FixedFunction<const void*()> function;
    };
    Odd odd{'x', Strict()};
    const auto target = reinterpret_cast<std::uintptr_t>(odd.function());
    const auto first = reinterpret_cast<std::uintptr_t>(&odd.function);
    EXPECT_GE(target, first);
    EXPECT_LE(target + sizeof(Strict), first + sizeof odd.function);
    EXPECT_EQ(target % alignof(std::max_align_t), 0U);
}

/// At its end it leaves a successor in the function that held it.
struct Heir {
    FixedFunction<int()>* held;
    std::shared_ptr<int> successor;

    Heir(FixedFunction<int()>& function, std::shared_ptr<int> number)
        : held(&function), successor(std::move(number)) {}
    Heir(Heir&& other) noexcept
        : held(std::exchange(other.held, nullptr)), successor(std::move(other.successor)) {}
    Heir& operator=(Heir&&) = delete;
    ~Heir() {
        if (held != nullptr) {
            *held = [number = std::move(successor)] { return *number; };
        }
    }
    int operator()() const { return 0; }
};

// The function that the dying target assigns is neither overwritten nor leaked. The assignment
// comes last, and wins.
TEST(FixedFunctionTest, AssignmentOfADyingTargetComesLast) {
    const auto number = std::make_shared<int>(7);
    {
        FixedFunction<int()> function;
        function = Heir(function, number);
        function = [] { return 1; };
        EXPECT_EQ(function(), 7);
        EXPECT_EQ(number.use_count(), 2);

        function = Heir(function, number);
        function.reset();
        EXPECT_EQ(function(), 7);
        EXPECT_EQ(number.use_count(), 2);
    }
    EXPECT_EQ(number.use_count(), 1);
}

// The move of the old target is a copy, so that the old target ends in the assignment.
TEST(FixedFunctionTest, TheOldTargetOfAnAssignmentMayResetTheOtherFunction) {
    struct Resetter {
        explicit Resetter(FixedFunction<int()>& function) : other(&function) {}
        Resetter(const Resetter&) noexcept = default;
        Resetter& operator=(const Resetter&) = delete;
        ~Resetter() { other->reset(); }
        int operator()() const { return 1; }
        FixedFunction<int()>* other;
    };
    FixedFunction<int()> other;
    FixedFunction<int()> function = Resetter(other);
    other = [] { return 7; };
    function = std::move(other);
    ASSERT_TRUE(function);
    EXPECT_EQ(function(), 7);
}

TEST(FixedFunctionTest, MayReplaceItselfFromInside) {
    FixedFunction<int()> function;
    function = [&function] {
        FixedFunction<int()>& own = function;
        own = [] { return 2; };
        return 1;
    };
    EXPECT_EQ(function(), 1);
    EXPECT_EQ(function(), 2);
}

#if defined(__cpp_exceptions)

TEST(FixedFunctionTest, ThrowingCopyOfATargetLeavesTheOldOne) {
    struct ThrowsOnCopy {
        ThrowsOnCopy() = default;
        ThrowsOnCopy(const ThrowsOnCopy&) { throw std::runtime_error("no"); }
        ThrowsOnCopy(ThrowsOnCopy&&) noexcept = default;
        int operator()(int number) const { return number; }
    };
    const ThrowsOnCopy target;
    Unary function = twice;
    EXPECT_THROW(function = target, std::runtime_error);
    EXPECT_EQ(function(2), 4);
}
#endif

TEST(FixedFunctionDeathTest, EmptyCallEndsInEveryBuild) {
    Unary function;
    EXPECT_DEATH(function(1), "sluice: the FixedFunction is empty; assign a callable");
    function = twice;
    Unary other = std::move(function);
    EXPECT_DEATH(function(1), "the FixedFunction is empty");
    other.reset();
    EXPECT_DEATH(other(1), "the FixedFunction is empty");
    const FixedFunction<void() const noexcept> quiet;
    EXPECT_DEATH(quiet(), "the FixedFunction is empty");
}

}  // namespace
}  // namespace sluice
