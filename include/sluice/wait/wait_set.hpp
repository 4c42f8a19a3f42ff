#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/wait/park.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <type_traits>
#include <utility>

namespace sluice {

/// Lets one thread wait for several queues, buses and timers. The thread polls its sources in turn,
/// so a busy source cannot starve others.
///
///     sluice::WaitSet set;  // destroyed after its sources
///     sluice::BlockingQueue<sluice::SpscRing<Order, 64>, sluice::WaitSet::Member> orders;
///     sluice::BlockingQueue<sluice::MpscRing<Tick, 64>, sluice::WaitSet::Member> ticks;
///     set.add(orders, [&] { return orders.tryConsume(trade, 16); });
///     set.add(ticks, [&] { return ticks.tryConsume(show, 16); });
///     while (set.wait()) {  // until both are closed and drained
///     }
///
/// A poll function should handle a limited number of messages. A poll function returns false or 0
/// if its source was empty. Use EventFdWait if the thread also waits for sockets.
///
/// Thread safety: any thread may call notify(). Only one thread at a time may call other members or
/// destroy a source. A poll function may call all members except the wait functions.
///
/// Errors: an exception thrown by a poll function ends the wait and propagates.
///
/// Performance: a set adds two loads and a fence to each notification of a source. add() allocates.
template <class Platform = StdPlatform, class Parker = DefaultParker>
class BasicWaitSet {
public:
    using Clock = typename Platform::Clock;
    using Options = typename BasicPark<Platform, Parker>::Options;
    class Member;

    /// The number of a source, counted from 0 in order of addition.
    using Source = std::size_t;
    static constexpr Source none = static_cast<Source>(-1);

    struct Ready {
        Source source = none;
        /// True if the source has left the set, as drained queues and single-shot timers do.
        bool isOver = false;

        explicit operator bool() const noexcept { return source != none; }
    };

    explicit BasicWaitSet(const Options& options = Options()) : park_(options) {}
    ~BasicWaitSet() {
        std::list<Entry>().swap(entries_);  // destroys sources that poll functions own
        SLUICE_ASSERT(members_ == 0, "destroy the sources of a WaitSet before the WaitSet");
    }

    /// Adds a bus, an EventQueue or a BlockingQueue whose wait strategy is a Member.
    template <class Queue, class Poll>
    Source add(Queue& queue, Poll poll) {
        static_assert(std::is_convertible_v<decltype(queue.waiting()), Member&>,
                      "WaitSet::add(): the wait strategy of a source is WaitSet::Member");
        queue.waiting().join(*this);
        return addEntry(
            &queue.waiting(), [&queue, poll = std::move(poll)](const Entry& entry) mutable {
                return hasSome(queue, 0) && poll() ? Turn::worked
                       : entry.isGone      ? Turn::idle  // the poll may have destroyed the queue
                       : queue.isDrained() ? Turn::last
                                           : Turn::idle;
            });
    }

    /// Adds a source without a wait strategy, such as a Latest. Call notify() after each change.
    template <class Poll>
    Source add(Poll poll) {
        return addEntry(nullptr, [poll = std::move(poll)](const Entry&) mutable {
            return poll() ? Turn::worked : Turn::idle;
        });
    }

    /// Calls action() at `due` and then once per period, but skips missed calls. A timer with
    /// period 0 leaves the set after its call.
    template <class Action>
    Source addTimer(typename Clock::time_point due, Action action,
                    typename Clock::duration period = Clock::duration::zero()) {
        if (period < period.zero()) {
            setupError("WaitSet: ticks of a period below zero",
                       0ULL - static_cast<unsigned long long>(period.count()), 0);
        }
        const auto call = [action = std::move(action)](const Entry&) mutable {
            return static_cast<void>(action()), Turn::worked;
        };
        return addEntry(nullptr, call, std::max(due, always + typename Clock::duration(1)), period);
    }

