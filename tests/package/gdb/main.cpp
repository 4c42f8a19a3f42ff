#include <sluice/bus.hpp>
#include <sluice/fixed.hpp>
#include <sluice/memory.hpp>
#include <sluice/queue.hpp>

#include <cstddef>

/// gdb stops here and prints what its caller holds.
[[gnu::noinline]] void stopHere() {
    asm volatile("");
}

struct Reading {
    int value;
};

template <class Queue>
void pushThreeAndPopOne(Queue& queue) {
    for (int i = 0; i < 3; ++i) {
        (void)queue.tryPush(i);
    }
    (void)queue.tryPop();
}

sluice::Bus<sluice::Messages<Reading>> bus;
sluice::Bus<sluice::Messages<Reading>, sluice::BareBusTraits> bare;

int main() {
    const sluice::FixedString<15> name("sluice");
    sluice::FixedVector<int, 4> numbers;
    (void)numbers.pushBack(3);
    (void)numbers.pushBack(5);
    sluice::FixedFunction<int()> function = [&numbers] { return numbers[0]; };
    const sluice::FixedFunction<int()> noFunction;

    sluice::SpscRing<int, 4> spsc;
    sluice::SpscRing<int, 4> spscClosed;
    sluice::MpscRing<int, 4> mpsc;
    sluice::MpmcRing<int, 4> mpmc;
    sluice::OverwriteRing<int, 2> overwrite;
    sluice::SegmentQueue<int> segments;
    sluice::BlockingQueue<sluice::SpscRing<int, 4>> blocking;
    pushThreeAndPopOne(spsc);
    pushThreeAndPopOne(mpsc);
    pushThreeAndPopOne(mpmc);
    pushThreeAndPopOne(overwrite);
    overwrite.close();
    pushThreeAndPopOne(segments);
    pushThreeAndPopOne(blocking);
    (void)spscClosed.tryPush(1);
    spscClosed.close();
    mpsc.close();
    sluice::MpscLanes<int> lanes(4);
    auto first = lanes.producer();
    auto second = lanes.producer();
    (void)first.tryPush(1);
    (void)second.tryPush(2);
    (void)second.tryPush(3);
    sluice::MpmcLanes<int> shared(4);
    auto third = shared.producer();
    (void)third.tryPush(4);

    const auto subscription = bus.subscribe<Reading>([](const Reading&) {});
    const sluice::Subscription noSubscription;
    (void)bus.publish(Reading{1}, sluice::Priority::high);
    (void)bus.publish(Reading{2}, sluice::Priority::low);
    (void)bus.publish(Reading{3}, sluice::Priority::low);
    (void)bare.publish(Reading{4});

    sluice::ObjectPool<Reading> pool;
    const auto owned = pool.make(Reading{6});
    const char bytes[8] = {};
    const sluice::DataToken token(
        bytes, sizeof bytes, [](void*, const std::byte*, std::size_t) noexcept {}, nullptr);
    const sluice::DataToken noToken;
    stopHere();
    return function() == 3 && !noFunction && owned ? 0 : 1;
}
