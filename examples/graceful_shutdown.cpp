// A service that ends well: SIGTERM closes the bus, messages that were accepted are handled until a
// deadline, the rest is discarded, and the accounts show that none is missing.

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

Jobs bus;  // hundreds of KiB, so not on the stack
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
    std::thread consumer([] { bus.run(); });
    std::vector<std::thread> workers;
    for (int i = 0; i < 3; ++i) {
        workers.emplace_back(work);
    }

    int signal = 0;
    sigwait(&signals, &signal);
    std::printf("signal %d: closing\n", signal);

    if (!bus.drain(std::chrono::steady_clock::now() + 10s)) {  // closes, then waits
        bus.stop();  // the handler that runs returns; the other messages are discarded
    }
    for (std::thread& worker : workers) {
        worker.join();
    }
    consumer.join();

    const auto total = bus.statistics().total();
    std::printf("%llu accepted, %llu delivered, %llu discarded\n",
                static_cast<unsigned long long>(total.published),
                static_cast<unsigned long long>(total.delivered),
                static_cast<unsigned long long>(total.discarded));
    return total.published == total.delivered + total.discarded && total.delivered == handled ? 0
                                                                                              : 1;
}
