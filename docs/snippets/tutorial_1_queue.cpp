#include <sluice/queue.hpp>

#include <cstdio>
#include <thread>

struct Reading {
    double celsius;
};

int main() {
    sluice::BlockingQueue<sluice::SpscRing<Reading, 256>> queue;
    std::thread sensor([&queue] {
        for (int i = 0; i < 1000; ++i) {
            (void)queue.push(Reading{20 + 0.1 * i});  // waits while the queue is full
        }
        queue.close();
    });
    double highest = 0;
    while (queue.consume([&](const Reading& reading) { highest = reading.celsius; }) != 0) {
    }
    sensor.join();
    std::printf("highest: %.1f\n", highest);
    return highest > 119 ? 0 : 1;
}
