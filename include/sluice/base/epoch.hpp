#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/detail/epoch_allowance.hpp>
#include <sluice/base/detail/epoch_garbage.hpp>
#include <sluice/base/detail/epoch_slots.hpp>
#include <sluice/base/detail/epoch_thread.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/spin_lock.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>

/// Read-side protection: readers use shared objects without a lock or a reference count, and
/// writers free what they have unlinked when no reader can hold it any more.
///
///     writer                                        reader
///     old = list.exchange(next, acq_rel);           auto guard = domain.enter();
///     domain.retire(old);                           use(*list.load(acquire));
///
/// Use it when an object is read far more often than replaced and readers must not slow each other
/// down: snapshots of listeners, routing tables, configuration. Use a SpinLock or std::mutex when
/// reads are rare; use std::shared_ptr when a reader keeps the object for long or hands it on.
///
/// Who may call what: any thread any member at any time, with these exceptions.
/// - A Guard stays in the scope and on the thread that created it; so none across a co_await.
/// - A Reader is used by one thread at a time.
/// - synchronize() is not called inside a guard of the same domain and thread, nor by two threads
///   of which one is waited for by the other inside its guard.
/// - The destructor needs all other calls to be over and all guards to be gone. Threads that have
///   used the domain may live on. An object that may be destroyed inside a section, such as a list
///   by its own callback, must not own the domain of that section: let both share it.
///
/// Progress, and what a stopped thread delays:
/// - enter() and leaving: wait-free, a fixed number of steps; nobody can delay a reader. A thread's
///   first enter() of a domain takes a place in it: lock-free, and it allocates.
/// - retire(node): lock-free. retire(pointer): takes a spin lock for a few instructions besides.
/// - collect(): never waits; while another thread is in its exclusive part it leaves the work to
/// it.
/// - synchronize(): waits for the readers that are inside at the call, and for no later ones.
/// - A thread that is stopped inside a guard delays reclamation and synchronize(), but never
///   readers or retire(). One that is stopped in collect() delays reclamation only.
///
/// Memory promise: what a reader did inside a guard is visible to the deleter of an object that was
/// unlinked while the guard existed, and to the caller of synchronize() after it. An object that is
/// retired after it was made unreachable is not freed while any guard exists that began before.
///
/// When retired objects are freed: every `batch`-th retire() tries to reclaim. A prompt domain
/// frees at once what is retired while no other thread has a place in it and the caller is outside;
/// else every retire() outside, and every reader that leaves while objects wait, tries. As an
/// attempt costs up to 10 us beside running threads, only one per `attemptInterval` is made in the
/// long run, and `attemptBurst` in a row; others are left to the next retire() or reader.
///
/// What bounds the garbage: every `batch`-th retire() tries to reclaim. While no reader stays
/// inside for longer than t, pending are at most the objects retired within 2 t and two batches. A
/// reader that never leaves lets the garbage grow without end; a writer that must not grow looks
/// at pendingApprox() and waits, drops or complains.
///
/// Allocation: by the constructor, by a thread's first enter() and by a Reader, one cache line per
/// place plus the thread's table of places; by retire(pointer) only when more objects are pending
/// than ever before; by retire(node) never. Exceptions: std::bad_alloc from these, with nothing
/// changed. Deleters must not throw.
///
/// Deleters run in whoever calls retire(), collect() or the destructor, and in readers that leave a
/// prompt domain, outside any lock. They may enter, retire and synchronize in any domain. What they
/// retire is reclaimed when they have returned, so a long chain of objects needs no deep stack.
///
/// Shutdown: the destructor runs all deleters, also for what deleters retire. A thread that ends
/// gives its places back for others to use; a domain has as many places as it had users at a time.
///
/// fork: in the child only the calling thread exists. Readers go on; guards that other threads held
/// stay for ever, and with them all garbage. A child that lives on creates domains of its own.
///
/// Origin: epoch-based reclamation (K. Fraser, 2004) with the reader's fence moved to the reclaimer
/// by membarrier, as in the user-space RCU library (M. Desnoyers et al., 2012).
///
/// Invariants (E is the epoch as if it never wrapped; an idle slot announces nothing):
/// - I1  announced(slot) <= E.
/// - I2  A batch is reclaimed only when, in this order, all its objects were unlinked, E was
///       incremented to `target`, and each slot was seen idle or with announced(slot) >= target.
/// - I3  A batch is started only when the one before it has passed. So a reader that stays inside
///       keeps E below its own announcement + 2 + the number of threads in synchronize(), and the
///       comparison of wrapped words is exact.
///
/// Edges:
/// - E1 leave: a section -> release store of its slot -> acquire load by the scan -> deleter.
/// - E2 advance: unlinked -> release increment of E -> acquire load by the enter() that announces
///      the new epoch.
/// - E3 announce: slot stored, light() | heavy(), slot loaded. Either the scan sees the
///      announcement, or the section sees what was unlinked before heavy().
/// - E4 retire: object unlinked -> release push -> acquire exchange by the collector.
/// - E5 place: last use of a slot -> release of isTaken -> acquire by its next owner.
/// - E6 slot: its construction -> release push -> acquire load by the scan.
/// - E7 collector: the waiting batch, and the heavy() behind it -> release of `work_` -> its
///      acquire by the next one.
/// - E8 wanted: set, heavy(), slots loaded | slot idle, light(), wanted loaded. Either the scan
///      sees that the reader has left, or the reader sees that it is to reclaim.
/// - E9 alone: unlinked, light(), places loaded | place taken, heavy(), the reader's first load.
///      Either the writer sees the new reader's place, or that reader sees what was unlinked.
///
/// Tests: tests/unit/base/epoch*_test.cpp, tests/stress/epoch_stress_test.cpp,
/// tests/alloc/epoch_allocation_test.cpp. The argument: docs/algorithms/epoch.md.
namespace [[gnu::visibility("default")]] sluice {

struct EpochOptions {
    /// After how many calls of retire() one of them tries to reclaim. More makes retire() cheaper
    /// and the garbage larger. 0: only collect() and the destructor reclaim, so that retire() runs
    /// no deleter.
    std::size_t batch = 256;

