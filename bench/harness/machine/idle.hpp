#pragma once

/// \file
/// The one way of waiting that every subject gets, when its queue is full and when it is empty.

#include <sluice/base/pause.hpp>

#include <thread>

namespace sluice::bench {

/// One step of waiting. Threads that have a CPU of their own spin; as soon as any two threads of a
/// round share a CPU all of them yield, because a spinning thread would only keep the one it waits
/// for from running.
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
