#pragma once

/// \file
/// The way in which every subject waits while its queue is full or empty.

#include <sluice/base/platform.hpp>

#include <thread>

namespace sluice::bench {

/// One step of waiting. Threads spin if each has a CPU of its own. Otherwise all threads of the
/// round yield, because a spinning thread would keep the awaited thread from running.
class Idle {
public:
    explicit Idle(bool yields) noexcept : yields_(yields) {}

    void operator()() const noexcept {
        if (yields_) {
            std::this_thread::yield();
        } else {
            cpuPause();
        }
    }

private:
    bool yields_;
};

}  // namespace sluice::bench
