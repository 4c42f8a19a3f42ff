#pragma once

#include "memory.hpp"
#include "scheduler.hpp"
#include "search.hpp"
#include "site.hpp"
#include "trace.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>

namespace sluice::model {

/// One run of a scenario: carries out the operations of the platform's atomics, cells and fences.
///
/// Before each operation the schedule may switch threads. Then the operation is one step of the
/// running thread. A failure ends the execution at once, without unwinding.
class Execution {
public:
    Execution(Search& search, Strands& strands, const Weakening* weakening)
        : search_(search), scheduler_(search, strands), weakening_(weakening) {
        scheduler_.onStuck = [this] { failStuck(); };
        scheduler_.memoryAtEnd = [this] {
            record(Action::end);
            return memory_.hash();
        };
    }
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

    void run(const std::function<void()>& scenario) {
        memory_.clear();
        trace_.clear();
        fenceUsers_ = 0;
        scheduler_.run(scenario);
    }

    bool hasFailed() const noexcept { return scheduler_.hasStopped(); }

    /// Whether a limit of the checker ended the execution, which tells nothing about the scenario.
    bool hasReachedLimit() const noexcept { return hasReachedLimit_; }
    const std::string& failure() const noexcept { return failure_; }
    const Trace& trace() const noexcept { return trace_; }

    /// Ends the execution; does not return.
    [[noreturn]] void fail(std::string what) {
        failure_ = std::move(what);
        scheduler_.stop();
        std::abort();  // nothing resumes a thread that has failed
    }

    /// Ends the execution at a limit of the checker; does not return.
    [[noreturn]] void giveUp(std::string limit) {
        hasReachedLimit_ = true;
        fail(std::move(limit));
    }

    // Threads ------------------------------------------------------------------------------------

    /// An address that is different for each thread of the execution.
    const void* thisThread() noexcept { return &scheduler_.self(); }

    std::size_t threadNumber() const noexcept { return scheduler_.selfIndex() + 1; }
    bool& runsHandlers() noexcept { return scheduler_.self().runsHandlers; }

    void launch(std::function<void()> body) {
        if (!scheduler_.canStartAnother()) {
            giveUp("too many threads: raise maxThreads");
        }
        tick();
        scheduler_.launch(std::move(body));
    }
    void offer() { scheduler_.offer(memory_.hash()); }
    void join() { orStuck(scheduler_.join(memory_.hash())); }

    void rest() {
        if (!scheduler_.self().isIdle) {
            record(Action::rest);
        }
        orStuck(scheduler_.rest(memory_.hash()));
    }

    std::int64_t milliseconds() noexcept {
        scheduler_.self().isIdle = false;
        return scheduler_.milliseconds();
    }

    /// As a futex: one step compares the newest value and falls asleep. May wake without a reason.
    template <class StillWaiting>
    void sleep(LocationId id, StillWaiting stillWaiting, const std::int64_t* limit, Site site) {
        step(id);
        const Memory::Location& location = memory_[id];
        ModelThread& self = scheduler_.self();
        self.hash = mix(self.hash, location.stores.back().hash);
        if (!stillWaiting(location.stores.back().value) || chooseWeak(2) != 0) {
            return;
        }
        record(Action::sleep, id, std::memory_order_relaxed, 0, 0, site);
        orStuck(scheduler_.sleep(location.key, limit != nullptr, memory_.hash()));
        if (scheduler_.self().isLate) {
            scheduler_.passTime(*limit);
        }
    }

    void wake(LocationId id, Site site) {
        step(id);
        record(Action::wake, id, std::memory_order_relaxed, 0, 0, site);
        scheduler_.wake(memory_[id].key);
    }

    void wakeOne(LocationId id, Site site) {
        step(id);
        record(Action::wake, id, std::memory_order_relaxed, 0, 0, site);
        scheduler_.wakeOne(memory_[id].key, memory_.hash());
    }

    // Atomics ------------------------------------------------------------------------------------

    LocationId create(Word value) {
        if (memory_.isFull()) {
            giveUp("too many atomics: raise maxLocations");
        }
        ModelThread& self = tick();
        const std::uint64_t key = mix(scheduler_.running() + 1, ++self.locationCount);
        const LocationId id =
            memory_.create(scheduler_.running(), key, search_.isShared(key), value, self.now);
        record(Action::create, id, std::memory_order_relaxed, value);
        return id;
    }

    void destroy(LocationId id) {
        step(id);
        Memory::Location& location = memory_[id];
        record(Action::destroy, id);
        const std::size_t other = memory_.unorderedAccess(location, scheduler_.self().now);
        if (other != maxThreads) {
            fail("an atomic is destroyed, and nothing orders that after an access of T" +
                 std::to_string(other));
        }
        location.isAlive = false;
    }