    /// Frees early as well: for objects whose destructors release what others wait for, such as
    /// the captures of a callback. A retire() while other threads have places then reads the clock
    /// and may make a system call.
    bool prompt = false;
};

/// One group of readers and the objects they may be reading. Domains are independent: a guard of
/// one delays nothing in another. `Platform` is described in platform.hpp.
template <class Platform = StdPlatform>
class BasicEpochDomain {
    using Slots = detail::EpochSlots<Platform>;
    using Slot = typename Slots::Slot;
    using Thread = detail::EpochThread<Platform>;
    using NodePool = detail::EpochNodePool<Platform>;

public:
    class Guard;
    class Reader;

    /// How often a prompt domain, and isQuiet(), may pay for looking at the readers.
    static constexpr std::chrono::nanoseconds attemptInterval =
        detail::EpochAllowance<Platform>::interval;
    static constexpr std::size_t attemptBurst = detail::EpochAllowance<Platform>::burst;

    explicit BasicEpochDomain(const EpochOptions& options = {})
        : slots_(new Slots),
          hash_(Thread::hash(slots_)),
          batch_(options.batch),
          isPrompt_(options.prompt) {}

    BasicEpochDomain(const BasicEpochDomain&) = delete;
    BasicEpochDomain& operator=(const BasicEpochDomain&) = delete;

    ~BasicEpochDomain() {
        SLUICE_ASSERT(!slots_->anyInside(),
                      "an EpochDomain is destroyed while a reader is inside: leave all "
                      "guards first, or let the domain live outside the object");
        SLUICE_ASSERT(Thread::reclaiming() != this,
                      "an EpochDomain is destroyed by a deleter that it runs: let "
                      "the domain live outside the objects it reclaims");
        while (pendingApprox() != 0) {
            (void)reclaim(std::move(waiting_));
            (void)reclaim(retiredObjects_.takeAll());
        }
        slots_->abandon();
    }