    /// Removes a source or timer if it is still in the set. The next wait or the set's destructor
    /// destroys the source's poll function.
    void remove(Source source) noexcept {
        removeIf([source](const Entry& entry) { return entry.source == source; });
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Waits until a poll succeeds. Returns an empty Ready if the set is empty or a time limit
    /// passes.
    Ready wait() { return waitUntil(Clock::time_point::max()); }
    template <class Rep, class Period>
    Ready waitFor(std::chrono::duration<Rep, Period> atMost) {
        return waitUntil(deadlineAfter<Clock>(atMost));
    }
    Ready waitUntil(typename Clock::time_point deadline) {
        const typename RoleCheck::Scope waiter(waiterRole_, "a second thread, or a poll, waits");
        Ready found;
        for (;;) {
            const auto limit = std::min(deadline, nextDue());
            const auto isReady = [&] {
                found = pollNext();
                return found || size_ == 0 || nextDue() < limit;  // a poll may have set a timer
            };
            const bool inTime = park_.waitUntil(isReady, limit);
            if (found || size_ == 0 || (!inTime && limit == deadline)) {
                return found;
            }
        }
    }

    /// Makes the waiting thread poll all sources of the set.
    void notify() noexcept { park_.notifyAll(); }

private:
    // Happens-before edges in addition to Park's (proof: docs/algorithms/parking.md):
    //   E1 join: wait <-> notify.
    //   E2 set: join -> notify.

    using RoleCheck = sluice::RoleCheck<Platform>;
    enum class Turn { idle, worked, last };

    static constexpr auto always = Clock::time_point::min();

    struct Entry {
        Source source;
        Member* member;
        std::function<Turn(const Entry&)> poll;
        typename Clock::time_point due;  ///< `always` unless the source is a timer
        typename Clock::duration period;
        bool isGone = false;  ///< the next scan erases the entry, which may be polling now
    };

    template <class Queue>
    static auto hasSome(Queue& queue, int) -> decltype(queue.waitFor(std::chrono::seconds(0))) {
        return queue.waitFor(std::chrono::seconds(0));  // unlike poll(), does not notify the set
    }
    template <class Queue>
    static bool hasSome(Queue&, long) noexcept {
        return true;
    }

    Source addEntry(Member* member, std::function<Turn(const Entry&)> poll,
                    typename Clock::time_point due = always,
                    typename Clock::duration period = Clock::duration::zero()) {
        entries_.push_back({next_, member, std::move(poll), due, period});
        ++size_;
        return next_++;
    }

    template <class Which>
    void removeIf(const Which& which) noexcept {
        for (Entry& entry : entries_) {
            if (!entry.isGone && which(entry)) {
                entry.isGone = true;
                --size_;
            }
        }
    }

    Ready pollNext() {
        for (std::size_t left = entries_.size(); left != 0; --left) {
            const auto entry = entries_.begin();
            entries_.splice(entries_.end(), entries_, entry);
            if (entry->isGone) {
                entries_.erase(entry);
            } else if (const Turn turn = pollOne(*entry); turn != Turn::idle) {
                if (turn == Turn::last) {
                    remove(entry->source);
                }
                return {entry->source, entry->isGone};
            }
        }
        return {};
    }

    Turn pollOne(Entry& entry) {
        if (entry.due != always) {
            const auto now = Clock::now();
            if (now < entry.due) {
                return Turn::idle;
            }
            if (entry.period == entry.period.zero()) {
                remove(entry.source);  // before action(), which may throw
            }
            const auto next = deadlineAfter(entry.due, entry.period);
            entry.due = next > now ? next : deadlineAfter(now, entry.period);
        }
        return entry.poll(entry);
    }

    [[nodiscard]] typename Clock::time_point nextDue() const noexcept {
        auto first = Clock::time_point::max();
        for (const Entry& entry : entries_) {
            first = entry.due == always || entry.isGone ? first : std::min(first, entry.due);
        }
        return first;
    }

    BasicPark<Platform, Parker> park_;
    std::list<Entry> entries_;
    std::size_t size_ = 0;  // entries whose isGone is false
    Source next_ = 0;
    std::size_t members_ = 0;  // Members that have joined and still exist
    RoleCheck waiterRole_;
};

/// The wait strategy of a source: a Park whose notifications also wake the source's WaitSet.
///
/// A Member stays in its WaitSet from add() until its source is destroyed. A thread may also wait
/// for a single source through the source's Member.
template <class Platform, class Parker>
class BasicWaitSet<Platform, Parker>::Member : private BasicPark<Platform, Parker> {
    using Park = BasicPark<Platform, Parker>;

public:
    using Park::wait;
    using Park::waitUntil;
    using typename Park::Clock;

    explicit Member(const Options& options = Options()) noexcept : Park(options) {}
    ~Member() {
        if (BasicWaitSet* const set = set_.load(std::memory_order_relaxed)) {  // own variable
            set->removeIf([this](const Entry& entry) { return entry.member == this; });
            --set->members_;
        }
    }

    void notifyAll() noexcept {
        Park::notifyAll();  // begins with the light fence of E1 join
        notifySet();
    }
    template <class... IsDue>
    void notifyOne(IsDue... isDue) noexcept {
        Park::notifyOne(isDue...);  // as in notifyAll()
        notifySet();
    }

private:
    friend class BasicWaitSet;

    void join(BasicWaitSet& set) noexcept {
        BasicWaitSet* const before = set_.load(std::memory_order_relaxed);  // own variable
        SLUICE_ASSERT(before == nullptr || before == &set, "a source is in one WaitSet");
        if (before == nullptr) {
            ++set.members_;
            set_.store(&set, std::memory_order_release);  // E1 join, E2 set
        }
    }

    void notifySet() noexcept {
        if (BasicWaitSet* const set = set_.load(std::memory_order_acquire)) {  // E2 set
            set->notify();
        }
    }

    typename Platform::template Atomic<BasicWaitSet*> set_{nullptr};
};

using WaitSet = BasicWaitSet<>;

}  // namespace sluice
