#pragma once

#include <cstdint>
#include <string>

namespace sluice::nats {

/// The guarantee of a route.
enum class Profile : unsigned char {
    core,    ///< at most once: a message may be lost
    durable  ///< at least once, from the outbox of the sender to the bus of the importer
};

/// How the messages of one type travel: their subject on the server, and their guarantee.
///
///     bridge.exportType<Position>({"fleet.position"});
///     bridge.importType<Order>({"fleet.order", 1, Profile::durable});
struct NatsRoute {
    std::string subject;
    /// The version of the type. Change it when the meaning of a field changes. An importer refuses
    /// and counts messages of other versions.
    std::uint32_t schemaVersion = 1;
    Profile profile = Profile::core;
    /// Durable imports: when the importer acknowledges a message. False: as soon as the bus has
    /// accepted it. True: after those handlers have returned that the bus had at importType(). True
    /// has these conditions:
    ///
    /// - The traits of the bus set `priorities` and `senders`. The bridge sets `sender` of the
    ///   imported messages to numbers of its own.
    /// - The bus must not drop messages.
    /// - A program may publish an imported message again. If a million messages of the import have
    ///   come since, it sets `sender` of the copy to 0. Otherwise the copy may acknowledge another
    ///   message.
    bool untilHandled = false;
};

}  // namespace sluice::nats
