#include "bus_rows.hpp"
#include "rows.hpp"

#include <sluice/bus/bus.hpp>

#include <cstdint>

namespace sluice::count {

namespace {

/// A second type of message, so that a bus has to tell them apart.
struct Other {
    std::uint64_t word = 0;
};

struct NoTimeTraits : FullBusTraits {
    static constexpr TimeStamp timeStamp = TimeStamp::none;
};

template <class Traits>
class OurBus {
    using Bus = sluice::Bus<Messages<Message, Other>, Traits>;

public:
    bool publish(const Message& message) { return bus_.publish(message) == SendResult::ok; }
    void fill() {
        while (bus_.publish(Other()) == SendResult::ok) {
        }
    }
    std::size_t processWithVisitor() {
        return bus_.processWith(overload([](const Message& message) { use(message.first()); },
                                         [](const Other& other) { use(other.word); }));
    }
    void subscribe() {
        subscription_ =
            bus_.template subscribe<Message>([](const Message& message) { use(message.first()); });
    }
    std::size_t process() { return bus_.process(); }

private:
    Bus bus_;
    Subscription subscription_;
};

}  // namespace

void addBuses(Rows& rows) {
    addBus<OurBus<FullBusTraits>>(rows, "full", ours);
    addBus<OurBus<NoTimeTraits>>(rows, "no-time", ours);
    addBus<OurBus<NoStatsBusTraits>>(rows, "no-stats", ours);
    addBus<OurBus<BareBusTraits>>(rows, "bare", ours);
}

}  // namespace sluice::count
