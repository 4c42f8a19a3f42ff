/// \file
/// MCCC's AsyncBus. It is configured by macros, which this source alone sees, and each list of
/// messages has one bus for the whole program; so its figures come from a ring that is warm from
/// the round before, at its documented depth.

#include "adapters/bus_subjects.hpp"

#if defined(SLUICE_PEER_MCCC)
#include "harness/clock.hpp"

#include <mccc/mccc.hpp>

#include <array>
#include <cstdint>
#include <variant>
#endif

namespace sluice::bench {

namespace {

// MEDIUM is let in up to 80 % of 131072; only BARE_METAL takes more.
constexpr std::size_t mediumRoom = 104857;

// In what the modes differ; each may be consumed both ways.
struct Mode {
    const char* name;
    const char* use;
    bool admission;
    bool statistics;
};
constexpr Mode full{"full", "FULL_FEATURED, PublishFast() with a time stamp 64 messages old", true,
                    true};
constexpr Mode noStats{"no-stats", "NO_STATS, PublishFast() with a time stamp 64 messages old",
                       true, false};
constexpr Mode bare{"bare", "BARE_METAL, PublishFast() without a time stamp", false, false};
constexpr Mode exactTime{"exact-time", "FULL_FEATURED, Publish(), which reads the clock", true,
                         true};

BusSubject described(const Mode& mode, Way way) {
    BusSubject subject;
    subject.info.id = std::string("mccc/") + mode.name + nameOf(way);
    subject.info.library = "mccc";
    subject.info.use =
        std::string(mode.use) + ", " +
        (way == Way::table ? "Subscribe(), ProcessBatch()" : "ProcessBatchWith(), no header");
    Features& features = subject.info.features;
    features.topology = "mpsc";
    // It may refuse a message though there is room, and let in one more for each producer.
    features.bound = "approximate, depth 131072";
    features.order = "all producers";
    features.inPlace = true;
    features.backPressure = mode.admission;
    features.statistics = mode.statistics;
    features.typeErasure = way == Way::table;
    subject.room = mediumRoom;
    return subject;
}

#if defined(SLUICE_PEER_MCCC)

enum class Stamp { none, cached, exact };

using Payload = std::variant<BusMessage<0>, BusMessage<1>, BusMessage<2>>;
using AsyncBus = mccc::AsyncBus<Payload>;
using PerformanceMode = AsyncBus::PerformanceMode;
static_assert(AsyncBus::MEDIUM_PRIORITY_THRESHOLD == mediumRoom, "not the documented depth");

/// A publisher's clock.
template <Stamp Stamping>
class Stamps {
public:
    /// In microseconds, read for each 64th message.
    std::uint64_t next() noexcept {
        if constexpr (Stamping == Stamp::cached) {
            if (asked_++ % 64 == 0) {
                stamp_ = static_cast<std::uint64_t>(now()) / 1000;
            }
        }
        return stamp_;
    }

private:
    std::uint64_t stamp_ = 0;
    unsigned asked_ = 0;
};

template <PerformanceMode Performance, Stamp Stamping, Way Consuming, Sending Kinds>
class McccBus {
public:
    McccBus(std::size_t, std::size_t) { bus_.SetPerformanceMode(Performance); }
    McccBus(const McccBus&) = delete;
    McccBus& operator=(const McccBus&) = delete;
    // What a round that was given up has left would be in the next one.
    ~McccBus() {
        while (bus_.ProcessBatchWith([](const auto&) {}) != 0) {
        }
    }

    struct Producer {
        AsyncBus& bus;
        Stamps<Stamping> stamps;

        bool tryPush(const Message<64>& text) {
            const auto sender = static_cast<std::uint32_t>(text.producer());
            return withKind<Kinds>(text, [&](auto kind) {
                if constexpr (Stamping == Stamp::exact) {
                    return bus.Publish(Payload(kind, text), sender);
                } else {
                    return bus.PublishFast(Payload(kind, text), sender, stamps.next());
                }
            });
        }
    };

    class Consumer {
    public:
        explicit Consumer(AsyncBus& bus) noexcept : bus_(bus) {}
        Consumer(const Consumer&) = delete;
        Consumer& operator=(const Consumer&) = delete;
        ~Consumer() { unsubscribe(); }

        template <class Handler>
        std::size_t poll(const Handler& handler) {
            const MessageHandler<Handler> each{handler};
            if constexpr (Consuming == Way::visitor) {
                return bus_.ProcessBatchWith(each);
            } else {
                if (current_.changesTo(handler)) {
                    unsubscribe();
                    subscriptions_ = {subscribe<BusMessage<0>>(each),
                                      subscribe<BusMessage<1>>(each),
                                      subscribe<BusMessage<2>>(each)};
                }
                return bus_.ProcessBatch();
            }
        }

    private:
        template <class T, class Each>
        mccc::SubscriptionHandle subscribe(const Each& each) {
            return bus_.Subscribe<T>([each](const AsyncBus::EnvelopeType& envelope) {
                each(*std::get_if<T>(&envelope.payload));
            });
        }

        void unsubscribe() noexcept {
            for (const mccc::SubscriptionHandle& each : subscriptions_) {
                (void)bus_.Unsubscribe(each);
            }
        }

        AsyncBus& bus_;
        CurrentHandler current_;
        std::array<mccc::SubscriptionHandle, 3> subscriptions_{};
    };

    Producer producer() { return {bus_, {}}; }
    Consumer consumer() { return Consumer(bus_); }

private:
    AsyncBus& bus_ = AsyncBus::Instance();
};

template <PerformanceMode Performance, Stamp Stamping, Way Consuming>
struct Through {
    template <Sending Kinds>
    using Bus = McccBus<Performance, Stamping, Consuming, Kinds>;
};

template <PerformanceMode Performance, Stamp Stamping, Way Consuming>
void addWay(BusSubjects& subjects, const Mode& mode) {
    using With = Through<Performance, Stamping, Consuming>;
    addBothPacings(subjects, described(mode, Consuming),
                   busRuns<With::template Bus, HarvestPacing>(),
                   busRuns<With::template Bus, NoPacing>());
}

template <PerformanceMode Performance, Stamp Stamping>
void addMode(BusSubjects& subjects, const Mode& mode) {
    addWay<Performance, Stamping, Way::table>(subjects, mode);
    addWay<Performance, Stamping, Way::visitor>(subjects, mode);
}

#endif

}  // namespace

void addMcccBus(BusSubjects& subjects) {
#if defined(SLUICE_PEER_MCCC)
    addMode<PerformanceMode::FULL_FEATURED, Stamp::cached>(subjects, full);
    addMode<PerformanceMode::NO_STATS, Stamp::cached>(subjects, noStats);
    addMode<PerformanceMode::BARE_METAL, Stamp::none>(subjects, bare);
    addMode<PerformanceMode::FULL_FEATURED, Stamp::exact>(subjects, exactTime);
#else
    for (const Mode& mode : {full, noStats, bare, exactTime}) {
        for (const Way way : {Way::table, Way::visitor}) {
            BusSubject subject = described(mode, way);
            subject.info.absentBecause = notCompiledIn("SLUICE_PEER_MCCC_INCLUDE");
            subjects.push_back(std::move(subject));
        }
    }
#endif
}

}  // namespace sluice::bench
