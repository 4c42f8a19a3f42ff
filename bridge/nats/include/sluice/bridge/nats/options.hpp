#pragma once

#include <sluice/bridge/nats/link.hpp>
#include <sluice/bus/priority.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice::nats {

/// The durable profile: JetStream keeps messages until each importer has acknowledged them.
struct DurableOptions {
    /// Name of the fleet's two streams: "<stream>_high" and "<stream>_rest". The bridge creates
    /// them. Empty: the bridge has no durable profile.
    std::string stream;
    /// The name of this program among the importers. It must be unique, and the same after a
    /// restart: then the program gets the messages that it has missed. Only importers need it.
    std::string name;

    /// Messages that the outbox holds until the server acknowledges them: at least 4.
    std::size_t outboxMessages = 1024;
    /// Folder that keeps messages over a restart of the process. A message is on the disk before it
    /// is accepted, so its sender waits for the disk. Empty: the outbox is in memory. Each process
    /// needs a folder of its own.
    std::string outboxFolder;
    /// Messages of this priority and above are kept in the folder. So are those of a lower priority
    /// whose folder exists.
    Priority onDiskFrom = Priority::high;
    /// Messages of one priority that wait for the server's acknowledgement at once: at least 1.
    std::size_t inFlight = 512;
    /// A message is sent again when the server has not acknowledged it for so long: at least 1 ms.
    std::chrono::milliseconds ackWait{2000};
    /// A message that the server refused is sent again after so long: at least 1 ms.
    std::chrono::milliseconds retryWait{100};

    std::int64_t streamBytes =
        std::int64_t{256} * 1024 * 1024;  ///< of each stream; a full stream refuses
    int replicas = 1;                     ///< servers that store each message
    /// The server drops a message that it has stored within this time.
    std::chrono::milliseconds duplicateWindow{120'000};
    /// The server delivers a message again when an importer has not acknowledged it for so long.
    std::chrono::milliseconds redeliverAfter{30'000};
    int pullBatch = 256;  ///< messages that an importer asks for at once: at least 1
    /// The server forgets an importer that has no connection for so long. 0: never, so a program
    /// that does not start again fills the stream.
    std::chrono::milliseconds forgetAfter{0};
};

struct NatsOptions : LinkOptions {
    /// Names the bus among all buses of the fleet. 0: the bridge draws a random number.
    std::uint64_t origin = 0;
    /// An importer of one type and priority follows the sequences of so many starts of programs.
    /// Messages of further starts are delivered, and counted as untracked.
    std::size_t maxOrigins = 1024;
    /// The largest encoded message with its envelope, in bytes: 64 to 2^30. Each export on a core
    /// route and each message in the outbox has a buffer of this size.
    std::size_t maxMessageSize = std::size_t{64} * 1024;
    /// Core profile: messages of one import and priority that may wait for the importer. Further
    /// ones are dropped and counted in `overrun`.
    int importBacklog = 65'536;
    /// Bridges that a message may have passed: at least 1.
    std::uint8_t maxHops = 1;
    DurableOptions durable;
};

enum class Profile : unsigned char {
    core,    ///< at most once
    durable  ///< at least once, from the outbox to the importer's bus
};

struct NatsRoute {
    std::string subject;
    /// Change it when the meaning of a field changes: other versions are refused and counted.
    std::uint32_t schemaVersion = 1;
    Profile profile = Profile::core;
    /// Durable imports: true acknowledges a message after the return of those handlers that the bus
    /// had at importType. False acknowledges it as soon as the bus has accepted it. If true, the
    /// bus' traits set `priorities` and `senders`, the bus drops no message, and `sender` of the
    /// imported messages is a number of the bridge.
    bool untilHandled = false;
};

namespace detail {

/// Returns the options. Throws std::runtime_error with one line that names the setting, its value
/// and the limit, if a bridge cannot work with a setting.
const NatsOptions& checked(const NatsOptions& options);

}  // namespace detail
}  // namespace sluice::nats
