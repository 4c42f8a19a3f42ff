#pragma once

#include <sluice/base/spin_lock.hpp>

#include <atomic>

namespace sluice::test {

/// Lets two threads go on at nearly the same time, any number of times.
///
/// A thread's writes before arrive() are visible to the other thread after arrive().
class Rendezvous {
public:
    void arrive() {
        // Acquire: pairs with the release by the second thread.
        const unsigned round = round_.load(std::memory_order_acquire);
        // Acquire and release: the second thread sees the writes of the first one.
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) == 1) {
            // Relaxed: the next line releases it.
            arrived_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            return;
        }
        Backoff backoff;
        while (round_.load(std::memory_order_acquire) == round) {
            backoff.wait();
        }
    }

private:
    std::atomic<unsigned> arrived_{0};
    std::atomic<unsigned> round_{0};
};

}  // namespace sluice::test