    /// Starts a read-side section that lasts as long as the guard. Sections nest; only the
    /// outermost one counts. Cost: 1-2 ns with membarrier, one full fence more without; no atomic
    /// read-modify-write.
    [[nodiscard]] Guard enter() {
        Slot* slot = Thread::findOr(slots_, hash_, [this] { return firstPlace(); });
        return Guard(*this, slots_->enter(*slot) ? slot : nullptr);
    }

    /// Whether this thread is inside a guard from enter(); guards from a Reader are not known here.
    /// For code that may be reached from inside a section and must not synchronize() there.
    [[nodiscard]] bool isInside() const noexcept {
        const Slot* slot = Thread::find(slots_, hash_);
        return slot != nullptr && slot->isInside();
    }

    /// A place in the domain of its own. See Reader.
    [[nodiscard]] Reader reader() { return Reader(*this); }

    /// Frees an object later: deletes it when no reader can hold it any more. The caller has made
    /// it unreachable for new readers and retires it once. A type derived from EpochNode needs no
    /// memory for that. For other types this may throw std::bad_alloc; then the object still
    /// belongs to the caller.
    template <class T>
    void retire(T* object) noexcept(std::is_base_of_v<EpochNode, T>) {
        static_assert(sizeof(T) > 0, "retire() needs the complete type");
        if constexpr (std::is_base_of_v<EpochNode, T>) {
            retire(static_cast<EpochNode&>(*object),
                   [](EpochNode& node) { delete static_cast<T*>(&node); });
        } else {
            retire(object, [](void* pointer) { delete static_cast<T*>(pointer); });
        }
    }

    /// The same with a function that frees the object. May throw std::bad_alloc; then the object
    /// still belongs to the caller.
    void retire(void* object, void (*reclaimObject)(void*)) {
        SLUICE_ASSERT(reclaimObject != nullptr, "retire() needs a function that frees the object");
        retire(pool_.take(object, reclaimObject), &NodePool::reclaimObject);
    }

    /// The same for an object that contains a node. Never allocates.
    void retire(EpochNode& node, void (*reclaimNode)(EpochNode&)) noexcept {
        if (isPrompt_ && Thread::reclaiming() == nullptr && slots_->isUnused(Thread::mark())) {
            reclaimNow(node, reclaimNode);
            return;
        }
        // Relaxed: E4 makes it visible to who reclaims the node. Before the push, so that no object
        // is reclaimed before it is counted.
        const std::size_t count = retiredCount_.fetch_add(1, std::memory_order_relaxed) + 1;
        retiredObjects_.push(node, reclaimNode);  // E4
        if ((batch_ != 0 && count % batch_ == 0) || (isPrompt_ && isPassDue())) {
            (void)collect();
        }
    }

    /// Waits until every reader that was inside at the call has left; readers that enter later are
    /// not waited for. Afterwards nobody uses what the caller had unlinked before, and no callback
    /// that the caller had disconnected before is still running inside a guard. Frees nothing by
    /// itself.
    ///
    /// Cost: one heavy() of the fence (0.4-10 us), one cache line per thread that uses the domain,
    /// and the wait: a spin of some microseconds, then the processor is offered to other threads at
    /// each step. A section that lasts long keeps the waiting thread awake.
    void synchronize() noexcept {
        SLUICE_ASSERT(
            !slots_->anyInside(Thread::mark()),
            "synchronize() inside a guard of the same thread waits for itself: leave the guard "
            "first, or retire() instead of waiting");
        slots_->waitUntilPassed(slots_->advance(Thread::mark()));
    }

