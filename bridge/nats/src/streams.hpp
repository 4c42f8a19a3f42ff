#pragma once

// The streams and consumers of the durable profile on the server.
#include "link_impl.hpp"

#include <sluice/bridge/nats/options.hpp>
#include <sluice/bus/priority.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace sluice::nats::detail {

/// Returns the name of the stream of this priority.
std::string streamOf(const DurableOptions& options, Priority priority);

/// Creates the stream of the priority. If it exists with the same settings, it does nothing. Throws
/// std::runtime_error with one line if the server refuses.
void openStream(Link::Impl& link, const DurableOptions& options, Priority priority);

/// The state of a consumer when it was opened.
struct OpenedConsumer {
    std::string name;          ///< contains the importer's name
    std::int64_t created = 0;  ///< the server's time when it made the consumer
    std::int64_t orders = 0;   ///< orders of other readers that the server has
};

/// Does the same for the consumer of a subject.
OpenedConsumer openConsumer(Link::Impl& link, const DurableOptions& options, Priority priority,
                            const std::string& subject);

/// Whether the server knows an importer of this subject. Waits for the answer for at most two
/// seconds. Empty if there is none, as for a program without the right to ask.
std::optional<bool> hasImporter(Link::Impl& link, const DurableOptions& options,
                                const std::string& subject);

}  // namespace sluice::nats::detail
