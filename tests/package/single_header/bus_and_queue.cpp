#include "sluice_queue.hpp"

#include "sluice_bus.hpp"

int carriedByABus();

/// Both editions hold the rings. A second file of the program holds all modules.
int main() {
    sluice::SpscRing<int, 4> ring;
    sluice::Bus<sluice::Messages<int>> bus;
    if (ring.tryPush(7) != sluice::SendResult::ok || ring.tryPop() != 7) {
        return 1;
    }
    return carriedByABus() == 7 ? 0 : 1;
}
