#pragma once

// The streams and consumers of the durable profile on the server.
#include "link_parts.hpp"

#include <sluice/bridge/nats/options.hpp>
#include <sluice/bus/priority.hpp>

#include <string>

namespace sluice::nats::detail {

std::string streamOf(const DurableOptions& options, Priority priority);

/// "<stream>.<priority>.<subject>": each of the two streams takes its priorities.
std::string durableSubject(const DurableOptions& options, Priority priority,
                           const std::string& subject);

/// Creates the stream of the priority, or finds it as it must be. Throws std::runtime_error with
/// one line.
void openStream(Link::Parts& link, const DurableOptions& options, Priority priority);

/// The same for the consumer of a subject, which the server remembers by the importer's name.
/// Returns the consumer's name.
std::string openConsumer(Link::Parts& link, const DurableOptions& options, Priority priority,
                         const std::string& subject);

}  // namespace sluice::nats::detail
