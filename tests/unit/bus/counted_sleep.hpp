#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/wait/park.hpp>

#include <atomic>
#include <chrono>

namespace sluice::test {

/// Counts the threads that sleep, and how they are woken.
class CountingParker : public DefaultParker {
public:
    template <class Word, class StillWaiting>
    void park(const Word& word, StillWaiting stillWaiting, std::chrono::nanoseconds atMost) {
        bool isAsleep = false;
        DefaultParker::park(word, counted(stillWaiting, isAsleep), atMost);
        asleep -= isAsleep ? 1 : 0;
    }
    template <class Word>
    void unparkAll(const Word& word) {
        ++wakesOfAll;
        DefaultParker::unparkAll(word);
    }
    template <class Word>
    void unparkOne(const Word& word) {
        ++wakesOfOne;
        DefaultParker::unparkOne(word);
    }

    inline static std::atomic<int> asleep{0};
    inline static std::atomic<int> sleeps{0};
    inline static std::atomic<int> wakesOfAll{0};
    inline static std::atomic<int> wakesOfOne{0};

private:
    template <class StillWaiting>
    static auto counted(StillWaiting& stillWaiting, bool& isAsleep) {
        return [&](auto seen) {
            isAsleep = stillWaiting(seen);
            asleep += isAsleep ? 1 : 0;
            sleeps += isAsleep ? 1 : 0;
            return isAsleep;
        };
    }
};
struct CountedSleep : BasicPark<StdPlatform, CountingParker> {
    CountedSleep() : BasicPark(Options{0, 0}) {}
};

}  // namespace sluice::test
