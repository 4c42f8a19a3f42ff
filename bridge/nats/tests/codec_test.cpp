// Messages that a codec refuses, and types of other programs.
#include "notes.hpp"
#include "station.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

namespace sluice::nats {
namespace {

using namespace test;

struct Note {
    std::string text;
};
constexpr auto describe(wire::Type<Note>) {
    return wire::fields(wire::field("text", &Note::text));
}

/// A message with the functions of protobuf. Without a value it has no bytes.
struct Packed {
    [[nodiscard]] std::size_t ByteSizeLong() const { return text.size(); }
    bool SerializeToArray(void* bytes, int) const {
        text.copy(static_cast<char*>(bytes), text.size());
        return true;
    }
    bool ParseFromArray(const void* bytes, int size) {
        text.assign(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
        return true;
    }
    [[nodiscard]] std::string GetTypeName() const { return "fleet.Packed"; }
    std::string text;
};

/// Three versions of a type without describe().
struct Old {
    int robot = 0;
    int speed = 0;
};
struct Equal {
    int robot = 0;
    int speed = 0;
};
struct Later {
    int version = 0;
    int robot = 0;
    int speed = 0;
};

/// Its constructor throws on the thread of the importer.
struct Reluctant {
    Reluctant() {
        if (isReluctant) {
            throw std::runtime_error("no message");
        }
    }
    static inline std::atomic<bool> isReluctant{false};
    int number = 0;
};
constexpr auto describe(wire::Type<Reluctant>) {
    return wire::fields(wire::field("number", &Reluctant::number));
}

/// Its first decoding finds no memory.
struct Heavy {
    Heavy() {
        if (refusals.load() != 0) {
            --refusals;
            throw std::bad_alloc();
        }
    }
    static inline std::atomic<int> refusals{0};
    int number = 0;
};
constexpr auto describe(wire::Type<Heavy>) {
    return wire::fields(wire::field("number", &Heavy::number));
}

/// Its first copy throws. It cannot be moved, so the importer copies it into the bus.
struct Clumsy {
    Clumsy() = default;
    Clumsy(const Clumsy& other) : number(other.number) {
        if (isClumsy.exchange(false)) {
            throw std::runtime_error("no copy");
        }
    }
    static inline std::atomic<bool> isClumsy{false};
    int number = 0;
};
constexpr auto describe(wire::Type<Clumsy>) {
    return wire::fields(wire::field("number", &Clumsy::number));
}

using CodecBus =
    Bus<Messages<Note, Packed, Old, Equal, Later, Reluctant, Heavy, Clumsy>, BridgedTraits>;

/// A program with a bus of these types.
struct Program {
    explicit Program(const NatsOptions& options) : bridge(*bus, options) {}

