#include <sluice/queue.hpp>

int main() {
    sluice::SpscRing<int, 4> ring;
    return ring.tryPush(7) == sluice::SendResult::ok && ring.tryPop() == 7 ? 0 : 1;
}