    Word load(LocationId id, std::memory_order order, Site site) {
        order = weakened(site, Action::load, order);
        step(id);
        const std::size_t newest = memory_[id].stores.size() - 1;
        const std::size_t oldest = memory_.oldestVisible(id, scheduler_.self().now, order);
        const std::size_t age = chooseWeak(newest - oldest + 1);
        return read(Action::load, id, newest - age, order, site);
    }

    void store(LocationId id, Word value, std::memory_order order, Site site) {
        order = weakened(site, Action::store, order);
        step(id);
        write(Action::store, id, value, order, site);
    }

    /// A read-modify-write: returns the previous value.
    template <class Change>
    Word update(LocationId id, Change change, std::memory_order order, Site site) {
        order = weakened(site, Action::update, order);
        step(id);
        const Word before = readNewest(id, order);
        write(Action::update, id, change(before), order, site);
        return before;
    }

    bool compareExchange(LocationId id, Word& expected, Word desired, bool isWeak,
                         std::memory_order success, std::memory_order failure, Site site) {
        success = weakened(site, Action::update, success);
        failure = weakened(site, Action::failedCompare, failure);
        step(id);
        const std::size_t newest = memory_[id].stores.size() - 1;
        const std::size_t oldest = memory_.oldestVisible(id, scheduler_.self().now, failure);
        const bool canSucceed = memory_[id].stores[newest].value == expected;
        // The ways to go on. The first reads the newest store. A weak exchange may fail although it
        // finds the expected value. A failing exchange may read an older store with another value.
        std::array<std::size_t, maxWays> ways{};
        std::size_t count = 0;
        ways[count++] = newest;
        if (isWeak && canSucceed) {
            ways[count++] = newest;
        }
        for (std::size_t i = newest; i-- > oldest && count < maxWays;) {
            if (memory_[id].stores[i].value != expected) {
                ways[count++] = i;
            }
        }
        const std::size_t way = chooseWeak(count);
        if (way == 0 && canSucceed) {
            (void)readNewest(id, success);
            write(Action::update, id, desired, success, site);
            return true;
        }
        expected = read(Action::failedCompare, id, ways[way], failure, site);
        return false;
    }

    // Fences -------------------------------------------------------------------------------------

    void fence(Action kind, Site site) {
        if (weakening_ != nullptr && weakening_->appliesTo(site, kind, std::memory_order_seq_cst)) {
            return;
        }
        noteSite(site, kind, std::memory_order_seq_cst);
        if (search_.isShared(fenceKey)) {
            scheduler_.preemptionPoint(memory_.hash());
        }
        learnShared(fenceKey, fenceUsers_, true);
        ModelThread& self = tick();
        memory_.fence(kind, self.now);
        self.hash = mix(self.hash, memory_.ordered(self.hash));
        record(kind, 0, std::memory_order_seq_cst, 0, 0, site);
    }

    // Plain objects ------------------------------------------------------------------------------

    std::size_t createPlain() { return memory_.createPlain(scheduler_.running(), tick().now); }

    /// Checks that no other access races with this access.
    void accessPlain(std::size_t id, bool writes, Site site) {
        if (id >= memory_.plainCount()) {
            fail("a cell of another execution: do not keep cells outside the scenario");
        }
        record(writes ? Action::writeCell : Action::readCell, id, std::memory_order_relaxed, 0, 0,
               site);
        const std::size_t other = memory_.access(id, writes, scheduler_.running(), tick().now);
        if (other != maxThreads) {
            fail("data race: T" + std::to_string(scheduler_.running()) +
                 (writes ? " writes" : " reads") + " c" + std::to_string(id) +
                 ", and nothing orders that after an access of T" + std::to_string(other));
        }
    }

    bool& holdsObject(std::size_t plain) noexcept { return memory_.plain(plain).holdsObject; }

    /// Called once for each place in the code under test that passes an order.
    std::function<void(const Site&, Action, std::memory_order)> onSite;

private:
    static constexpr std::size_t maxSteps = 5000;
    static constexpr std::size_t maxWays = 8;
    static constexpr std::uint64_t fenceKey = 0;

    ModelThread& tick() noexcept {
        ModelThread& self = scheduler_.self();
        ++self.now.clock[scheduler_.running()];
        self.isIdle = false;
        return self;
    }

    /// Each operation on an atomic begins with it.
    void step(LocationId id) {
        if (id >= memory_.locationCount() || !memory_[id].isAlive) {
            fail("an atomic is used after its end");
        }
        if (memory_[id].isShared) {
            scheduler_.preemptionPoint(memory_.hash());
        }
        const ModelThread& self = tick();
        Memory::Location& location = memory_[id];
        if (!location.isAlive) {
            fail("an atomic is used after its end");
        }
        if (!memory_.isCreatedBefore(location, self.now)) {
            fail("an atomic is used, and nothing orders that after its construction by T" +
                 std::to_string(location.creator));
        }
        const std::size_t running = scheduler_.running();
        location.lastAccess[running] = self.now.clock[running];
    }

