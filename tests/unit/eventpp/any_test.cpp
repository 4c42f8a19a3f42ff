#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_queue.hpp>
#include <sluice/eventpp/any_data.hpp>
#include <sluice/eventpp/any_id.hpp>

#include <support/payloads.hpp>

#include "support/testing.hpp"
#include <any>

namespace sluice {
namespace {

using test::Census;
using test::Counted;

using Small = AnyData<32>;

template <class Data>
bool holdsInside(const Data& data) {
    const auto object = reinterpret_cast<std::uintptr_t>(data.getAddress());
    const auto home = reinterpret_cast<std::uintptr_t>(&data);
    return object >= home && object < home + sizeof(Data);
}

template <std::size_t Bytes>
struct Block {
    std::array<unsigned char, Bytes> bytes{};
};

struct Event {
    int kind = 0;
};
struct KeyEvent : Event {
    KeyEvent(int theKind, int theKey) : Event{theKind}, key(theKey) {}
    int key;
};
struct LargeEvent : Event {
    LargeEvent() : Event{7} {}
    std::array<int, 100> content{};
};

// Two types that behave alike to the last instruction.
struct Metres {
    int value;
};
struct Seconds {
    int value;
};

struct MayThrowWhenMoved {
    MayThrowWhenMoved() = default;
    MayThrowWhenMoved(MayThrowWhenMoved&&) noexcept(false) {}
};

TEST(AnyDataTest, AnObjectLiesInsideIfItFitsAndItsMoveCannotThrow) {
    EXPECT_TRUE(holdsInside(AnyData<32>(Block<32>())));
    EXPECT_FALSE(holdsInside(AnyData<32>(Block<33>())));
    EXPECT_TRUE(holdsInside(AnyData<100>(Block<100>())));
    EXPECT_FALSE(holdsInside(AnyData<100>(Block<101>())));
    EXPECT_TRUE(holdsInside(AnyData<1>(Block<2 * sizeof(void*)>()))) << "two pointers always fit";
    EXPECT_FALSE(holdsInside(AnyData<1>(Block<2 * sizeof(void*) + 1>())));
    EXPECT_FALSE(holdsInside(AnyData<32>(MayThrowWhenMoved())));
}

TEST(AnyDataTest, ObjectsAreAligned) {
    const AnyData<64> strict = test::OverAligned<alignof(std::max_align_t)>(1);
    EXPECT_TRUE(holdsInside(strict));
    EXPECT_TRUE(strict.get<test::OverAligned<alignof(std::max_align_t)>>().isAligned());
    for (int i = 0; i < 8; ++i) {
        const AnyData<64> over = test::OverAligned<64>(i);
        EXPECT_TRUE(over.get<test::OverAligned<64>>().isAligned());
        EXPECT_EQ(over.get<test::OverAligned<64>>().value, i);
        const AnyData<64> page = test::OverAligned<4096>(i);
        EXPECT_TRUE(page.get<test::OverAligned<4096>>().isAligned());
    }
}

TEST(AnyDataTest, GivesTheObjectBackWhereverItLies) {
    const Small inside = std::string("a");
    EXPECT_EQ(inside.get<std::string>(), "a");
    const Small outside = LargeEvent();
    EXPECT_EQ(outside.get<LargeEvent>().kind, 7);
    EXPECT_EQ(outside.getAddress(), &outside.get<LargeEvent>());
    EXPECT_EQ(outside.get<Event>().kind, 7) << "the first base class";
    const std::string text = "kept";
    const Small copied = text;
    EXPECT_EQ(text, "kept");
    EXPECT_EQ(copied.get<std::string>(), "kept");
    EXPECT_TRUE(copied.isType<std::string>());
}

TEST(AnyDataTest, KnowsTheExactType) {
    const Small key = KeyEvent(3, 4);
    EXPECT_TRUE(key.isType<KeyEvent>());
    EXPECT_TRUE(key.isType<const KeyEvent&>());
    EXPECT_FALSE(key.isType<Event>());
    const Small large = LargeEvent();
    EXPECT_TRUE(large.isType<LargeEvent>());
    EXPECT_FALSE(large.isType<Event>());
    EXPECT_FALSE(large.isType<KeyEvent>());
}

TEST(AnyDataTest, TellsTypesApartThatBehaveAlike) {
    const Small metres = Metres{1};
    EXPECT_TRUE(metres.isType<Metres>());
    EXPECT_FALSE(metres.isType<Seconds>());
    // The object that tells types apart must be writable. Otherwise linkers may fold it.
    static_assert(!std::is_const_v<decltype(detail::anyOperations<Metres, false>)>);
    static_assert(!std::is_const_v<decltype(detail::anyOperations<Metres, true>)>);
}

int keyOf(const KeyEvent& event) {
    return event.key;
}
int keyAt(const KeyEvent* event) {
    return event->key;
}
int kindOf(Event event) {
    return event.kind;
}
void press(KeyEvent& event) {
    ++event.key;
}

TEST(AnyDataTest, ConvertsToWhatAListenerTakes) {
    const Small data = KeyEvent(3, 4);
    EXPECT_EQ(keyOf(data), 4);
    EXPECT_EQ(keyAt(data), 4);
    EXPECT_EQ(kindOf(data), 3);
    press(data);
    EXPECT_EQ(keyOf(data), 5);
    const Small large = LargeEvent();
    EXPECT_EQ(static_cast<const LargeEvent*>(large), &large.get<LargeEvent>());
    EXPECT_EQ(static_cast<const void*>(large), large.getAddress());
}

TEST(AnyDataTest, MovesWithItsObject) {
    Small source = std::make_unique<int>(5);
    const Small target = std::move(source);
    EXPECT_EQ(*target.get<std::unique_ptr<int>>(), 5);
    EXPECT_EQ(source.get<std::unique_ptr<int>>(), nullptr) << "the source keeps the moved-from one";

    Small large = LargeEvent();
    const void* const address = large.getAddress();
    const Small taken = std::move(large);
    EXPECT_EQ(taken.getAddress(), address) << "nothing on the heap is built anew";
    EXPECT_EQ(large.getAddress(), nullptr);
    EXPECT_FALSE(large.isType<LargeEvent>());
    const Small again = std::move(large);
    EXPECT_EQ(again.getAddress(), nullptr);
}

struct LargeCounted : Counted {
    using Counted::Counted;
    std::array<int, 50> content{};
};

TEST(AnyDataTest, BuildsAndDestroysTheObjectExactlyOnce) {
    Census census;
    {
        const Small data = Counted(census, 1);
        EXPECT_EQ(census.alive(), 1U);
        EXPECT_EQ(census.births(), 2U);
        EXPECT_EQ(data.get<Counted>().value(), 1);
    }
    EXPECT_EQ(census.alive(), 0U);
    {
        Small data = LargeCounted(census, 2);
        const Small moved = std::move(data);
        EXPECT_EQ(census.alive(), 1U);
        EXPECT_EQ(moved.get<LargeCounted>().value(), 2);
    }
    EXPECT_EQ(census.alive(), 0U);
}

TEST(AnyDataTest, IsMovedButNeverCopied) {
    static_assert(std::is_nothrow_move_constructible_v<Small>);
    static_assert(std::is_nothrow_move_assignable_v<Small>);
    static_assert(!std::is_copy_constructible_v<Small>);
    static_assert(!std::is_constructible_v<Small, Small&>);
    static_assert(!std::is_copy_assignable_v<Small>);
    static_assert(std::is_convertible_v<KeyEvent, Small>);
}

TEST(AnyDataTest, AnAssignmentEndsTheObjectThatWasThere) {
    Census census;
    {
        Small data = Counted(census, 1);
        data = Small(LargeCounted(census, 2));
        EXPECT_EQ(census.alive(), 1U);
        EXPECT_EQ(data.get<LargeCounted>().value(), 2);
        data = Small(Counted(census, 3));
        EXPECT_EQ(census.alive(), 1U);
        EXPECT_EQ(data.get<Counted>().value(), 3);
        auto& self = data;
        data = std::move(self);
        EXPECT_EQ(data.get<Counted>().value(), 3);
        Small empty = LargeCounted(census, 4);
        const Small taken = std::move(empty);
        data = std::move(empty);
        EXPECT_EQ(data.getAddress(), nullptr);
        EXPECT_EQ(census.alive(), 1U);
    }
    EXPECT_EQ(census.alive(), 0U);
}

template <std::size_t Bytes>
struct Link : Block<Bytes> {
    explicit Link(Small&& data) noexcept : next(std::make_unique<Small>(std::move(data))) {}
    std::unique_ptr<Small> next;
};

TEST(AnyDataTest, MayBeAssignedFromTheObjectThatItDestroys) {
    Census census;
    {
        Small large = Link<50>(Counted(census, 1));
        EXPECT_FALSE(holdsInside(large));
        large = std::move(*large.get<Link<50>>().next);
        ASSERT_TRUE(large.isType<Counted>());
        EXPECT_EQ(large.get<Counted>().value(), 1);
        Small small = Link<1>(LargeCounted(census, 2));
        EXPECT_TRUE(holdsInside(small));
        small = std::move(*small.get<Link<1>>().next);
        ASSERT_TRUE(small.isType<LargeCounted>());
        EXPECT_EQ(small.get<LargeCounted>().value(), 2);
        EXPECT_EQ(census.alive(), 2U);
    }
    EXPECT_EQ(census.alive(), 0U);
}

TEST(AnyDataTest, CarriesAnyEventToListenersThatTakeTheirOwn) {
    enum class Kind { key, large };
    using Data = AnyData<maxSizeOf<Event, KeyEvent>()>;
    EventQueue<Kind, void(const Data&)> queue;
    std::vector<int> seen;
    queue.appendListener(Kind::key, [&seen](const KeyEvent& event) { seen.push_back(event.key); });
    queue.appendListener(Kind::key, [&seen](const Event& event) { seen.push_back(event.kind); });
    queue.appendListener(Kind::key, [&seen](const KeyEvent* event) { seen.push_back(event->key); });
    queue.appendListener(Kind::large, [&seen](const Data& data) {
        seen.push_back(data.isType<LargeEvent>() ? data.get<LargeEvent>().kind : -1);
    });
    queue.enqueue(Kind::key, KeyEvent(3, 4));
    queue.enqueue(Kind::large, LargeEvent());
    EXPECT_TRUE(queue.process());
    queue.dispatch(Kind::key, KeyEvent(5, 6));
    EXPECT_EQ(seen, (std::vector<int>{4, 3, 4, 7, 6, 5, 6}));
}

// A move of a Tree is a copy with a child of its own. So the old object ends in the assignment.
TEST(AnyDataTest, AnAssignmentMayEndTheOtherData) {
    struct Tree {
        explicit Tree(int n) : number(n) {}
        Tree(const Tree& other) noexcept : number(other.number), child(copyOf(other.child)) {}
        static std::shared_ptr<AnyData<32>> copyOf(const std::shared_ptr<AnyData<32>>& child) {
            return child == nullptr ? nullptr
                                    : std::make_shared<AnyData<32>>(Tree(child->get<Tree>()));
        }
        int number;
        std::shared_ptr<AnyData<32>> child;
    };
    Tree root(1);
    root.child = std::make_shared<AnyData<32>>(Tree(2));
    AnyData<32> data{root};
    data = std::move(*data.get<Tree>().child);
    EXPECT_EQ(data.get<Tree>().number, 2);
}

TEST(AnyDataTest, AnAssignmentMayEndTheObjectThatHasTheData) {
    struct Holder;
    struct Owner {
        std::shared_ptr<Holder> holder;
    };
    struct Holder {
        AnyData<32> data{0};
    };
    auto holder = std::make_shared<Holder>();
    const std::weak_ptr<Holder> watch = holder;
    holder->data = AnyData<32>(Owner{holder});
    Holder& last = *holder;
    holder.reset();  // the data owns its holder now
    last.data = AnyData<32>(1);
    EXPECT_TRUE(watch.expired());
}

#if defined(__cpp_exceptions)
TEST(AnyDataTest, AThrowingConstructorLeavesNothingBehind) {
    struct LargeFragile : test::Fragile {
        using Fragile::Fragile;
        std::array<int, 50> content{};
    };
    Census census;
    const test::Fragile inside(census, 1, test::Fault::inCopy);
    EXPECT_THROW(const Small data = inside, test::Breakage);
    const LargeFragile outside(census, 2, test::Fault::inCopy);
    EXPECT_THROW(const Small data = outside, test::Breakage);
    EXPECT_EQ(census.alive(), 2U);
}
#endif

#if !defined(NDEBUG)
TEST(AnyDataDeathTest, RefusesAccessThatCannotBeRight) {
    const Small small = Event{1};
    EXPECT_DEATH((void)small.get<LargeEvent>(), "smaller than the type asked for");
    Small large = LargeEvent();
    const Small taken = std::move(large);
    EXPECT_DEATH((void)large.get<LargeEvent>(), "moved from and holds nothing");
}
#endif

// ---- AnyId

/// Digests of a type that is no number.
template <class T>
struct TextDigester {
    std::string operator()(const T& value) const { return std::to_string(value); }
};

/// All values collide.
template <class T>
struct ConstantDigester {
    int operator()(const T&) const { return 8; }
};

/// A storage that compares, and orders backwards to be told from the digest.
struct LengthStorage {
    LengthStorage() = default;
    LengthStorage(const std::string& text) : length(text.size()) {}

