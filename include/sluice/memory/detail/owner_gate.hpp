#pragma once

#include <sluice/base/asymmetric_fence.hpp>

#include <atomic>
#include <type_traits>

namespace sluice::detail {

/// A pointer to an object that one thread, the owner, uses often. Another thread, a visitor, takes
/// the object away while the owner is idle.
///
/// The owner pays two stores for each use, and no atomic read-modify-write:
///
///     T* const mine = gate.enter();     // the owner: the object, or the closed one
///     use(*mine);
///     gate.leave();
///
///     if (!Gate::canClose()) return;    // a kernel without membarrier
///     T* const object = gate.close(&closed);  // a visitor; visitors exclude each other
///     Platform::Fence::heavy();         // one fence for any number of gates
///     if (gate.isVisitors(&closed)) {
///         useInstead(*object);
///     }
///     gate.open(&closed, object);
///
/// Edges: E1 left: owner's use -> leave() release .. isVisitors() acquire -> visitor's use. E2
/// opened: visitor's use -> open() release .. enter() acquire -> owner's use. E3 closed: light() by
/// the owner, heavy() by the visitor. Either the visitor sees the owner inside, or the owner sees
/// the closed object.
///
/// Tests: tests/model/owner_gate_model_test.cpp.
template <class Platform, class T>
class OwnerGate {
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Fence = typename Platform::Fence;

public:
    // ---- For the owner

    /// The object, which the owner may use until leave().
    T* enter() noexcept {
        isInside_.store(true, std::memory_order_relaxed);  // relaxed: the fence orders it
        if constexpr (hasChoice) {
            compilerBarrier();  // E3
        } else {
            Fence::light();  // E3
        }
        return object_.load(std::memory_order_acquire);  // E2
    }
    void leave() noexcept { isInside_.store(false, std::memory_order_release); }  // E1

    /// Gives the owner another object. The owner is inside, or no other thread knows the gate.
    /// Release: a thread that reads the pointer for statistics finds the object complete.
    void set(T* object) noexcept { object_.store(object, std::memory_order_release); }

    // ---- For a visitor

    /// Whether visitors may close gates. They may not if each owner would pay for a full fence.
    static bool canClose() noexcept { return !hasChoice || Fence::isAsymmetric(); }

    /// From now on the owner finds `closed`, unless the owner has entered already. Returns the
    /// object, which the visitor must not use before isVisitors(). Acquire: see set().
    T* close(T* closed) noexcept { return object_.exchange(closed, std::memory_order_acquire); }
    /// After close() and a heavy fence: whether the visitor may use the object until open(). Reads
    /// isInside_ first, because an owner that is inside may set another object.
    bool isVisitors(const T* closed) const noexcept {
        return !isInside_.load(std::memory_order_acquire) &&       // E1
               object_.load(std::memory_order_relaxed) == closed;  // relaxed: E1 orders it
    }
    /// Does nothing if the owner has set another object meanwhile.
    void open(T* closed, T* object) noexcept {
        object_.compare_exchange_strong(closed, object, std::memory_order_release,
                                        std::memory_order_relaxed);  // E2
    }

    /// The object, for statistics and for a thread that excludes the owner in another way.
    T* peek() const noexcept { return object_.load(std::memory_order_acquire); }

private:
    // AsymmetricFence asks at each light() which kind heavy() is. Here canClose() asks instead.
    static constexpr bool hasChoice =
        std::is_same_v<Fence, AsymmetricFence> && !std::is_same_v<AsymmetricFence, PortableFence>;

    Atomic<bool> isInside_{false};  // written by the owner
    Atomic<T*> object_{nullptr};
};

}  // namespace sluice::detail
