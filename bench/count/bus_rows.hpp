#pragma once

/// \file
/// Publish and process of a bus.
///
/// A bus under test is an adapter, a class
///
///     bool publish(const Message&);       // false when it is refused
///     void fill();                        // publishes until there is no room
///     std::size_t processWithVisitor();   // hands all messages to a visitor
///     void subscribe();
///     std::size_t process();              // hands all messages to the handler that has subscribed

#include "count.hpp"

#include <cstddef>
#include <string>

namespace sluice::count {

// None of these is inlined: all rows of a bus publish by the same code, and each harvest is
// compiled by itself.

template <class Bus>
[[gnu::noinline]] void publishRound(Bus& bus, bool isAccepted) {
    forEachMessage([&](const Message& message) {
        expect(bus.publish(message) == isAccepted, "a message was refused, or was not");
    });
}

template <class Bus>
[[gnu::noinline]] void processWithVisitor(Bus& bus) {
    expect(bus.processWithVisitor() == roundSize, "a bus lost messages");
}

template <class Bus>
[[gnu::noinline]] void process(Bus& bus) {
    expect(bus.process() == roundSize, "a bus lost messages");
}

template <class Bus>
void countVisitor(const Counting& counting) {
    Bus bus;
    counting.each([] {},
                  [&] {
                      publishRound(bus, true);
                      processWithVisitor(bus);
                  });
}

template <class Bus>
void countHandlers(const Counting& counting) {
    Bus bus;
    bus.subscribe();
    counting.each([] {},
                  [&] {
                      publishRound(bus, true);
                      process(bus);
                  });
}

/// Counts the publications of a round into a bus that has no room.
template <class Bus>
void countRefused(const Counting& counting) {
    Bus bus;
    bus.fill();
    counting.each([] {}, [&] { publishRound(bus, false); });
}

template <class Bus>
void addBus(Rows& rows, const std::string& mode, const std::string& subject) {
    const std::string path = "bus/" + mode;
    rows.push_back({path + "/visitor", subject, &countVisitor<Bus>});
    rows.push_back({path + "/handlers", subject, &countHandlers<Bus>});
    rows.push_back({path + "/refused", subject, &countRefused<Bus>});
}

}  // namespace sluice::count
