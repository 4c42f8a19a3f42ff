#include <sluice/eventpp/event_maker.hpp>

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace sluice {
namespace {

enum class Kind { none, draw, move, resize };

class Event {
public:
    explicit Event(Kind kind) : kind_(kind) {}
    Event(Kind kind, int weight) : kind_(kind), weight_(weight) {}
    [[nodiscard]] Kind kind() const { return kind_; }
    [[nodiscard]] int weight() const { return weight_; }

private:
    Kind kind_;
    int weight_ = 0;
};

template <class A, class B>
class Pair {
public:
    Pair(A first, B second) : first_(std::move(first)), second_(std::move(second)) {}
    [[nodiscard]] const A& first() const { return first_; }
    [[nodiscard]] const B& second() const { return second_; }

private:
    A first_;
    B second_;
};

EVENTPP_MAKE_EMPTY_EVENT(DrawEvent, Event, Kind::draw);
EVENTPP_MAKE_EVENT(MoveEvent, Event, Kind::move, (int, getX, setX), (int, getY),
                   (std::string, name, setName));
EVENTPP_MAKE_EVENT(ResizeEvent, Event, (Kind::resize, 5), (int, width));
EVENTPP_MAKE_EMPTY_EVENT(PairEvent, (Pair<int, std::string>), (3, "three"));
EVENTPP_MAKE_EVENT(MapEvent, Event, Kind::none, ((std::map<int, int>), getMap, setMap));
template <class T>
EVENTPP_MAKE_EVENT(ValueEvent, Event, Kind::none, (T, get, set), (T*, where));
template <class T>
EVENTPP_MAKE_EVENT(DerivedPairEvent, (Pair<T, int>), (T(), 2), (T, get));
EVENTPP_MAKE_EVENT(OwningEvent, Event, Kind::none, (std::unique_ptr<int>, owned));
EVENTPP_MAKE_EVENT(FullEvent, Event, Kind::none, (int, f1, s1), (int, f2, s2), (int, f3, s3),
                   (int, f4, s4), (int, f5, s5), (int, f6, s6), (int, f7, s7), (int, f8, s8),
                   (int, f9, s9), (int, f10, s10), (int, f11, s11), (int, f12, s12),
                   (int, f13, s13), (int, f14, s14), (int, f15, s15));

TEST(EventMakerTest, AnEmptyEventPassesItsArgumentToTheBase) {
    EXPECT_EQ(DrawEvent().kind(), Kind::draw);
    static_assert(std::is_base_of_v<Event, DrawEvent>);
}

TEST(EventMakerTest, TheDefaultConstructorGivesEveryFieldItsZero) {
    const MoveEvent event;
    EXPECT_EQ(event.kind(), Kind::move);
    EXPECT_EQ(event.getX(), 0);
    EXPECT_EQ(event.getY(), 0);
    EXPECT_EQ(event.name(), "");
}

TEST(EventMakerTest, TheConstructorTakesAllFieldsInOrder) {
    const MoveEvent event(1, 2, "three");
    EXPECT_EQ(event.kind(), Kind::move);
    EXPECT_EQ(event.getX(), 1);
    EXPECT_EQ(event.getY(), 2);
    EXPECT_EQ(event.name(), "three");
    static_assert(!std::is_constructible_v<MoveEvent, int>);
    static_assert(!std::is_constructible_v<MoveEvent, int, int>);
}

TEST(EventMakerTest, GettersReferToTheFieldAndSettersChangeIt) {
    MoveEvent event(1, 2, "three");
    static_assert(std::is_same_v<decltype(event.getX()), const int&>);
    event.setX(10);
    event.setName("ten");
    EXPECT_EQ(event.getX(), 10);
    EXPECT_EQ(event.getY(), 2);
    EXPECT_EQ(event.name(), "ten");
    EXPECT_EQ(&event.getX(), &event.getX());
}

TEST(EventMakerTest, ParenthesesHoldSeveralArgumentsForTheBase) {
    const ResizeEvent event(7);
    EXPECT_EQ(event.kind(), Kind::resize);
    EXPECT_EQ(event.weight(), 5);
    EXPECT_EQ(ResizeEvent().weight(), 5);
}

TEST(EventMakerTest, ParenthesesHoldATemplateAsTheBase) {
    const PairEvent event;
    EXPECT_EQ(event.first(), 3);
    EXPECT_EQ(event.second(), "three");
}

TEST(EventMakerTest, ParenthesesHoldATypeWithCommas) {
    MapEvent event(std::map<int, int>{{1, 2}});
    EXPECT_EQ(event.getMap().at(1), 2);
    event.setMap({});
    EXPECT_TRUE(event.getMap().empty());
}

TEST(EventMakerTest, EventsMayBeTemplates) {
    int place = 0;
    ValueEvent<int> event(5, &place);
    event.set(6);
    EXPECT_EQ(event.get(), 6);
    EXPECT_EQ(event.where(), &place);
    const DerivedPairEvent<std::string> derived("text");
    EXPECT_EQ(derived.second(), 2);
    EXPECT_EQ(derived.get(), "text");
}

TEST(EventMakerTest, FieldsAreMovedIn) {
    const OwningEvent event(std::make_unique<int>(4));
    EXPECT_EQ(*event.owned(), 4);
}

TEST(EventMakerTest, FifteenFieldsHaveGettersAndSettersOfTheirOwn) {
    FullEvent event(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    EXPECT_EQ(event.f1(), 1);
    EXPECT_EQ(event.f2(), 2);
    EXPECT_EQ(event.f7(), 7);
    EXPECT_EQ(event.f14(), 14);
    EXPECT_EQ(event.f15(), 15);
    event.s1(101);
    event.s8(108);
    event.s15(115);
    EXPECT_EQ(event.f1() + event.f8() + event.f15(), 101 + 108 + 115);
    EXPECT_EQ(event.f9(), 9);
}

}  // namespace
}  // namespace sluice
