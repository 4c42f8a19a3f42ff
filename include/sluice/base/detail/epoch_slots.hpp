#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/backoff.hpp>
#include <sluice/base/cache_line.hpp>

#include <atomic>
#include <cstddef>
#include <limits>

namespace sluice {
namespace [[gnu::visibility("default")]] detail {

/// The announcements of all readers of one epoch domain, and the epoch they announce.
///
/// Epochs are odd words that grow by two; `idle` is even, so no epoch equals it, also after the
/// word has wrapped. The first epoch lies shortly before the wrap, so that every long run crosses
/// it.
///
/// The edges E1-E3, E5, E6, E8 and E9 are explained in epoch.hpp.
///
/// Lifetime: counted. The domain is one user, each thread that has a slot and each Reader another,
/// so a slot can be given back after its domain has gone, and the address of an EpochSlots is not
/// used for a second one as long as any thread remembers it.
template <class Platform>
class EpochSlots {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Epoch = std::size_t;
    static constexpr Epoch idle = 0;
    static constexpr Epoch firstEpoch = std::numeric_limits<Epoch>::max() - 64;

    /// One reader's announcement. Between acquire() and release() it belongs to one thread or
    /// Reader, which alone writes `state`.
    struct alignas(cacheLineSize) Slot {
        explicit Slot(EpochSlots& slots) noexcept : home(slots) {}

        Atomic<Epoch> state{idle};
        Atomic<bool> isTaken{true};
        /// The thread that alone uses this slot until it ends; null when there is no such thread.
        Atomic<const void*> thread{nullptr};
        /// Tells threads apart in assertions; null when no thread is known.
        Atomic<const void*> owner{nullptr};
        /// Whether leave() gives the slot back; plain, as it belongs to the slot's reader.
        bool isTemporary = false;
        EpochSlots& home;
        Slot* next = nullptr;

        /// Relaxed: true answers are needed by the owner only, and they are its own stores.
        bool isInside() const noexcept { return state.load(std::memory_order_relaxed) != idle; }
    };

    EpochSlots() noexcept = default;
    EpochSlots(const EpochSlots&) = delete;
    EpochSlots& operator=(const EpochSlots&) = delete;

    /// Announces a reader. False when the slot's reader is inside already: then nothing was done,
    /// and leave() must not be called.
    bool enter(Slot& slot) noexcept {
        if (slot.isInside()) {
            return false;
        }
        // E2 by the load. The store is a release so that a scan which meets this announcement
        // instead of the leave() before it has acquired that section all the same (E1).
        slot.state.store(epoch_.load(std::memory_order_acquire), std::memory_order_release);
        Platform::Fence::light();  // E3
        return true;
    }

    static void leave(Slot& slot) noexcept {
        slot.state.store(idle, std::memory_order_release);  // E1
        if (__builtin_expect(slot.isTemporary, 0)) {
            releaseTemporary(slot);
        }
    }

    /// Starts an epoch and returns it. Who enters and finds it current is not in the way of anybody
    /// who unlinked something before the call (E2); who entered without finding it is visible to
    /// passed() after the call, or sees what was unlinked (E3). A thread that is alone needs no
    /// fence against itself.
    Epoch advance(const void* thread) noexcept {
        const Epoch started = epoch_.fetch_add(2, std::memory_order_release) + 2;  // E2
        if (!isAlone(thread)) {
            Platform::Fence::heavy();  // E3
        }
        return started;
    }

    /// Whether no thread but this one has a place, and this one is outside: then nobody can hold
    /// what it had unlinked before.
    bool isUnused(const void* thread) const noexcept {
        return onlyPlacesOf(thread, [](const Slot& slot) { return !slot.isInside(); });
    }

    /// Whether no thread but this one has a place.
    bool isAlone(const void* thread) const noexcept {
        return onlyPlacesOf(thread, [](const Slot&) { return true; });
    }

    /// Whether all other threads were seen outside: then they cannot hold what this one had
    /// unlinked before. Pays for a heavy fence.
    bool areOthersOutside(const void* thread) const noexcept {
        Platform::Fence::heavy();  // E3
        for (const Slot* slot = firstSlot(); slot != nullptr; slot = slot->next) {
            if (slot->thread.load(std::memory_order_relaxed) != thread &&
                slot->state.load(std::memory_order_acquire) != idle) {  // E1
                return false;
            }
        }
        return true;
    }

    /// Asks readers to reclaim when they leave. Relaxed: E8 orders it where that matters.
    void want() noexcept { isWanted_.store(true, std::memory_order_relaxed); }
    void unwant() noexcept { isWanted_.store(false, std::memory_order_relaxed); }

    /// By a reader that has just left.
    bool isWanted() const noexcept {
        Platform::Fence::light();  // E8
        return isWanted_.load(std::memory_order_relaxed);
    }

    /// Whether all readers that had entered before the epoch `started` have left.
    bool passed(Epoch started) const noexcept {
        for (const Slot* slot = firstSlot(); slot != nullptr; slot = slot->next) {
            if (!passed(*slot, started)) {
                return false;
            }
        }
        return true;
    }

