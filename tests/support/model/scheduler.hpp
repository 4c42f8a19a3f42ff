#pragma once

#include "search.hpp"
#include "strands.hpp"
#include "view.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace sluice::model {

enum class ThreadState : std::uint8_t {
    unused,
    ready,
    resting,  // in a pause: it goes on only after something has changed
    asleep,   // until a wake-up or, with a limit, until no other thread can go on
    joining,  // until all others have ended
    ended,
};

/// A thread of the scenario.
struct ModelThread {
    ThreadState state = ThreadState::unused;
    View now;
    std::uint64_t hash = 0;           // of all that the thread has done and learnt
    std::uint64_t locationCount = 0;  // locations that the thread created
    std::uint64_t passedOver = 0;     // choices of other threads since it became ready
    bool runsHandlers = false;        // see StdPlatform
    // Resting:
    std::uint64_t restedAt = 0;   // the number of changes when it began to rest
    std::uint64_t overtakes = 0;  // times that it went on before a ready thread
    bool isIdle = false;          // it has done nothing since the last rest
    // Asleep:
    std::uint64_t bed = 0;  // the location it sleeps on
    bool hasLimit = false;
    bool isLate = false;  // its limit has passed
};

/// Chooses the thread that goes on: at each step of the running thread, and when the running thread
/// cannot go on.
///
/// A switch away from a thread that could go on is a preemption and costs budget. Other switches
/// are free, but fair. Otherwise two threads that wait for a third thread could run for ever. A
/// thread that has rested goes on only after some store has changed a value, and at most twice
/// before a ready thread. A ready thread is passed over at most three times.
class Scheduler {
public:
    Scheduler(Search& search, Strands& strands) : search_(search), strands_(strands) {}

    /// For the explorer: runs `body` as thread 0 until all threads have ended, or until stop().
    void run(std::function<void()> body) {
        threads_ = {};
        count_ = 0;
        activeCount_ = 0;
        changeCount_ = 0;
        idleRounds_ = 0;
        milliseconds_ = 0;
        running_ = 0;
        hasStopped_ = false;
        launch(std::move(body));
        strands_.transfer(Strands::explorer, 0);
        if (!hasStopped_) {
            strands_.collect();
        }
    }

    std::size_t running() const noexcept { return running_; }
    ModelThread& self() noexcept { return threads_[running_]; }
    std::size_t selfIndex() const noexcept { return running_; }
    const ModelThread& thread(std::size_t id) const noexcept { return threads_[id]; }
    std::size_t threadCount() const noexcept { return count_; }

    /// Whether more than one thread has not ended.
    bool isConcurrent() const noexcept { return activeCount_ > 1; }

    bool canStartAnother() const noexcept { return count_ < maxThreads; }

    /// Starts a thread. The caller's earlier steps happen before its body.
    void launch(std::function<void()> body) {
        const std::size_t id = count_++;
        ++activeCount_;
        ModelThread& thread = threads_[id];
        thread = ModelThread{};
        thread.now = self().now;
        thread.state = ThreadState::ready;
        thread.hash = mix(self().hash, id);
        strands_.start(id, std::move(body), [this] { end(); });
    }

    /// Chooses the next thread freely, among all with the caller. Used after threads were launched.
    void offer(std::uint64_t memory) {
        Candidates ready;
        for (std::size_t t = 0; t < count_; ++t) {
            ready.addIf(threads_[t].state == ThreadState::ready, t);
        }
        transferTo(ready.ids[choose(Choice::first, ready.count, memory)]);
    }

    /// Called before a step that others may notice. The walk may switch to another thread here.
    void preemptionPoint(std::uint64_t memory) {
        if (search_.left.preemptions == 0) {
            return;
        }
        Candidates candidates;
        candidates.addIf(true, running_);
        addOthers(candidates);
        const std::size_t choice = choose(Choice::preemption, candidates.count, memory);
        if (choice != 0) {
            --search_.left.preemptions;
            transferTo(candidates.ids[choice]);
        }
    }

    /// A pause in a polling loop. Returns false if no thread can ever do anything else.
    bool rest(std::uint64_t memory) {
        ModelThread& thread = self();
        if (thread.isIdle) {
            return true;  // a longer pause
        }
        thread.isIdle = true;
        thread.state = ThreadState::resting;
        thread.restedAt = changeCount_;
        return giveWay(memory);
    }

