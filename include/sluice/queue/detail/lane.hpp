#pragma once

#include <sluice/queue/spsc_ring.hpp>

#include <cstddef>
#include <memory_resource>
#include <new>
#include <utility>

namespace sluice::detail {

/// Makes an object in memory of a resource. Gives the memory back if the constructor throws.
template <class Object, class... Args>
Object* makeIn(std::pmr::memory_resource* memory, Args&&... args) {
    struct Unused {
        std::pmr::memory_resource* memory;
        void* storage;
        ~Unused() {
            if (storage != nullptr) {
                memory->deallocate(storage, sizeof(Object), alignof(Object));
            }
        }
    } unused{memory, memory->allocate(sizeof(Object), alignof(Object))};
    Object* const object = ::new (unused.storage) Object(std::forward<Args>(args)...);
    unused.storage = nullptr;
    return object;
}

template <class Object>
void destroyIn(std::pmr::memory_resource* memory, Object* object) noexcept {
    object->~Object();
    memory->deallocate(object, sizeof(Object), alignof(Object));
}

template <class T, class Traits>
struct Lane;

/// The lanes that the consumer has yet to add to its round. Producers add lanes, and the consumer
/// takes all. The queue and its lanes own the list, because a producer may outlive the queue.
template <class T, class Traits>
struct AnnouncedLanes {
    using Lane = detail::Lane<T, Traits>;
    template <class U>
    using Atomic = typename Traits::Platform::template Atomic<U>;

    explicit AnnouncedLanes(std::pmr::memory_resource* resource) : memory(resource) {}

    void ref() noexcept { owners.fetch_add(1, std::memory_order_relaxed); }  // the caller owns it
    void unref() noexcept {
        if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {  // E5 unref
            destroyIn(memory, this);
        }
    }

    void add(Lane& lane) noexcept {
        Lane* first = newest.load(std::memory_order_relaxed);  // relaxed: the lane is not read
        do {
            lane.setLink(first);
        } while (!newest.compare_exchange_weak(first, &lane, std::memory_order_release,  // E4 list
                                               std::memory_order_relaxed));
    }

    /// Takes all lanes out, the newest first.
    Lane* takeAll() noexcept {
        // Relaxed: mostly there is no lane, and the exchange looks again.
        return newest.load(std::memory_order_relaxed) == nullptr
                   ? nullptr
                   : newest.exchange(nullptr, std::memory_order_acquire);  // E4 list
    }

    Atomic<Lane*> newest{nullptr};
    Atomic<std::size_t> owners{1};
    std::pmr::memory_resource* memory;
};

/// A lane is listed while it is announced or in the consumer's round.
enum class LaneState : unsigned char { idle, listed };

/// The ring of one producer. The producer's handle and the queue own the lane together.
template <class T, class Traits>
struct Lane {
    using Ring = SpscRing<T, dynamicCapacity, Traits>;
    using Announced = AnnouncedLanes<T, Traits>;
    using Fence = typename Traits::Platform::Fence;
    template <class U>
    using Atomic = typename Traits::Platform::template Atomic<U>;

    static constexpr unsigned char producerGone = 1;
    static constexpr unsigned char queueGone = 2;

    Lane(std::size_t capacity, std::pmr::memory_resource* resource)
        : memory(resource), ring(capacity, resource) {
        link.construct(nullptr);
    }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    ~Lane() {
        if (announced != nullptr) {
            announced->unref();
        }
    }

    /// Called once, before any other thread knows the lane.
    void join(Announced& list) noexcept {
        announced = &list;
        announced->ref();
    }

    /// Ends the ownership of one side. The second side frees the lane.
    static void unref(Lane* lane, unsigned char side) noexcept {
        if (lane->owners.fetch_or(side, std::memory_order_acq_rel) != 0) {  // E5 unref
            destroy(lane);
        }
    }
    static void destroy(Lane* lane) noexcept { destroyIn(lane->memory, lane); }

    /// The producer calls it after each push, so that the consumer visits this lane.
    void announce() noexcept {
        Fence::light();  // E6 unlist
        // Relaxed: the fence orders it behind the push.
        if (__builtin_expect(state.load(std::memory_order_relaxed) == LaneState::idle, 0)) {
            list();
        }
    }

    /// The producer gives up the lane.
    void leave() noexcept {
        isLeaving.store(true, std::memory_order_relaxed);  // relaxed: the fence orders it
        announce();
        unref(this, producerGone);
    }

    /// Announces the lane, unless it is listed already.
    [[gnu::noinline]] void list() noexcept {
        // Acquire: E6 unlist.
        if (state.exchange(LaneState::listed, std::memory_order_acquire) == LaneState::idle) {
            announced->add(*this);
        }
    }

    Lane* linked() noexcept { return link.get(); }
    void setLink(Lane* lane) noexcept { link.get() = lane; }

    /// Whether a visit of the consumer finds a message or a leaving producer.
    bool hasNews() noexcept {
        return ring.front() != nullptr || isLeaving.load(std::memory_order_relaxed);
    }

    /// Whether the producer has gone. If so, the caller sees all its messages.
    bool isAbandoned() const noexcept { return owners.load(std::memory_order_acquire) != 0; }  // E5

    // Neighbours in the list of all lanes; guarded by the lock of the list.
    Lane* previous = nullptr;
    Lane* next = nullptr;

    // The next lane among the announced lanes or in the consumer's round. The thread that lists the
    // lane writes the link first. Then the consumer writes it.
    typename Traits::Platform::template Cell<Lane*> link;
    Lane* nextIdle = nullptr;                  // the next lane of a sweep; the consumer writes it
    Atomic<LaneState> state{LaneState::idle};  // listed while announced or in the round
    Atomic<bool> isLeaving{false};             // the producer sets it when it begins to leave
    Atomic<unsigned char> owners{0};           // the sides that have gone; each adds its own
    Announced* announced = nullptr;
    std::pmr::memory_resource* memory;
    Ring ring;
};

}  // namespace sluice::detail
