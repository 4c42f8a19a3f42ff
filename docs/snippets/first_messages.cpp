#include <sluice/queue.hpp>

#include <cstdio>
#include <thread>

int main() {
    sluice::BlockingQueue<sluice::SpscRing<int, 1024>> queue;

    std::thread producer([&queue] {
        for (int i = 1; i <= 100'000; ++i) {
            if (queue.push(i) != sluice::PushResult::ok) {
                return;  // the queue was closed
            }
        }
        queue.close();
    });

    long sum = 0;
    while (queue.consume([&sum](int& message) { sum += message; }) != 0) {
    }
    producer.join();

    std::printf("%ld\n", sum);
    return sum == 5'000'050'000 ? 0 : 1;
}
