#include "unit/bus/bus_doubles.hpp"

#include <sluice/bus/component.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace test;
using SmallBus = TestBus<10>;
using Log = std::vector<std::string>;

/// Handles two types with member functions, and writes down the messages.
class Recorder final {
public:
    Recorder(SmallBus& bus, Log& log) : log_(log) {
        component_.subscribe<Sample>(bus, &Recorder::onSample);
        component_.subscribe<Alarm>(bus, &Recorder::onAlarm);
    }
    [[nodiscard]] std::size_t count() const { return component_.count(); }
    void retire() { component_.unsubscribeAll(); }

private:
    void onSample(const Sample& sample) { log_.push_back(std::to_string(sample.value)); }
    void onAlarm(const Alarm& alarm, const SmallBus::Header& header) noexcept {
        log_.push_back(alarm.text + " from " + std::to_string(header.sender));
    }

    Log& log_;
    Component<Recorder, 2> component_{*this};
};

static_assert(!std::is_copy_constructible_v<Component<Recorder, 2>>);

TEST(BusComponentTest, MemberFunctionsHandleMessagesUntilTheOwnerIsGone) {
    SmallBus bus;
    Log log;
    {
        const Recorder recorder(bus, log);
        EXPECT_EQ(recorder.count(), 2U);
        PublishOptions options;
        options.sender = 7;
        ASSERT_EQ(bus.publish(Sample{1}), SendResult::ok);
        ASSERT_EQ(bus.publish(Alarm{"fire"}, options), SendResult::ok);
        bus.process();
    }
    EXPECT_EQ(log, (Log{"1", "fire from 7"}));
    EXPECT_EQ(bus.subscriptionCount<Sample>() + bus.subscriptionCount<Alarm>(), 0U);
    ASSERT_EQ(bus.publish(Sample{2}), SendResult::ok);
    EXPECT_EQ(bus.process(), 1U);
    EXPECT_EQ(log.size(), 2U);
}

struct FewHandlers : DeepTraits<10> {
    static constexpr std::size_t maxHandlers = 3;
};
using TightBus = Bus<TestMessages, FewHandlers>;

/// Subscribes the same handler again and again.
struct Glutton final {
    explicit Glutton(TightBus& b) : bus(b) {}
    bool tryAnother() {
        return component.trySubscribe<Sample>(bus, [this](const Sample&) { ++calls; });
    }
    void another() {
        component.subscribe<Sample>(bus, [this](const Sample&) { ++calls; });
    }

    TightBus& bus;
    int calls = 0;
    Component<Glutton, 2> component{*this};
};

TEST(BusComponentTest, SubscriptionThatDoesNotFitIsRefusedAndLeavesNothing) {
    TightBus bus;
    Glutton first(bus);
    Glutton second(bus);
    EXPECT_TRUE(first.tryAnother());
    EXPECT_TRUE(first.tryAnother());
    EXPECT_FALSE(first.tryAnother()) << "the component is full";
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 2U);
    EXPECT_TRUE(second.tryAnother());
    EXPECT_FALSE(second.tryAnother()) << "the table of the bus is full";
    EXPECT_EQ(second.component.count(), 1U);
    auto captured = std::make_shared<int>(0);
    auto handler = [captured](const Sample&) {};
    auto withHeader = [captured](const Sample&, const TightBus::Header&) {};
    for (Glutton* each : {&first, &second}) {
        EXPECT_FALSE(each->component.trySubscribe<Sample>(bus, std::move(handler)));
        EXPECT_FALSE(each->component.trySubscribe<Sample>(bus, std::move(withHeader)));
        EXPECT_EQ(captured.use_count(), 3) << "the handlers are still the caller's";
    }
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    bus.process();
    EXPECT_EQ(first.calls, 2);
    EXPECT_EQ(second.calls, 1);
}

#if defined(__cpp_exceptions)
std::string refusalOf(Glutton& glutton) {
    try {
        glutton.another();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

TEST(BusComponentTest, SubscribeTellsWhichLimitWasReached) {
    TightBus bus;
    Glutton first(bus);
    Glutton second(bus);
    EXPECT_EQ(refusalOf(first), "accepted");
    EXPECT_EQ(refusalOf(first), "accepted");
    EXPECT_EQ(refusalOf(first), "subscriptions of a Component: 3, limit 2");
    EXPECT_EQ(refusalOf(second), "accepted");
    EXPECT_EQ(refusalOf(second), "handlers of one type of message on a bus: 4, limit 3");
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 3U);
}
#endif

/// Its owner puts the Component where it would end too late.
struct Misplaced final {
    Component<Misplaced, 1> component{*this};
    char tooLate = 0;
};

struct Stranger final {
    int number = 0;
};

TEST(BusComponentDeathTest, ComponentThatIsNotTheLastMemberIsCaught) {
    EXPECT_DEATH((void)Misplaced{}, "make the Component the last member of its owner");
    Stranger stranger;
    EXPECT_DEATH((Component<Stranger, 1>{stranger}), "the last member of its owner");
}

/// Dies in its own handler, with the data that the handler uses.
class Suicidal final {
public:
    Suicidal(SmallBus& bus, std::unique_ptr<Suicidal>& self, Log& log)
        : self_(self), log_(log), name_(std::make_unique<std::string>("a name of some length")) {
        component_.subscribe<Sample>(bus, &Suicidal::before);
        component_.subscribe<Sample>(bus, &Suicidal::die);
        component_.subscribe<Sample>(bus, &Suicidal::after);
    }

private:
    void before(const Sample&) { log_.push_back(*name_); }
    void die(const Sample&) {
        Log& log = log_;
        self_.reset();
        log.emplace_back("dead");
    }
    void after(const Sample&) { log_.push_back(*name_); }

    std::unique_ptr<Suicidal>& self_;
    Log& log_;
    std::unique_ptr<std::string> name_;
    Component<Suicidal, 3> component_{*this};
};

TEST(BusComponentTest, OwnerMayDieInItsOwnHandler) {
    SmallBus bus;
    Log log;
    std::unique_ptr<Suicidal> owner;
    owner = std::make_unique<Suicidal>(bus, owner, log);
    const Recorder other(bus, log);
    ASSERT_EQ(bus.publish(Sample{1}), SendResult::ok);
    ASSERT_EQ(bus.publish(Sample{2}), SendResult::ok);
    EXPECT_EQ(bus.process(), 2U);
    EXPECT_EQ(log, (Log{"a name of some length", "dead", "1", "2"}));
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 1U);
    owner = std::make_unique<Suicidal>(bus, owner, log);
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 4U) << "the places are free again";
}

/// Subscribes anew in its own handler.
struct Renewing final {
    explicit Renewing(SmallBus& b) : bus(b) { renew(); }
    void renew() {
        component.unsubscribeAll();
        isRenewed = component.trySubscribe<Sample>(bus, &Renewing::onSample);
    }
    void onSample(const Sample&) {
        ++calls;
        renew();
    }

    SmallBus& bus;
    int calls = 0;
    bool isRenewed = false;
    Component<Renewing, 2> component{*this};
};

TEST(BusComponentTest, SubscriptionThatHasEndedItselfMakesRoomWhenItsHandlerReturns) {
    SmallBus bus;
    Renewing owner(bus);
    for (int i = 1; i <= 5; ++i) {
        ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
        bus.process();
        EXPECT_EQ(owner.calls, i);
        EXPECT_TRUE(owner.isRenewed);
        EXPECT_EQ(owner.component.count(), 1U);
    }
    EXPECT_EQ(bus.subscriptionCount<Sample>(), 1U);
}

}  // namespace
}  // namespace sluice
