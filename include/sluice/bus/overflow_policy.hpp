#pragma once

namespace sluice {

/// The policy for a message that finds no room.
enum class BusOverflow : unsigned char {
    reject,    ///< the publisher is told
    block,     ///< the publisher waits for room. Not in a handler of this or another bus, which
               ///< might wait for itself: there it is told. In the constructor of a message use
               ///< tryPublish(): it may wait for the slot of that message
    blockFor,  ///< it waits for at most Traits::blockLimit, a range at each step; not in a handler
               ///< of this bus
    dropOldest,  ///< the oldest message of the same priority makes room, and is counted. The bus
                 ///< moves each message out before its handler runs, onto the stack of the
                 ///< consumer, so messages must be movable. A message is refused only while a
                 ///< thread is stopped that holds a slot. If the destructor of a message publishes
                 ///< at the same priority, it drops the next one, inside: so it may nest as deep as
                 ///< the room
};

}  // namespace sluice