    /// Waits until passed(started).
    void waitUntilPassed(Epoch started) const noexcept {
        for (const Slot* slot = firstSlot(); slot != nullptr; slot = slot->next) {
            BasicBackoff<Platform> backoff;
            while (!passed(*slot, started)) {
                backoff.wait();
            }
        }
    }

    /// Whether any reader is inside, or, given an owner, one of that owner.
    bool anyInside(const void* owner = nullptr) const noexcept {
        for (const Slot* slot = firstSlot(); slot != nullptr; slot = slot->next) {
            // Relaxed: an owner asks for its own stores, and the destructor asks when nobody else
            // is left.
            if (slot->isInside() &&
                (owner == nullptr || slot->owner.load(std::memory_order_relaxed) == owner)) {
                return true;
            }
        }
        return false;
    }

    /// A slot for a new reader: one that was given back, or a new one. May throw std::bad_alloc.
    Slot& acquire() {
        Slot& slot = takeOrAdd();
        Platform::Fence::heavy();  // E9
        return slot;
    }

    /// Takes a slot back whose reader is outside. This object may be gone afterwards.
    void release(Slot& slot) noexcept {
        slot.thread.store(nullptr, std::memory_order_relaxed);  // relaxed, both: ordered by E5
        slot.owner.store(nullptr, std::memory_order_relaxed);
        slot.isTaken.store(false, std::memory_order_release);  // E5
        dropUser();
    }

    /// A slot for the reader that the thread with this mark is.
    Slot& enroll(const void* thread) {
        Slot& slot = acquire();
        slot.thread.store(thread, std::memory_order_relaxed);  // relaxed: for this thread alone
        slot.owner.store(thread, std::memory_order_relaxed);   // relaxed: for its own assertions
        return slot;
    }

    /// Takes the slot of an ending thread back. This object may be gone afterwards.
    void dismiss(Slot& slot) noexcept {
        const bool isInside = slot.isInside();
        SLUICE_ASSERT(!isInside, "a thread ends inside a read-side section: destroy its "
                                 "EpochDomain::Guard first, and never allocate one on the heap");
        // Without assertions the slot stays taken: reclamation stops, but nothing in use is freed.
        if (!isInside) {
            release(slot);
        }
    }

    /// Called by the domain at its end: threads may forget this object, and the domain is no user
    /// any more.
    void abandon() noexcept {
        // Relaxed: who reads the old value merely keeps the memory a little longer.
        isAbandoned_.store(true, std::memory_order_relaxed);
        dropUser();
    }

    bool isAbandoned() const noexcept { return isAbandoned_.load(std::memory_order_relaxed); }

private:
    ~EpochSlots() {
        Slot* slot = slots_.load(std::memory_order_relaxed);  // relaxed: the last user is alone
        while (slot != nullptr) {
            Slot* next = slot->next;
            delete slot;
            slot = next;
        }
    }

    Slot* firstSlot() const noexcept { return slots_.load(std::memory_order_acquire); }  // E6

    /// Whether all places that are taken belong to this thread and pass the test.
    template <class Test>
    bool onlyPlacesOf(const void* thread, Test test) const noexcept {
        Platform::Fence::light();  // E9
        for (const Slot* slot = firstSlot(); slot != nullptr; slot = slot->next) {
            // Acquire: what the last owner of a free place did in its sections comes before (E5).
            if (slot->isTaken.load(std::memory_order_acquire) &&
                (slot->thread.load(std::memory_order_relaxed) != thread || !test(*slot))) {
                return false;
            }
        }
        return true;
    }

    Slot& takeOrAdd() {
        for (Slot* slot = firstSlot(); slot != nullptr; slot = slot->next) {
            // Relaxed load: only decides whether the exchange is worth a try.
            if (!slot->isTaken.load(std::memory_order_relaxed) &&
                !slot->isTaken.exchange(true, std::memory_order_acquire)) {  // E5
                addUser();
                return *slot;
            }
        }
        Slot* slot = new Slot(*this);
        addUser();
        slot->next =
            slots_.load(std::memory_order_relaxed);  // relaxed: the exchange below checks it
        while (!slots_.compare_exchange_weak(slot->next, slot, std::memory_order_release,  // E6
                                             std::memory_order_relaxed)) {
        }
        return *slot;
    }

    static bool passed(const Slot& slot, Epoch started) noexcept {
        const Epoch state = slot.state.load(std::memory_order_acquire);  // E1
        // The difference is that of unbounded epochs as long as it is below half the range of a
        // word.
        return state == idle || state - started <= std::numeric_limits<Epoch>::max() / 2;
    }

    [[gnu::cold, gnu::noinline]] static void releaseTemporary(Slot& slot) noexcept {
        slot.isTemporary = false;
        slot.home.release(slot);
    }

    void addUser() noexcept {
        users_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller holds a use already
    }

    void dropUser() noexcept {
        // Release: what this user did comes before the destruction. Acquire: so did all the others.
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

    // Read by every enter(), written by advance() only; the rest of the line changes as rarely.
    alignas(cacheLineSize) Atomic<Epoch> epoch_{firstEpoch};
    Atomic<Slot*> slots_{nullptr};
    Atomic<std::size_t> users_{1};
    Atomic<bool> isAbandoned_{false};
    Atomic<bool> isWanted_{false};
};

}  // namespace detail
}  // namespace sluice
