#pragma once

#include <sluice/queue/spsc_ring.hpp>

#include <cstddef>
#include <memory_resource>
#include <new>
#include <utility>

namespace sluice::detail {

/// Makes an object in memory of a resource. Gives the memory back when its constructor throws.
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

/// The lanes that the consumer has yet to begin to visit. Producers add to it, and the consumer
/// takes all. The queue and its lanes own it together, since a producer may outlive the queue.
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
        Lane* first = newest.load(std::memory_order_relaxed);  // relaxed: nobody looks into it here
        do {
            lane.setLink(first);
        } while (!newest.compare_exchange_weak(first, &lane, std::memory_order_release,  // E4 list
                                               std::memory_order_relaxed));
    }

    /// All that were added, the newest first.
    Lane* takeAll() noexcept {
        // Relaxed: most of the time there is none, and the exchange looks again.
        return newest.load(std::memory_order_relaxed) == nullptr
                   ? nullptr
                   : newest.exchange(nullptr, std::memory_order_acquire);  // E4 list
    }

    Atomic<Lane*> newest{nullptr};
    Atomic<std::size_t> owners{1};
    std::pmr::memory_resource* memory;
};

/// Whether the consumer visits a lane, or is about to.
enum class LaneState : unsigned char { idle, listed };

/// A producer's ring. Its producer handle and the queue own it together.
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

    /// By the thread that registers it, before any other thread knows it.
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

    /// By the producer, after each push: has the consumer visit this lane.
    void announce() noexcept {
        Fence::light();  // E6 unlist
        // Relaxed: the fence orders it behind the push.
        if (__builtin_expect(state.load(std::memory_order_relaxed) == LaneState::idle, 0)) {
            list();
        }
    }

    /// By the producer: ends its side.
    void leave() noexcept {
        isLeaving.store(true, std::memory_order_relaxed);  // relaxed: the fence orders it
        announce();
        unref(this, producerGone);
    }

    /// Adds the lane to the announced ones unless it is there, or the consumer visits it already.
    [[gnu::noinline]] void list() noexcept {
        // Acquire: E6 unlist.
        if (state.exchange(LaneState::listed, std::memory_order_acquire) == LaneState::idle) {
            announced->add(*this);
        }
    }

    Lane* linked() noexcept { return link.get(); }
    void setLink(Lane* lane) noexcept { link.get() = lane; }

    /// By the consumer: whether a visit finds something to do.
    bool hasNews() noexcept {
        return ring.front() != nullptr || isLeaving.load(std::memory_order_relaxed);
    }

    /// Whether the producer has gone. Then all that it pushed is visible.
    bool isAbandoned() const noexcept { return owners.load(std::memory_order_acquire) != 0; }  // E5

    // Neighbours in the list of all lanes; under its lock.
    Lane* previous = nullptr;
    Lane* next = nullptr;

    // The next lane among the announced ones or in the consumer's round. The thread that makes the
    // lane listed owns it until the consumer makes it idle.
    typename Traits::Platform::template Cell<Lane*> link;
    Lane* nextIdle = nullptr;                  // by the consumer, during a sweep
    Atomic<LaneState> state{LaneState::idle};  // among the announced ones or in the round
    Atomic<bool> isLeaving{false};             // set by the producer: about to go
    Atomic<unsigned char> owners{0};           // the sides that have gone
    Announced* announced = nullptr;
    std::pmr::memory_resource* memory;
    Ring ring;
};

}  // namespace sluice::detail
