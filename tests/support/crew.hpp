#pragma once

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::test {

/// Threads of a test that begin together and are joined at the end of the scope.
///
/// Threads wait at a gate until start() or the destructor, so that they run at the same time.
class Crew {
public:
    Crew() = default;
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew() { join(); }

    template <class Work>
    void add(Work work) {
        threads_.emplace_back([this, work = std::move(work)]() mutable {
            while (!started_.load(std::memory_order_acquire)) {
                std::this_thread::yield();
            }
            work();
        });
    }

    void start() noexcept { started_.store(true, std::memory_order_release); }

    /// Opens the gate and returns when all threads have ended.
    void join() {
        start();
        for (std::thread& thread : threads_) {
            thread.join();
        }
        threads_.clear();
    }

private:
    std::atomic<bool> started_{false};
    std::vector<std::thread> threads_;
};

/// Polls until condition() is true, and yields between polls. A Watchdog ends an endless wait.
template <class Condition>
void awaitThat(Condition condition) {
    while (!condition()) {
        std::this_thread::yield();
    }
}

}  // namespace sluice::test
