#include <chrono>  // clang 16 finds operators of these headers only where they are included
#include <memory>
#include <new>

import sluice;

struct Reading {
    int value;
};

sluice::Bus<sluice::Messages<Reading>> bus;

int main() {
    sluice::BlockingQueue<sluice::SpscRing<int, 8>> queue;
    for (int i = 1; i <= 3; ++i) {
        if (queue.tryPush(i) != sluice::SendResult::ok) {
            return 1;
        }
    }
    int sum = 0;
    queue.consume([&sum](int& message) { sum += message; });

    const auto subscription =
        bus.subscribe<Reading>([&sum](const Reading& reading) { sum += reading.value; });
    (void)bus.publish(Reading{4}, sluice::Priority::high);
    bus.process();
    return sum == 10 ? 0 : 1;
}
