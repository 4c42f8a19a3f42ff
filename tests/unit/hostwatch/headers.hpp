#pragma once

#include "hostwatch/transport.hpp"

#include <cstdint>

namespace hostwatch::test {

/// The header that the bus would give to a message.
inline Header headerAt(Clock::time_point publishedAt, std::uint32_t sender,
                       Priority priority = Priority::low) {
    Header header{};
    header.timeStamp = publishedAt;
    header.sender = sender;
    header.priority = priority;
    return header;
}

}  // namespace hostwatch::test
