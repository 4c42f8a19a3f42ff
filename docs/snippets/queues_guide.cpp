// The code of docs/guide/queues.md.
#include <sluice/queue.hpp>
#include <sluice/wait.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>
#if defined(__linux__)
#include <csignal>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace {

struct Reading {
    std::uint64_t time;
    int value;
};

bool results() {
    sluice::SpscRing<std::unique_ptr<std::string>, 2> ring;

    auto order = std::make_unique<std::string>("stop");
    switch (ring.tryPush(std::move(order))) {
    case sluice::SendResult::ok:
        break;  // accepted: it will be delivered
    case sluice::SendResult::full:
    case sluice::SendResult::closed:
        return order != nullptr;  // refused: `order` is as it was
    }

    const std::size_t handled =
        ring.consume([](std::unique_ptr<std::string>& message) { std::puts(message->c_str()); });
    return handled == 1;
}

bool oneLanePerThread() {
    sluice::BlockingQueue<sluice::MpscLanes<Reading>> queue(256);  // room of each lane

    std::vector<std::thread> sensors;
    for (int sensor = 0; sensor < 3; ++sensor) {
        sensors.emplace_back([producer = queue.producer()]() mutable {
            for (std::uint64_t time = 0; time < 1000; ++time) {
                if (producer.push(Reading{time, 20}) != sluice::SendResult::ok) {
                    return;
                }
            }
        });  // the lane goes back when the thread, and with it the handle, has gone
    }
    std::thread closer([&] {
        for (std::thread& sensor : sensors) {
            sensor.join();
        }
        queue.close();
    });

    int readings = 0;
    while (queue.consume([&](const Reading& reading) { readings += reading.value / 20; }) != 0) {
    }
    closer.join();
    return readings == 3000;
}

bool ordered() {
    sluice::MpscLanes<Reading> lanes(16);
    auto left = lanes.producer();
    auto right = lanes.producer();
    for (std::uint64_t time = 0; time < 6; time += 2) {
        if (left.tryPush(Reading{time, 1}) != sluice::SendResult::ok ||
            right.tryPush(Reading{time + 1, 2}) != sluice::SendResult::ok) {
            return false;
        }
    }

    std::uint64_t next = 0;
    bool inOrder = true;
    lanes.consumeOrdered([](const Reading& reading) { return reading.time; },
                         [&](const Reading& reading) { inOrder &= reading.time == next++; });
    return inOrder && next == 6;
}

bool severalConsumers() {
    sluice::BlockingQueue<sluice::MpmcRing<int, 64>> jobs;

    std::atomic<int> sum{0};
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 2; ++worker) {
        workers.emplace_back([&] {
            while (const auto job = jobs.pop()) {  // empty when the queue is closed and drained
                sum += *job;
            }
        });
    }
    bool accepted = true;
    for (int job = 1; job <= 100; ++job) {
        accepted = accepted && jobs.push(job) == sluice::SendResult::ok;
    }
    jobs.close();
    for (std::thread& worker : workers) {
        worker.join();
    }
    return accepted && sum == 5050;
}

bool severalConsumersOfLanes() {
    bool inOrder = true;
    std::uint64_t next = 0;
    sluice::BlockingQueue<sluice::MpmcLanes<Reading>> queue(256);  // room of each lane

    std::vector<std::thread> workers;
    for (int worker = 0; worker < 2; ++worker) {
        workers.emplace_back([&] {
            const auto handle = [&](const Reading& reading) {
                inOrder = inOrder && reading.time == next++;  // plain: never two threads at a time
            };
            while (queue.consume(handle, 32) != 0) {  // at most 32 messages, then another lane
            }
        });
    }
    auto producer = queue.producer();
    bool accepted = true;
    for (std::uint64_t time = 0; time < 1000; ++time) {
        accepted = accepted && producer.push(Reading{time, 20}) == sluice::SendResult::ok;
    }
    queue.close();
    for (std::thread& worker : workers) {
        worker.join();
    }
    return accepted && inOrder && next == 1000;
}

