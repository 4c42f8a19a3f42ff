#pragma once

#include <sluice/base/cell.hpp>
#include <sluice/event/detail/list/read_side.hpp>
#include <sluice/event/detail/list/reclaimer.hpp>

#include <atomic>
#include <limits>

namespace sluice::detail {

template <class Callback, class Threading>
class ChainCore;

/// One callback in a list. After its removal, the callback lives until no running call can use it.
/// The memory of the node stays while a handle names it, as with std::weak_ptr.
template <class Callback, class Threading>
struct CallbackNode : Removed {
    using Platform = typename ReadSideOf<Threading>::Platform;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    using Serial = unsigned;

    /// The serial of a node that is in no list.
    static constexpr Serial removed = 0;
    /// The serial of a node whose callback has been destroyed.
    static constexpr Serial gone = std::numeric_limits<Serial>::max();

    // A new node has one reference, which the first handle owns, and no callback.

    // The members that a call reads come first.
    Atomic<CallbackNode*> next{nullptr};
    Atomic<Serial> serial{removed};
    Atomic<unsigned> references{1};
    typename Platform::template Cell<Callback> callback;

    // Written under the lock of the owner, which is the core of the list.
    CallbackNode* previous = nullptr;
    Atomic<ChainCore<Callback, Threading>*> owner{nullptr};
    int priority = 0;
    /// The owner's chain_ when the node was linked. If they differ, clear() has taken the node out.
    unsigned chain = 0;

    /// Relaxed, all: the link to the node (E1 of CallbackChain) orders the reads of its members.
    bool isRemoved() const noexcept { return !isLasting(serial.load(std::memory_order_relaxed)); }
    /// For a node that clear() has taken out, but may not have marked yet. A node that is `gone`
    /// stays `gone`.
    void markAsCleared() noexcept {
        Serial own = serial.load(std::memory_order_relaxed);
        while (isLasting(own) &&
               !serial.compare_exchange_weak(own, removed, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
        }
    }
    /// Whether a node in a list may have this serial.
    static constexpr bool isLasting(Serial serial) noexcept {
        return serial != removed && serial != gone;
    }
    bool isPartOf(Serial newest) const noexcept {
        const Serial own = serial.load(std::memory_order_relaxed);
        return own != removed && own <= newest;
    }

    void addReference() noexcept {
        references.fetch_add(1U, std::memory_order_relaxed);  // relaxed: the caller has one
    }

    /// Release and acquire: all uses of the node come before its deletion.
    void dropReference() noexcept {
        if (references.fetch_sub(1U, std::memory_order_acq_rel) == 1) {
            destroy(*this);
        }
    }

    /// Not inlined: with SingleThreading, g++ would warn that the next handle uses the freed node.
    [[gnu::noinline]] static void destroy(CallbackNode& node) noexcept { delete &node; }

    /// Destroys the callback, which no call uses any more.
    static void end(Removed& base) noexcept {
        auto& node = static_cast<CallbackNode&>(base);
        node.callback.destroy();
        // Release: a thread that reads `gone` also sees the destructor's writes.
        node.serial.store(gone, std::memory_order_release);
        node.dropReference();
    }
};

}  // namespace sluice::detail