    /// Sleeps until a thread wakes this bed. Returns false if no thread can ever go on.
    bool sleep(std::uint64_t bed, bool hasLimit, std::uint64_t memory) {
        ModelThread& thread = self();
        thread.state = ThreadState::asleep;
        thread.bed = bed;
        thread.hasLimit = hasLimit;
        thread.isLate = false;
        return giveWay(memory);
    }

    void wake(std::uint64_t bed) noexcept {
        for (ModelThread& thread : threads_) {
            if (thread.state == ThreadState::asleep && thread.bed == bed) {
                thread.state = ThreadState::ready;
                self().hash = mix(self().hash, thread.hash);
            }
        }
    }

    /// Wakes any one of the threads that sleep there.
    void wakeOne(std::uint64_t bed, std::uint64_t memory) {
        Candidates sleepers;
        for (std::size_t t = 0; t < count_; ++t) {
            sleepers.addIf(threads_[t].state == ThreadState::asleep && threads_[t].bed == bed, t);
        }
        if (sleepers.count != 0) {
            ModelThread& thread =
                threads_[sleepers.ids[choose(Choice::sleeper, sleepers.count, memory)]];
            thread.state = ThreadState::ready;
            self().hash = mix(self().hash, thread.hash);
        }
    }

    /// Thread 0 waits until all other threads have ended. Their steps happen before the return.
    bool join(std::uint64_t memory) {
        if (!haveOthersEnded()) {
            self().state = ThreadState::joining;
            if (!giveWay(memory)) {
                return false;
            }
        }
        for (std::size_t t = 1; t < count_; ++t) {
            self().now.join(threads_[t].now);
            self().hash = mix(self().hash, threads_[t].hash);
        }
        return true;
    }

    void countChange() noexcept {
        ++changeCount_;
        idleRounds_ = 0;
    }

    /// The time passes only while all threads wait.
    std::int64_t milliseconds() const noexcept { return milliseconds_; }
    void passTime(std::int64_t milliseconds) noexcept { milliseconds_ += milliseconds; }

    /// Goes back to the explorer and never returns, because the execution has failed.
    void stop() {
        hasStopped_ = true;
        strands_.transfer(running_, Strands::explorer);
    }
    bool hasStopped() const noexcept { return hasStopped_; }

    /// Called when a thread's end leaves only threads that cannot go on.
    std::function<void()> onStuck;
    /// The hash of the memory when a thread ends.
    std::function<std::uint64_t()> memoryAtEnd;

    /// The kind of a choice. Two choices may follow each other in the same state.
    enum class Choice : std::uint8_t { first, preemption, next, weakStep, sleeper };

    std::size_t choose(Choice what, std::size_t options, std::uint64_t memory) {
        return options < 2
                   ? 0
                   : search_.choose(options, mix(stateHash(memory),
                                                 8 * options + static_cast<unsigned>(what)));
    }

private:
    static constexpr std::uint64_t maxOvertakes = 2;
    static constexpr std::uint64_t maxPassedOver = 3;
    static constexpr int maxIdleRounds = 300;

    struct Candidates {
        std::array<std::size_t, maxThreads> ids{};
        std::size_t count = 0;
        void addIf(bool condition, std::size_t id) noexcept {
            if (condition) {
                ids[count++] = id;
            }
        }
    };

    bool isReady(std::size_t t) const noexcept {
        return threads_[t].state == ThreadState::ready ||
               (threads_[t].state == ThreadState::joining && haveOthersEnded());
    }

    bool isRested(const ModelThread& thread) const noexcept {
        return thread.state == ThreadState::resting && thread.restedAt != changeCount_;
    }

    bool haveOthersEnded() const noexcept {
        for (std::size_t t = 1; t < count_; ++t) {
            if (threads_[t].state != ThreadState::ended) {
                return false;
            }
        }
        return true;
    }

    /// Adds all other threads that may go on: the ready ones, then the rested ones.
    void addOthers(Candidates& candidates) const noexcept {
        bool anyReady = false;
        for (std::size_t i = 1; i < count_; ++i) {
            const std::size_t t = (running_ + i) % count_;
            candidates.addIf(isReady(t), t);
            anyReady = anyReady || isReady(t);
        }
        for (std::size_t i = 1; i < count_; ++i) {
            const std::size_t t = (running_ + i) % count_;
            candidates.addIf(
                isRested(threads_[t]) && (!anyReady || threads_[t].overtakes < maxOvertakes), t);
        }
    }

