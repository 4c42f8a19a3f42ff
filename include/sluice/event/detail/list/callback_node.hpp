#pragma once

#include <sluice/base/cell.hpp>
#include <sluice/event/detail/list/read_side.hpp>
#include <sluice/event/detail/list/reclaimer.hpp>

#include <atomic>
#include <limits>

namespace sluice::detail {

template <class Callback, class Threading>
class ChainCore;

/// One callback in a list. It belongs to the list until it is removed, and then to the calls that
/// may still use it; its memory lives on as long as a handle names it, as with std::weak_ptr.
template <class Callback, class Threading>
struct CallbackNode : Removed {
    using Platform = typename ReadSideOf<Threading>::Platform;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    using Serial = unsigned;

    /// Of a node that is in no list.
    static constexpr Serial removed = 0;
    /// The same, and its callback has been destroyed.
    static constexpr Serial gone = std::numeric_limits<Serial>::max();

    // With one reference, that of the first handle, and no callback yet.

    // The members that a call reads come first.
    Atomic<CallbackNode*> next{nullptr};
    Atomic<Serial> serial{removed};
    Atomic<unsigned> references{1};
    typename Platform::template Cell<Callback> callback;

    // Of the lock of the list, which is the owner.
    CallbackNode* previous = nullptr;
    Atomic<ChainCore<Callback, Threading>*> owner{nullptr};
    int priority = 0;
    /// Says which callbacks clear() has taken out, see ChainCore.
    unsigned chain = 0;

    /// Relaxed, all: reads under the answer are ordered by the link to the node.
    bool isRemoved() const noexcept { return !isLasting(serial.load(std::memory_order_relaxed)); }
    /// clear() has taken the node out, and may not have marked it yet. A node that is gone stays
    /// so.
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

    /// Release and acquire: all use of the node comes before its end.
    void dropReference() noexcept {
        if (references.fetch_sub(1U, std::memory_order_acq_rel) == 1) {
            destroy(*this);
        }
    }

    /// Not inlined: where the count is no atomic, g++ takes the next handle that drops its
    /// reference for a use of the freed node.
    [[gnu::noinline]] static void destroy(CallbackNode& node) noexcept { delete &node; }

    /// No call uses the callback any more.
    static void end(Removed& base) noexcept {
        auto& node = static_cast<CallbackNode&>(base);
        node.callback.destroy();
        // Release: a thread that sees it also sees the destructor's writes.
        node.serial.store(gone, std::memory_order_release);
        node.dropReference();
    }
};

}  // namespace sluice::detail
