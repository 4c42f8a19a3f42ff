#include <sluice/fixed.hpp>
#include <sluice/queue.hpp>

/// gdb stops here and prints what its caller holds.
[[gnu::noinline]] void stopHere() {
    asm volatile("");
}

int main() {
    const sluice::FixedString<15> name("sluice");
    sluice::FixedVector<int, 4> numbers;
    (void)numbers.pushBack(3);
    (void)numbers.pushBack(5);
    sluice::SpscRing<int, 4> open;
    sluice::SpscRing<int, 4> closed;
    (void)open.tryPush(1);
    (void)open.tryPush(2);
    (void)open.tryPush(3);
    (void)open.tryPop();
    (void)closed.tryPush(1);
    closed.close();
    stopHere();
    return name.size() == 6 ? 0 : 1;
}
