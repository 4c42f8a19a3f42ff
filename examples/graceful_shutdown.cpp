// A service that ends well: SIGTERM closes the bus, messages that were accepted are handled until a
// deadline, and the accounts show that none is missing.

#include <sluice/bus.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace std::chrono_literals;

struct Job {
    int number;
};
using Jobs = sluice::Bus<sluice::Messages<Job>>;

Jobs bus;  // a quarter of a MiB, so not on the stack

/// Publishes until the bus refuses for good.
void work() {
    for (int i = 0;; ++i) {
        const auto result = bus.publish(Job{i});
        if (result == sluice::SendResult::closed) {
            return;
        }
        if (result != sluice::SendResult::ok) {
            std::this_thread::yield();  // full: this job is dropped, and the bus counts it
        }
    }
}

}  // namespace

int main() {
    // Blocked before any thread starts, so that all threads have them blocked: sigwait() gets them.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);

    unsigned long long handled = 0;
    const auto subscription = bus.subscribe<Job>([&](const Job& job) {
        if (++handled == 10'000) {
            kill(getpid(), SIGTERM);  // this example ends itself; an operator would do it
        }
        (void)job;
    });
    std::thread consumer([] { bus.run(); });  // returns when the bus is closed and empty
    std::vector<std::thread> workers;
    for (int i = 0; i < 3; ++i) {
        workers.emplace_back(work);
    }

    int signal = 0;
    sigwait(&signals, &signal);
    std::printf("signal %d: closing\n", signal);

    const bool inTime = bus.drain(std::chrono::steady_clock::now() + 10s);  // closes, then waits
    for (std::thread& worker : workers) {
        worker.join();
    }
    consumer.join();

    const auto total = bus.statistics().total();
    std::printf("%s: %llu accepted, %llu delivered, %llu left\n",
                inTime ? "drained" : "the deadline came first",
                static_cast<unsigned long long>(total.published),
                static_cast<unsigned long long>(total.delivered),
                static_cast<unsigned long long>(total.queued()));
    return inTime && total.published == total.delivered && total.delivered == handled ? 0 : 1;
}
