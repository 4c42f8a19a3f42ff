#pragma once

#include <cstddef>

namespace sluice::bench {

/// The documented loop of queues that hand out one copy at a time: pop until the queue is empty, at
/// most `most` messages. `pop(message)` returns false when there is none.
template <class Message, class Pop, class Handler>
std::size_t popUntilEmpty(std::size_t most, Pop&& pop, Handler&& handler) {
    Message message{};
    std::size_t count = 0;
    for (; count < most && pop(message); ++count) {
        handler(message);
    }
    return count;
}

}  // namespace sluice::bench