    /// Frees what can be freed without waiting and returns the number of objects. Call it from time
    /// to time where retire() is rare. After synchronize(), with no reader inside, it frees all
    /// that was retired before. Returns 0 at once inside a deleter, and when another thread is
    /// collecting: then the collector, or who runs the deleter, goes round once more.
    std::size_t collect() noexcept {
        if (Thread::reclaiming() != nullptr) {
            work_.fetch_or(wanted, std::memory_order_relaxed);  // relaxed: for this thread itself
            return 0;
        }
        std::size_t count = 0;
        do {
            // Release: the pass that takes this request on sees what was done before it.
            if ((work_.fetch_or(busy | wanted, std::memory_order_release) & busy) != 0) {
                return count;
            }
            work_.exchange(busy, std::memory_order_acquire);  // E7
            detail::EpochList passed;
            detail::EpochList fresh;
            takePassed(passed, fresh);
            work_.fetch_and(wanted, std::memory_order_release);  // E7
            count += reclaim(std::move(passed)) + reclaim(std::move(fresh));
            // Relaxed: whoever set it after the line above has found nobody busy, or is this
            // thread.
        } while ((work_.load(std::memory_order_relaxed) & wanted) != 0);
        return count;
    }

    /// Whether no other thread can be using what this thread had made unreachable before the call.
    /// True: who knows that it does not use it itself, in a guard of its own, may free it without
    /// retire(). False also when this was asked too often, see attemptInterval. Costs as much as
    /// synchronize() when other threads have places, and some nanoseconds else.
    [[nodiscard]] bool isQuiet() noexcept {
        return slots_->isAlone(Thread::mark()) ||
               (attempts_.take() && slots_->areOthersOutside(Thread::mark()));
    }

    /// How many objects are retired but not freed. Exact when nobody retires or reclaims.
    [[nodiscard]] std::size_t pendingApprox() const noexcept {
        // Acquire: what was reclaimed had been counted before, so the difference is never negative.
        const std::size_t reclaimed = reclaimedCount_.load(std::memory_order_acquire);
        // Relaxed: it is enough that the line above came first.
        return retiredCount_.load(std::memory_order_relaxed) - reclaimed;
    }

private:
    /// For the first enter() of this thread, and for every one after the thread has given its
    /// places back, that is in late destructors of thread-local objects: such a guard takes a place
    /// for itself.
    [[gnu::cold, gnu::noinline]] Slot* firstPlace() {
        Slot* slot = Thread::add(*slots_);
        if (slot == nullptr) {
            slot = &slots_->acquire();
            slot->isTemporary = true;
            // Relaxed: for assertions.
            slot->owner.store(Thread::mark(), std::memory_order_relaxed);
        }
        return slot;
    }

    /// In a domain that nobody else uses: what this deleter retires follows when it has returned.
    void reclaimNow(EpochNode& node, void (*reclaimNode)(EpochNode&)) noexcept {
        const void*& reclaiming = Thread::reclaiming();
        reclaiming = this;
        reclaimNode(node);
        reclaiming = nullptr;
        // Relaxed: set by this thread, inside the deleter.
        if ((work_.load(std::memory_order_relaxed) & wanted) != 0) {
            (void)collect();
        }
    }

    /// After a retire() in a prompt domain: whether to try now. What is not tried now is wanted of
    /// readers that leave.
    bool isPassDue() noexcept {
        slots_->want();
        return Thread::reclaiming() != nullptr || (!isInside() && attempts_.take());
    }

    /// By a reader that has left a prompt domain in which objects wait.
    [[gnu::cold, gnu::noinline]] void collectAfterReader() noexcept {
        if (slots_->isUnused(Thread::mark()) || attempts_.take()) {
            (void)collect();
        }
    }

    /// By who set `busy`: the batch that was waiting if it has passed, and a new batch if it passes
    /// at once (I2, I3).
    void takePassed(detail::EpochList& passed, detail::EpochList& fresh) noexcept {
        if (!waiting_.isEmpty() && slots_->passed(waitingFor_)) {
            passed = std::move(waiting_);
        }
        if (waiting_.isEmpty()) {
            slots_->unwant();
            waiting_ = retiredObjects_.takeAll();  // E4
            if (!waiting_.isEmpty()) {
                if (isPrompt_) {
                    slots_->want();  // E8
                }
                waitingFor_ = slots_->advance(Thread::mark());
                if (slots_->passed(waitingFor_)) {
                    fresh = std::move(waiting_);
                }
            }
        }
    }