    std::unique_ptr<CodecBus> bus = std::make_unique<CodecBus>();
    NatsBridge<CodecBus> bridge;
};

TEST(CodecTest, ATextThatIsNotUtf8IsRefusedAtOnceAndIsOneLine) {
    const NatsServer server(NatsServer::withStreams);
    Notes notes;
    NatsOptions options = durableOptionsFor(server, "sender");
    options.observer = &notes;
    Program sender(options);
    for (const Profile profile : {Profile::core, Profile::durable}) {
        auto outlet = sender.bridge.outlet<Note>({"note", 1, profile});
        EXPECT_EQ(outlet.send({"caf\xE9"}), OutletResult::unencodable);
        EXPECT_EQ(outlet.send({std::string(100'000, 'x')}), OutletResult::tooLarge);
        EXPECT_EQ(outlet.send({"caf\xC3\xA9"}), OutletResult::ok);
    }
    EXPECT_EQ(sender.bridge.statistics().unsent, 4U);
    EXPECT_EQ(notes.count("nats: note: the codec refuses a message; perhaps a text is not UTF-8"),
              2);
    EXPECT_TRUE(sender.bridge.close(patience));
}

TEST(CodecTest, MessagesOfProtobufKeepTheirForm) {
    const NatsServer server;
    Program receiver(optionsFor(server));
    std::string seen;
    const Subscription handler = receiver.bus->subscribe<Packed>(
        [&](const Packed& packed) { seen += "'" + packed.text + "'"; });
    receiver.bridge.importType<Packed>({"packed"});
    Program sender(optionsFor(server));
    auto outlet = sender.bridge.outlet<Packed>({"packed"});
    EXPECT_EQ(outlet.send({""}), OutletResult::ok);
    EXPECT_EQ(outlet.send({"\xFF"}), OutletResult::ok);
    await([&] { return receiver.bridge.statistics().delivered == 2U; });
    (void)receiver.bus->process();
    EXPECT_EQ(seen, "'''\xFF'");
}

TEST(CodecTest, AMessageWhoseConstructorThrowsIsCounted) {
    const NatsServer server;
    Program receiver(optionsFor(server));
    receiver.bridge.importType<Reluctant>({"reluctant"});
    Program sender(optionsFor(server));
    const Reluctant message;
    Reluctant::isReluctant = true;
    EXPECT_EQ(sender.bridge.outlet<Reluctant>({"reluctant"}).send(message), OutletResult::ok);
    await([&] { return receiver.bridge.statistics().received == 1U; });
    EXPECT_TRUE(receiver.bridge.close(patience));
    Reluctant::isReluctant = false;
    EXPECT_EQ(receiver.bridge.statistics().malformed, 1U);
}

// Their first fields have the same names, "0" and "1", and another meaning.
TEST(CodecTest, ATypeWithoutNamesIsRefusedIfItsFieldsDiffer) {
    const NatsServer server;
    Program receiver(optionsFor(server));
    receiver.bridge.importType<Old>({"speed"});
    Program equal(optionsFor(server));
    Program later(optionsFor(server));
    EXPECT_EQ(later.bridge.outlet<Later>({"speed"}).send({2, 7, 100}), OutletResult::ok);
    EXPECT_EQ(equal.bridge.outlet<Equal>({"speed"}).send({7, 100}), OutletResult::ok);
    await([&] { return receiver.bridge.statistics().received == 2U; });
    EXPECT_TRUE(receiver.bridge.close(patience));
    EXPECT_EQ(receiver.bridge.statistics().otherSchema, 1U);
    EXPECT_EQ(receiver.bridge.statistics().delivered, 1U);
}

// The server delivers it again if the stream has it.
TEST(CodecTest, AMessageWhoseCopyThrowsIsRefusedAndIsOneLine) {
    const NatsServer server(NatsServer::withStreams);
    Program sender(durableOptionsFor(server, "sender"));
    Notes notes;
    NatsOptions options = durableOptionsFor(server, "receiver");
    options.observer = &notes;
    Program receiver(options);
    for (const NatsRoute& route : {NatsRoute{"core"}, NatsRoute{"stored", 1, Profile::durable}}) {
        receiver.bridge.importType<Clumsy>(route);
        const Clumsy message;
        const std::uint64_t before = receiver.bridge.statistics().refused;
        Clumsy::isClumsy = true;
        EXPECT_EQ(sender.bridge.outlet<Clumsy>(route).send(message), OutletResult::ok);
        await([&] { return receiver.bridge.statistics().refused == before + 1; });
    }
    await([&] { return receiver.bridge.statistics().delivered == 1; });
    EXPECT_TRUE(receiver.bridge.close(patience));
    EXPECT_EQ(notes.count("nats: "), 2);
    for (const char* const name : {"core", "stored"}) {
        EXPECT_EQ(notes.count("nats: " + std::string(name) +
                              ".medium: a constructor of a message throws, and the bus does not "
                              "get the message"),
                  1);
    }
}

TEST(CodecTest, AMessageWithoutMemoryComesAgain) {
    const NatsServer server(NatsServer::withStreams);
    Program sender(durableOptionsFor(server, "sender"));
    Program receiver(durableOptionsFor(server, "receiver"));
    const NatsRoute route{"heavy", 1, Profile::durable};
    auto outlet = sender.bridge.outlet<Heavy>(route);
    receiver.bridge.importType<Heavy>(route);
    const Heavy heavy;
    Heavy::refusals = 1;
    EXPECT_EQ(outlet.send(heavy, Priority::high), OutletResult::ok);
    await([&] { return receiver.bridge.statistics().delivered == 1; });
    EXPECT_EQ(receiver.bridge.statistics().refused, 1U);
    EXPECT_EQ(receiver.bridge.statistics().malformed, 0U);
}

}  // namespace
}  // namespace sluice::nats