    void learnShared(Memory::Location& location) {
        if (!location.isShared) {
            learnShared(location.key, location.concurrentUsers, location.concurrentlyWritten);
        }
    }

    void learnShared(std::uint64_t key, std::uint8_t& users, bool isWritten) {
        if (scheduler_.isConcurrent()) {
            users = static_cast<std::uint8_t>(users | (1U << scheduler_.running()));
            if (isWritten && (users & (users - 1U)) != 0) {
                search_.learnShared(key);
            }
        }
    }

    /// Chooses one of several ways to go on. The first way is free.
    std::size_t chooseWeak(std::size_t options) {
        if (search_.left.weakSteps == 0) {
            return 0;
        }
        const std::size_t choice =
            scheduler_.choose(Scheduler::Choice::weakStep, options, memory_.hash());
        search_.left.weakSteps -= choice == 0 ? 0 : 1;
        return choice;
    }

    Word read(Action action, LocationId id, std::size_t index, std::memory_order order, Site site) {
        ModelThread& self = scheduler_.self();
        Memory::Location& location = memory_[id];
        learnShared(location);
        const Memory::Store& store = memory_.read(id, index, order, self.now);
        self.hash = mix(self.hash, mix(location.key, store.hash));
        if (order == std::memory_order_seq_cst) {
            self.hash = mix(self.hash, memory_.ordered(self.hash));
        }
        record(action, id, order, store.value, location.stores.size() - 1 - index, site);
        return store.value;
    }

    Word readNewest(LocationId id, std::memory_order order) {
        ModelThread& self = scheduler_.self();
        const Memory::Store& store =
            memory_.read(id, memory_[id].stores.size() - 1, order, self.now);
        self.hash = mix(self.hash, mix(memory_[id].key, store.hash));
        return store.value;
    }

    void write(Action action, LocationId id, Word value, std::memory_order order, Site site) {
        ModelThread& self = scheduler_.self();
        Memory::Location& location = memory_[id];
        location.concurrentlyWritten = location.concurrentlyWritten || scheduler_.isConcurrent();
        learnShared(location);
        if (order == std::memory_order_seq_cst) {
            self.hash = mix(self.hash, memory_.ordered(self.hash));
        }
        self.hash = mix(self.hash, mix(location.key, 2));
        if (location.stores.back().value != value) {
            scheduler_.countChange();
        }
        memory_.write(id, value, action == Action::update, order, self.now, self.hash);
        record(action, id, order, value, 0, site);
    }

    std::memory_order weakened(const Site& site, Action action, std::memory_order order) {
        if (weakening_ != nullptr && weakening_->appliesTo(site, action, order)) {
            return weakening_->instead;
        }
        noteSite(site, action, order);
        return order;
    }

    void noteSite(const Site& site, Action action, std::memory_order order) {
        if (onSite && order != std::memory_order_relaxed) {
            const auto file = reinterpret_cast<std::uintptr_t>(site.file);
            const auto what = static_cast<std::uint64_t>(action) * 8 + static_cast<unsigned>(order);
            if (knownSites_.insert(mix(mix(file, static_cast<unsigned>(site.line)), what)).second) {
                onSite(site, action, order);
            }
        }
    }

    void record(Action action, std::size_t object = 0,
                std::memory_order order = std::memory_order_relaxed, Word value = 0,
                std::size_t age = 0, Site site = Site{"", "", 0}) {
        if (trace_.size() == maxSteps) {
            giveUp("the execution has more than " + std::to_string(maxSteps) +
                   " steps: a livelock, or a scenario that is too long");
        }
        trace_.add(Event{scheduler_.running(), action, object, order, value, age, site});
    }

    void orStuck(bool wentOn) {
        if (!wentOn) {
            failStuck();
        }
    }

    [[noreturn]] void failStuck() {
        std::string what = "nobody can go on:";
        for (std::size_t t = 0; t < scheduler_.threadCount(); ++t) {
            const ThreadState state = scheduler_.thread(t).state;
            what += " T" + std::to_string(t) +
                    (state == ThreadState::asleep    ? " sleeps"
                     : state == ThreadState::resting ? " polls in vain"
                     : state == ThreadState::joining ? " waits for the others"
                                                     : " has ended") +
                    ";";
        }
        fail(std::move(what));
    }

    Search& search_;
    Scheduler scheduler_;
    const Weakening* weakening_;
    Memory memory_;
    Trace trace_;
    std::string failure_;
    bool hasReachedLimit_ = false;
    std::uint8_t fenceUsers_ = 0;
    std::unordered_set<std::uint64_t> knownSites_;
};

/// The execution that runs now; null outside of explore().
inline Execution* currentExecution = nullptr;

inline Execution& execution() {
    if (currentExecution == nullptr) {
        std::fputs("model: atomics and cells of the model exist only inside explore()\n", stderr);
        std::abort();
    }
    return *currentExecution;
}

}  // namespace sluice::model