    std::size_t reclaim(detail::EpochList&& list) noexcept {
        if (list.isEmpty()) {
            return 0;
        }
        const void*& reclaiming = Thread::reclaiming();
        const void* const outer = reclaiming;
        reclaiming = this;
        const std::size_t count = list.reclaim();
        reclaiming = outer;
        // Release: pairs with pendingApprox().
        reclaimedCount_.fetch_add(count, std::memory_order_release);
        return count;
    }

    // Read by every enter().
    Slots* const slots_;
    const std::size_t hash_;
    const std::size_t batch_;
    const bool isPrompt_;

    // Written by every retire().
    alignas(cacheLineSize) detail::EpochStack<Platform> retiredObjects_;
    typename Platform::template Atomic<std::size_t> retiredCount_{0};
    typename Platform::template Atomic<std::size_t> reclaimedCount_{0};
    NodePool pool_;

    // Bits of `work_`: a thread is taking out what has passed; a pass is asked for.
    static constexpr unsigned busy = 1;
    static constexpr unsigned wanted = 2;
    typename Platform::template Atomic<unsigned> work_{0};
    detail::EpochAllowance<Platform> attempts_;
    // Both belong to who set `busy`.
    detail::EpochList waiting_;
    typename Slots::Epoch waitingFor_ = 0;
};

/// A read-side section; ends it in its destructor. It can be neither copied nor moved, so sections
/// of one thread end in the reverse order of their beginning.
template <class Platform>
class [[nodiscard]] BasicEpochDomain<Platform>::Guard {
public:
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    ~Guard() {
        if (slot_ == nullptr) {
            return;
        }
        // Relaxed: this thread's own store, unless the assertion is about to fail.
        SLUICE_ASSERT(
            slot_->owner.load(std::memory_order_relaxed) == nullptr ||
                slot_->owner.load(std::memory_order_relaxed) == Thread::mark(),
            "an EpochDomain::Guard is left on another thread: do not hold one across co_await "
            "and do not hand it over");
        Slots::leave(*slot_);
        if (__builtin_expect(domain_.slots_->isWanted(), 0)) {
            domain_.collectAfterReader();
        }
    }

private:
    friend class BasicEpochDomain;

    /// The slot is null for a nested section, whose end changes nothing.
    Guard(BasicEpochDomain& domain, Slot* slot) noexcept : domain_(domain), slot_(slot) {}

    BasicEpochDomain& domain_;
    Slot* const slot_;
};

/// A place in a domain that does not belong to a thread: for hot loops (no search for the thread's
/// place, under 1 ns), for shared libraries and parts where thread-local variables are slow or
/// missing.
///
/// Used by one thread at a time; it may change hands between sections. Sections of one Reader nest.
/// Destroying it after its domain is harmless, entering is not.
template <class Platform>
class BasicEpochDomain<Platform>::Reader {
public:
    explicit Reader(BasicEpochDomain& domain)
        : domain_(&domain), slot_(&domain.slots_->acquire()) {}
    Reader(Reader&& other) noexcept
        : domain_(other.domain_), slot_(std::exchange(other.slot_, nullptr)) {}
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    ~Reader() {
        if (slot_ == nullptr) {
            return;
        }
        const bool isInside = slot_->isInside();
        SLUICE_ASSERT(!isInside,
                      "an EpochDomain::Reader is destroyed inside its own guard: declare the "
                      "Reader before the guard");
        // Without assertions the slot stays taken: reclamation stops, but nothing in use is freed.
        if (!isInside) {
            slot_->home.release(*slot_);
        }
    }

    /// As BasicEpochDomain::enter(); never allocates.
    [[nodiscard]] Guard enter() noexcept {
        SLUICE_ASSERT(slot_ != nullptr, "enter() of a Reader that was moved from: use the new one");
#ifndef NDEBUG
        // Relaxed: for the assertion in synchronize() on this thread.
        slot_->owner.store(Thread::mark(), std::memory_order_relaxed);
#endif
        return Guard(*domain_, slot_->home.enter(*slot_) ? slot_ : nullptr);
    }

private:
    BasicEpochDomain* domain_;
    Slot* slot_;
};

using EpochDomain = BasicEpochDomain<>;

}  // namespace sluice
