#pragma once

#include "support/crew.hpp"

#include <atomic>

namespace sluice::test {

/// A place where a publisher stops until the test lets it go on.
struct Stop {
    inline static thread_local bool isToStop = false;
    inline static std::atomic<bool> hasStopped{false};
    inline static std::atomic<bool> mayGoOn{false};

    static void pass() noexcept {
        if (isToStop) {
            hasStopped.store(true);
            awaitThat([] { return mayGoOn.load(); });
        }
    }
    /// Starts a publisher that stops there, and returns when it has.
    template <class Publish>
    static void await(Crew& crew, Publish publish) {
        hasStopped.store(false);  // the tests may be repeated in one process
        mayGoOn.store(false);
        crew.add([publish] {
            isToStop = true;
            publish();
        });
        crew.start();
        awaitThat([] { return hasStopped.load(); });
    }
};

}  // namespace sluice::test
