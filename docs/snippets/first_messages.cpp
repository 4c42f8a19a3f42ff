#include <sluice/queue.hpp>

#include <cstdio>
#include <thread>

int main() {
    sluice::BlockingQueue<sluice::SpscRing<int, 1024>> queue;
    std::thread sensor([&queue] {
        for (int reading = 1; reading <= 100'000; ++reading) {
            (void)queue.push(reading);  // waits while the queue is full
        }
        queue.close();
    });
    long long sum = 0;
    while (queue.consume([&sum](int reading) { sum += reading; }) != 0) {
    }
    sensor.join();
    std::printf("%lld\n", sum);
}