bool oneClaimForABatch() {
    sluice::MpmcRing<int, 64> ring;
    bool accepted = ring.tryPush(1) == sluice::SendResult::ok;
    accepted = ring.tryPush(2) == sluice::SendResult::ok && accepted;
    std::array<int, 32> batch{};
    const std::size_t count = ring.tryPopAll(batch.begin(), batch.size());
    return accepted && count == 2 && batch[1] == 2;
}

bool oneClaimForARange() {
    const std::vector<int> samples{1, 2, 3, 4, 5};
    sluice::MpscRing<int, 4> ring;
    const auto pushed = ring.tryPushAll(samples.begin(), samples.end());  // 4: the fifth stays
    return pushed == 4 && ring.sizeApprox() == 4;
}

std::size_t fill(short* samples, std::size_t count) {
    std::fill_n(samples, count, short{7});
    return count;
}
std::size_t play(const short* samples, std::size_t count) {
    return static_cast<std::size_t>(std::count(samples, samples + count, 7));
}

bool blocksOfSamples() {
    sluice::SpscRing<short, 1024> audio;

    std::size_t written = 0;  // the producer
    for (const sluice::Span<short>& span : audio.writable(256)) {
        written += fill(span.data, span.size);
    }
    audio.commit(written);

    std::size_t played = 0;  // the consumer
    for (const sluice::Span<short>& span : audio.readable()) {
        played += play(span.data, span.size);
    }
    audio.release(played);
    return written == 256 && played == 256 && audio.sizeApprox() == 0;
}

bool manyRings() {
    std::deque<sluice::SpscRing<int, sluice::dynamicCapacity>> growing;
    growing.emplace_back(64);                         // a deque does not move its elements
    std::vector<sluice::SpscRing<int, 64>> fixed(4);  // neither does a vector that never grows
    std::vector<std::unique_ptr<sluice::SpscRing<int, 64>>> owned;

    owned.push_back(std::make_unique<sluice::SpscRing<int, 64>>());
    return fixed[3].capacity() == growing[0].capacity() && owned[0]->capacity() == 64;
}

#if defined(__linux__)
struct SharedPlatform : sluice::StdPlatform {
    using Fence = sluice::PortableFence;
};
struct SharedTraits : sluice::QueueTraits {
    using Platform = SharedPlatform;
};
using SharedRing = sluice::SpscRing<Reading, 256, SharedTraits>;
static_assert(sluice::isSharedMemoryReady<SharedRing>);

