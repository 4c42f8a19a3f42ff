#include "adapters/bus_subjects.hpp"

#include <sluice/bus/bus.hpp>

#include <array>
#include <cstdint>

namespace sluice::bench {

namespace {

// Each differs from FullBusTraits in one thing.

struct NoTimeTraits : FullBusTraits {
    static constexpr TimeStamp timeStamp = TimeStamp::none;
};

struct ExactTimeTraits : FullBusTraits {
    static constexpr TimeStamp timeStamp = TimeStamp::exact;
};

template <std::size_t Depth>
struct DepthTraits : FullBusTraits {
    static constexpr std::size_t depth = Depth;
};

struct UnpaddedTraits : FullBusTraits {
    static constexpr std::size_t cacheLineSize = alignof(std::max_align_t);
};

// The modes between no statistics and bare.
struct NoHeaderTraits : NoStatsBusTraits {
    static constexpr bool ids = false;
    static constexpr TimeStamp timeStamp = TimeStamp::none;
    static constexpr bool senders = false;
};

constexpr Priority priorityFor(Urgency urgency) noexcept {
    return urgency == Urgency::high     ? Priority::high
           : urgency == Urgency::medium ? Priority::medium
                                        : Priority::low;
}

template <class Traits, Way Consuming, Sending Kinds, std::size_t Bytes = 64>
class SluiceBus {
    template <std::size_t Number>
    using Kind = BusMessage<Number, Bytes>;
    using Bus = sluice::Bus<Messages<Kind<0>, Kind<1>, Kind<2>>, Traits>;

public:
    SluiceBus(std::size_t, std::size_t) {}

    struct Producer {
        Bus& to;
        bool tryPush(const Message<Bytes>& text, Urgency urgency = Urgency::medium) {
            PublishOptions options{priorityFor(urgency)};
            options.sender = static_cast<std::uint32_t>(text.producer());
            return withKind<Kinds>(text, [&](auto kind) { return publish(kind, text, options); });
        }

        template <class T>
        bool publish(std::in_place_type_t<T>, const Message<Bytes>& text,
                     const PublishOptions& options) {
            return to.template emplaceWith<T>(options, text) == SendResult::ok;
        }
    };

    struct Consumer {
        Bus& bus;
        CurrentHandler current;
        std::array<Subscription, 3> subscriptions;

        template <class Handler>
        std::size_t poll(const Handler& handler) {
            const MessageHandler<Handler> each{handler};
            if constexpr (Consuming == Way::visitor) {
                return bus.processWith(each);
            } else {
                if (current.changesTo(handler)) {
                    subscriptions = {};
                    subscriptions = {bus.template subscribe<Kind<0>>(each),
                                     bus.template subscribe<Kind<1>>(each),
                                     bus.template subscribe<Kind<2>>(each)};
                }
                return bus.process();
            }
        }
    };

    Producer producer() { return {bus_}; }
    Consumer consumer() { return {bus_, {}, {}}; }

private:
    Bus bus_;
};

template <class Traits, Way Consuming>
struct Through {
    template <Sending Kinds>
    using Bus = SluiceBus<Traits, Consuming, Kinds>;
};

template <class Traits, Way Consuming>
BusSubject described(const std::string& mode, const std::string& use) {
    BusSubject subject;
    subject.info.id = "sluice/" + mode + nameOf(Consuming);
    subject.info.library = "sluice";
    subject.info.ours = true;
    subject.info.pacing = Pacing::harvest;
    subject.info.use = use + ", emplaceWith(), " +
                       (Consuming == Way::table ? "subscribe(), process()" : "processWith()");
    Features& features = subject.info.features;
    features.topology = "mpsc";
    features.bound = "exact, depth " + std::to_string(Traits::depth);
    features.order = "all producers";
    features.inPlace = true;
    features.blocking = true;
    features.priority = Traits::priorities;
    features.backPressure = Traits::priorities;
    features.statistics = Traits::statistics;
    features.typeErasure = Consuming == Way::table;
    using AnyBus = sluice::Bus<Messages<BusMessage<0>>, Traits>;
    subject.room = AnyBus::roomOf(Priority::medium);
    return subject;
}

template <class Traits, Way Consuming>
void addMode(BusSubjects& subjects, const std::string& mode, const std::string& use) {
    using With = Through<Traits, Consuming>;
    BusSubject subject = described<Traits, Consuming>(mode, use);
    subject.counterpart = "mccc/" + mode + nameOf(Consuming);
    addBothPacings(subjects, subject, busRuns<With::template Bus, BatchPacing>(),
                   busRuns<With::template Bus, NoPacing>());
}

template <std::size_t Bytes, std::size_t Depth, class PacingPolicy>
BusShape shape() {
    using Traits = DepthTraits<Depth>;
    using Shaped = SluiceBus<Traits, Way::visitor, Sending::one, Bytes>;
    return {Bytes, Depth, sluice::Bus<Messages<BusMessage<0>>, Traits>::roomOf(Priority::medium),
            &throughputRound<Shaped, Message<Bytes>, PacingPolicy>};
}

template <class PacingPolicy>
std::vector<BusShape> shapes() {
    return {shape<8, 4096, PacingPolicy>(), shape<512, 4096, PacingPolicy>(),
            shape<4096, 4096, PacingPolicy>(), shape<64, 64, PacingPolicy>(),
            shape<64, 131072, PacingPolicy>()};
}

// One form is enough to show the cost of a feature.
template <class Traits>
void addVariant(BusSubjects& subjects, const std::string& mode, const std::string& use,
                const std::string& counterpart) {
    BusSubject subject = described<Traits, Way::visitor>(mode, use);
    subject.runs = busRuns<Through<Traits, Way::visitor>::template Bus, BatchPacing>();
    subject.counterpart = counterpart;
    subjects.push_back(std::move(subject));
}

}  // namespace

void addSluiceBus(BusSubjects& subjects) {
    addMode<FullBusTraits, Way::table>(subjects, "full", "FullBusTraits");
    addMode<FullBusTraits, Way::visitor>(subjects, "full", "FullBusTraits");
    addShapes(subjects, shapes<BatchPacing>(), shapes<NoPacing>());
    addMode<NoStatsBusTraits, Way::table>(subjects, "no-stats", "NoStatsBusTraits");
    addMode<NoStatsBusTraits, Way::visitor>(subjects, "no-stats", "NoStatsBusTraits");
    addMode<BareBusTraits, Way::table>(subjects, "bare", "BareBusTraits");
    addMode<BareBusTraits, Way::visitor>(subjects, "bare", "BareBusTraits");
    addVariant<NoTimeTraits>(subjects, "no-time", "FullBusTraits, TimeStamp::none", "");
    addVariant<ExactTimeTraits>(subjects, "exact-time", "FullBusTraits, TimeStamp::exact",
                                "mccc/exact-time:visitor");
    addVariant<NoHeaderTraits>(subjects, "no-header",
                               "NoStatsBusTraits, no ids, time stamps and senders", "");
    addVariant<DepthTraits<8192>>(subjects, "arm-linux", "FullBusTraits, depth 8192", "");
    addVariant<DepthTraits<131072>>(subjects, "deep", "FullBusTraits, depth 131072",
                                    "mccc/full:visitor");
    addVariant<UnpaddedTraits>(subjects, "unpadded", "FullBusTraits, no padding to cache lines",
                               "");
}

}  // namespace sluice::bench
