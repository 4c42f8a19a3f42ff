#pragma once

namespace sluice {

/// The policy for a message that finds no room.
enum class BusOverflow : unsigned char {
    reject,      ///< the publisher gets `refused` or `full`
    block,       ///< the publisher waits for room. In a handler of this or another bus it does not
                 ///< wait, because it might wait for itself. In the constructor of a message use
                 ///< tryPublish(), because publish() might wait for the slot of that message
    blockFor,    ///< the publisher waits for at most Traits::blockLimit; for a range, at each step.
                 ///< In a handler of this bus it does not wait
    dropOldest,  ///< the bus drops the oldest message of the same priority, and counts it. The bus
                 ///< moves each message to the stack of the consumer before its handler runs, so
                 ///< messages must be movable. A message is refused only while a stopped thread
                 ///< holds a slot. If the destructor of a message publishes at the same priority,
                 ///< this drops the next message inside of the destructor. Such calls may nest as
                 ///< deep as the room
};

}  // namespace sluice
