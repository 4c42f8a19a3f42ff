/// \file
/// MCCC's AsyncBus. Each list of messages has one bus for the whole program.

#include "bus_rows.hpp"
#include "rows.hpp"

#if defined(SLUICE_PEER_MCCC)
#include <mccc/mccc.hpp>

#include <variant>
#endif

namespace sluice::count {

#if defined(SLUICE_PEER_MCCC)
namespace {

/// The same enumeration for each list of messages.
using Performance = mccc::AsyncBus<std::variant<Message>>::PerformanceMode;

/// A second type of message; and, since a list of messages has one bus, the mark of a mode.
template <Performance>
struct Other {
    std::uint64_t word = 0;
};

/// Publishes with a time stamp that was read for an earlier message: the counterpart of
/// TimeStamp::cached.
template <Performance Mode>
class TheirBus {
    using Bus = mccc::AsyncBus<std::variant<Message, Other<Mode>>>;

public:
    TheirBus() { bus_.SetPerformanceMode(static_cast<typename Bus::PerformanceMode>(Mode)); }
    TheirBus(const TheirBus&) = delete;
    TheirBus& operator=(const TheirBus&) = delete;
    ~TheirBus() {
        static_cast<void>(processWithVisitor());  // the bus outlives this adapter
        static_cast<void>(bus_.Unsubscribe(subscription_));
    }

    bool publish(const Message& message) { return bus_.PublishFast(message, 1, 1); }
    void fill() {
        while (bus_.PublishFast(Other<Mode>(), 1, 1)) {
        }
    }
    std::size_t processWithVisitor() {
        std::size_t all = 0;
        for (std::size_t count = 1; count != 0; all += count) {
            count = bus_.ProcessBatchWith(Visitor());
        }
        return all;
    }
    void subscribe() {
        subscription_ = bus_.template Subscribe<Message>(
            [](const auto& envelope) { use(std::get_if<Message>(&envelope.payload)->first()); });
    }
    std::size_t process() {
        std::size_t all = 0;
        for (std::size_t count = 1; count != 0; all += count) {
            count = bus_.ProcessBatch();
        }
        return all;
    }

private:
    struct Visitor {
        void operator()(const Message& message) const { use(message.first()); }
        void operator()(const Other<Mode>& other) const { use(other.word); }
    };

    Bus& bus_ = Bus::Instance();
    mccc::SubscriptionHandle subscription_{};
};

}  // namespace
#endif

void addMccc([[maybe_unused]] Rows& rows) {
#if defined(SLUICE_PEER_MCCC)
    const std::string subject = "mccc";
    addBus<TheirBus<Performance::FULL_FEATURED>>(rows, "full", subject);
    addBus<TheirBus<Performance::NO_STATS>>(rows, "no-stats", subject);
    addBus<TheirBus<Performance::BARE_METAL>>(rows, "bare", subject);
#endif
}

}  // namespace sluice::count
