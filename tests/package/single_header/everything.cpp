#include "sluice.hpp"

int carriedByABus();

int carriedByABus() {
    int carried = 0;
    sluice::Bus<sluice::Messages<int>> bus;
    const auto subscription = bus.subscribe<int>([&carried](int value) { carried = value; });
    if (bus.publish(7) != sluice::SendResult::ok) {
        return 0;
    }
    bus.process();
    return carried;
}
