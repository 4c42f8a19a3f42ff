#pragma once

#include "support/crew.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include <atomic>
#include <cstdint>

namespace sluice::test {

/// Stops threads with `stops` between stamp and publication, until `mayGoOn` is set.
struct StoppingClock : log::detail::StampClock {
    inline static thread_local bool stops = false;
    inline static std::atomic<bool> isStopped{false};
    inline static std::atomic<bool> mayGoOn{false};

    template <class Word>
    static log::detail::Stamp announceThenNow(Word& word, std::uint64_t value) noexcept {
        const log::detail::Stamp stamp = log::detail::StampClock::announceThenNow(word, value);
        if (stops) {
            isStopped = true;
            awaitThat([] { return mayGoOn.load(); });
        }
        return stamp;
    }
};
struct StoppingTraits : log::detail::RecordQueueTraits {
    using Clock = StoppingClock;
};

}  // namespace sluice::test