    friend bool operator==(const LengthStorage& a, const LengthStorage& b) {
        return a.length == b.length;
    }
    friend bool operator<(const LengthStorage& a, const LengthStorage& b) {
        return a.length > b.length;
    }

    std::size_t length = 0;
};

TEST(AnyIdTest, KeepsTheValueInItsStorage) {
    const AnyId<std::hash, LengthStorage> id(std::string("four"));
    EXPECT_EQ(id.getValue().length, 4U);
    const AnyId<std::hash, std::any> any(7);
    EXPECT_TRUE(any.getValue().has_value());
    EXPECT_FALSE((AnyId<std::hash, std::any>().getValue().has_value()));
}

TEST(AnyIdTest, EqualDigestsAreOneEventWithTheDefaultStorage) {
    EXPECT_EQ(AnyHashableId(3), AnyHashableId(3));
    EXPECT_EQ(AnyHashableId(3), AnyHashableId(3L)) << "one digest, whatever the type";
    EXPECT_NE(AnyHashableId(3), AnyHashableId(4));
    using Colliding = AnyId<ConstantDigester>;
    EXPECT_EQ(Colliding(3), Colliding(4));
    EXPECT_FALSE(Colliding(3) < Colliding(4));
    EXPECT_FALSE(Colliding(4) < Colliding(3));
}

TEST(AnyIdTest, AStorageThatComparesDecidesBetweenEqualDigests) {
    using Id = AnyId<ConstantDigester, LengthStorage>;
    const Id one(std::string("a"));
    const Id three(std::string("aaa"));
    EXPECT_EQ(one, Id(std::string("b")));
    EXPECT_NE(one, three);
    EXPECT_TRUE(three < one);
    EXPECT_FALSE(one < three);
}

TEST(AnyIdTest, TheDigestDecidesBeforeTheStorage) {
    using Id = AnyId<TextDigester, std::any>;
    EXPECT_TRUE(Id(1) < Id(2));
    EXPECT_FALSE(Id(2) < Id(1));
    EXPECT_NE(Id(1), Id(2));
    using Measured = AnyId<std::hash, LengthStorage>;
    const Measured shorter(std::string("a"));
    const Measured longer(std::string("aaa"));
    EXPECT_EQ(shorter < longer, shorter.getDigest() < longer.getDigest());
    EXPECT_EQ(longer < shorter, longer.getDigest() < shorter.getDigest());
    EXPECT_EQ(Id(1), Id(1)) << "std::any has no ==: it counts as equal";
}

TEST(AnyIdTest, HashesToItsDigest) {
    EXPECT_EQ(std::hash<AnyHashableId>()(AnyHashableId(38)), std::hash<int>()(38));
    using Text = AnyId<TextDigester>;
    EXPECT_EQ(std::hash<Text>()(Text(5)), std::hash<std::string>()("5"));
}

TEST(AnyIdTest, MixesTypesAsEventsOfOneQueue) {
    EventQueue<AnyHashableId, void(int)> queue;
    std::vector<int> seen;
    queue.appendListener(3, [&seen](int n) { seen.push_back(n); });
    queue.appendListener(std::string("hello"), [&seen](int n) { seen.push_back(10 * n); });
    queue.dispatch(3, 1);
    queue.enqueue(std::string("hello"), 2);
    queue.enqueue(std::string("bye"), 3);
    queue.process();
    EXPECT_EQ(seen, (std::vector<int>{1, 20}));
}

TEST(AnyIdTest, AVariantAsTheStorageTellsCollidingValuesApart) {
    using Id = AnyId<ConstantDigester, std::variant<int, std::string>>;
    EventDispatcher<Id, void()> dispatcher;
    int calls = 0;
    dispatcher.appendListener(3, [&calls] { ++calls; });
    dispatcher.appendListener(std::string("open"), [&calls] { calls += 10; });
    dispatcher.dispatch(std::string("shut"));
    EXPECT_EQ(calls, 0);
    dispatcher.dispatch(std::string("open"));
    dispatcher.dispatch(3);
    EXPECT_EQ(calls, 11);
}

}  // namespace
}  // namespace sluice