bool betweenProcesses() {
    void* const memory = mmap(nullptr, sizeof(SharedRing), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* const ring = new (memory) SharedRing;
    if (fork() == 0) {
        const bool accepted = ring->tryPush(Reading{1, 20}) == sluice::SendResult::ok;
        ring->close();
        _exit(accepted ? 0 : 1);
    }
    int sum = 0;
    while (!ring->isDrained()) {  // a queue in shared memory is polled
        ring->consume([&](const Reading& reading) { sum += reading.value; });
    }
    munmap(memory, sizeof(SharedRing));
    return sum == 20;
}
#else
bool betweenProcesses() {
    return true;
}
#endif

bool theLastThree() {
    sluice::OverwriteRing<Reading, 3> recent;
    for (std::uint64_t time = 0; time < 5; ++time) {
        (void)recent.tryPush(Reading{time, 20});  // any thread; the result is `ok` or `closed`
    }
    std::uint64_t oldest = 0;
    recent.consume([&](const Reading& reading) { oldest = reading.time; }, 1);  // 2
    const auto lost = recent.dropped();                                         // 2
    return oldest == 2 && lost == 2;
}

bool onlyTheNewest() {
    sluice::Latest<Reading, 2> latest;  // at most two threads write at the same moment

    bool isWritten = latest.set(Reading{1, 20});
    isWritten = latest.set(Reading{2, 21}) && isWritten;  // overwrites the first one

    const Reading* newest = latest.update();  // by the reader: Reading{2, 21}
    return isWritten && newest != nullptr && newest->value == 21 && !latest.hasNew();
}

bool inPlace() {
    struct Frame {
        int length;
        unsigned char bytes[1500];
    };
    sluice::SpscRing<Frame, 8> frames;

    if (auto slot = frames.tryReserve()) {
        Frame& frame = slot.emplace();  // filled where the consumer will read it
        frame.length = 1;
        frame.bytes[0] = 42;
        slot.commit();  // without it, nothing has happened
    }

    int first = 0;
    frames.consume([&](const Frame& frame) { first = frame.bytes[0]; });
    return first == 42;
}

bool waiting() {
    using namespace std::chrono_literals;
    sluice::BlockingQueue<sluice::MpscRing<int, 64>, sluice::BusySpin, sluice::NoPacing> eager;
    const bool nothingCame = !eager.popFor(1ms).has_value();
    eager.close();
    return nothingCame && !eager.pop().has_value();
}

struct Order {
    int pieces;
};
void show(const Reading&) {
}

bool severalSources() {
    using namespace std::chrono_literals;
    using Clock = sluice::WaitSet::Clock;
    sluice::WaitSet set;  // destroyed after its sources
    sluice::BlockingQueue<sluice::SpscRing<Order, 64>, sluice::WaitSet::Member> orders;
    sluice::BlockingQueue<sluice::MpscRing<Reading, 64>, sluice::WaitSet::Member> readings;

    int sold = 0;
    const auto sell = [&](const Order& order) { sold += order.pieces; };
    const auto fromOrders = set.add(orders, [&] { return orders.tryConsume(sell, 16); });
    set.add(readings, [&] { return readings.tryConsume(show, 16); });
    const auto heartbeat = set.addTimer(
        Clock::now(), [] { std::puts("alive"); }, 100ms);

    std::thread customer([&] {
        (void)orders.push(Order{3});
        orders.close();
        readings.close();
    });
    while (set.size() > 1) {  // the heartbeat does not end
        const sluice::WaitSet::Ready ready = set.wait();
        if (ready.source == fromOrders && ready.isOver) {
            std::puts("no more orders");
        }
    }
    set.remove(heartbeat);
    customer.join();

    sluice::Latest<int, 1> price;
    set.add([&] { return price.hasNew() && price.update() != nullptr; });
    std::thread market([&] {
        (void)price.set(101);
        set.notify();
    });
    const bool isFound = bool(set.waitFor(10s));
    market.join();
    return isFound && sold == 3;
}

bool inBatches() {
    using namespace std::chrono_literals;
    sluice::BlockingQueue<sluice::MpscRing<Reading, 256>> readings;
    std::thread sensor([&] {
        for (std::uint64_t time = 0; time < 100; ++time) {
            (void)readings.push(Reading{time, 20});
        }
        readings.close();
    });

    std::vector<Reading> block;
    std::size_t written = 0;
    const auto keep = [&](const Reading& reading) { block.push_back(reading); };
    while (readings.consumeBatch(64, 10ms, keep) != 0) {
        written += block.size();  // one write for the whole block
        block.clear();
    }
    sensor.join();
    return written == 100;
}

#if defined(__linux__)
bool closedBySignal() {
    sluice::BlockingQueue<sluice::MpscRing<int, 64>> queue;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // the threads that start later inherit this

    std::thread closer([&] {
        int signal = 0;
        sigwait(&signals, &signal);
        queue.close();  // no handler runs here, so each function may be called
    });
    const bool isAccepted = queue.push(1) == sluice::SendResult::ok;
    kill(getpid(), SIGTERM);  // an operator would do it
    int sum = 0;
    while (queue.consume([&](int value) { sum += value; }) != 0) {
    }
    closer.join();
    return isAccepted && sum == 1;
}
#else
bool closedBySignal() {
    return true;
}
#endif

}  // namespace

int main() {
    const bool good = results() && oneLanePerThread() && ordered() && severalConsumers() &&
                      severalConsumersOfLanes() && oneClaimForABatch() && oneClaimForARange() &&
                      blocksOfSamples() && manyRings() && betweenProcesses() && theLastThree() &&
                      onlyTheNewest() && inPlace() && waiting() && severalSources() &&
                      inBatches() && closedBySignal();
    return good ? 0 : 1;
}