    /// Called when the running thread cannot go on. Returns false if no thread can go on.
    bool giveWay(std::uint64_t memory) {
        Candidates candidates;
        addOthers(candidates);
        if (candidates.count == 0) {
            addStranded(candidates);
        }
        if (candidates.count == 0) {
            return false;
        }
        keepOnlyOverdue(candidates);
        const std::size_t chosen = candidates.ids[choose(Choice::next, candidates.count, memory)];
        for (std::size_t i = 0; i < candidates.count; ++i) {
            ++threads_[candidates.ids[i]].passedOver;
        }
        transferTo(chosen);
        return true;
    }

    void keepOnlyOverdue(Candidates& candidates) const noexcept {
        for (std::size_t i = 0; i < candidates.count; ++i) {
            const std::size_t t = candidates.ids[i];
            if (isReady(t) && threads_[t].passedOver >= maxPassedOver) {
                candidates.ids[0] = t;
                candidates.count = 1;
            }
        }
    }

    /// Called when all threads wait. Adds the thread whose limit passes. If no limit passes, adds
    /// the thread that rested longest, which may look once more.
    void addStranded(Candidates& candidates) noexcept {
        for (std::size_t i = 1; i <= count_ && candidates.count == 0; ++i) {
            const std::size_t t = (running_ + i) % count_;
            const bool isLate = threads_[t].state == ThreadState::asleep && threads_[t].hasLimit;
            threads_[t].isLate = isLate;
            candidates.addIf(isLate, t);
        }
        for (std::size_t i = 1; i <= count_ && candidates.count == 0; ++i) {
            const std::size_t t = (running_ + i) % count_;
            if (threads_[t].state == ThreadState::resting && ++idleRounds_ < maxIdleRounds) {
                candidates.addIf(true, t);
                passTime(1);
            }
        }
    }

    void transferTo(std::size_t id) {
        ModelThread& target = threads_[id];
        if (target.state == ThreadState::resting && anyReadyBut(id)) {
            ++target.overtakes;
        }
        target.state = ThreadState::ready;
        target.passedOver = 0;
        const std::size_t from = std::exchange(running_, id);
        if (from == id) {
            return;
        }
        if (threads_[from].state == ThreadState::ended) {
            strands_.leave(from, id);
        } else {
            strands_.transfer(from, id);
        }
    }

    bool anyReadyBut(std::size_t id) const noexcept {
        for (std::size_t t = 0; t < count_; ++t) {
            if (t != id && isReady(t)) {
                return true;
            }
        }
        return false;
    }

    /// Ends the running thread.
    void end() {
        self().state = ThreadState::ended;
        --activeCount_;
        idleRounds_ = 0;
        if (running_ == 0) {
            strands_.leave(0, Strands::explorer);
        } else if (!giveWay(memoryAtEnd())) {
            onStuck();
        }
    }

    std::uint64_t stateHash(std::uint64_t memory) const noexcept {
        std::uint64_t hash = mix(memory, running_);
        hash = mix(hash, static_cast<std::uint64_t>(milliseconds_));
        for (std::size_t t = 0; t < count_; ++t) {
            const ModelThread& thread = threads_[t];
            const auto state = static_cast<std::uint64_t>(thread.state);
            const std::uint64_t fairness = thread.overtakes + 8 * thread.passedOver;
            hash = mix(hash, thread.hash);
            hash = mix(hash, thread.now.clock[t]);
            hash = mix(hash, state | (isRested(thread) ? 8U : 0U) | (fairness << 4U));
        }
        return hash;
    }

    Search& search_;
    Strands& strands_;
    std::array<ModelThread, maxThreads> threads_;
    std::size_t count_ = 0;
    std::size_t activeCount_ = 0;
    std::size_t running_ = 0;
    std::uint64_t changeCount_ = 0;
    int idleRounds_ = 0;
    std::int64_t milliseconds_ = 0;
    bool hasStopped_ = false;
};

}  // namespace sluice::model
