#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/memory/detail/memory_checkers.hpp>
#include <sluice/memory/detail/sharded_free_list.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <new>

namespace sluice::detail {

/// How the buffers of a pool lie in its memory.
struct BufferLayout {
    std::size_t size;
    std::size_t stride;
    std::size_t alignment;
    std::size_t count;
};

/// The buffers of one pool, their states, the list of free buffers and this object, in one
/// allocation. The allocation stays if buffers outlive their pool.
template <class Traits>
class BufferCore {
    using Platform = typename Traits::Platform;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

public:
    /// The state of a buffer. It is not in the buffer, because a device may own the buffer.
    struct alignas(std::max(Traits::cacheLineSize, alignof(void*))) Slot {
        explicit Slot(BufferCore& owner) noexcept : core(&owner) {}
        BufferCore* core;
        Atomic<std::uint32_t> holders{0};  // number of tokens, or 1 for the writer; 0: free
        FreeListNext<Platform> next{0};
    };

    using FreeList = ShardedFreeList<Traits, Slot>;

    /// Throws the exceptions of the memory resource.
    static BufferCore& create(const BufferLayout& layout, std::pmr::memory_resource* memory) {
        void* const begin = memory->allocate(bytesOf(layout), alignmentOf(layout));
        return *::new (static_cast<std::byte*>(begin) + coreOffset(layout))
            BufferCore(layout, static_cast<std::byte*>(begin), memory);
    }

    /// All buffers must be free. Waits for threads that are giving a buffer back.
    static void destroy(BufferCore& core) noexcept {
        BasicBackoff<Platform> backoff;
        while (core.free_.count() != core.layout_.count) {
            backoff.wait();
        }
        const BufferLayout layout = core.layout_;
        std::byte* const begin = core.begin_;
        std::pmr::memory_resource* const memory = core.memory_;
        toldOfPoolsEnd(&core);
        openMemory(begin, layout.count * layout.stride);
        for (std::size_t i = 0; i < layout.count; ++i) {
            core.slots_[i].~Slot();
        }
        core.~BufferCore();
        memory->deallocate(begin, bytesOf(layout), alignmentOf(layout));
    }

    /// The most buffers of this stride that mostBytes and the numbers of the free list allow.
    static std::size_t mostBuffers(std::size_t stride) noexcept {
        return std::min<std::size_t>(mostFreeNodes<Platform>, mostBytes / (stride + sizeof(Slot)));
    }
    static constexpr std::size_t mostBytes = std::numeric_limits<std::size_t>::max() / 4;

    // ---- Buffers

    /// A buffer that the caller alone holds, or null when all were in use.
    Slot* acquire() noexcept {
        Slot* const slot = free_.take();
        if (__builtin_expect(slot == nullptr, 0)) {
            exhausted_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a figure
            return nullptr;
        }
        // Relaxed: the slot is the caller's alone until it hands the buffer on.
        slot->holders.store(1, std::memory_order_relaxed);
        toldOfAllocation(this, dataOf(*slot), layout_.size);
        return slot;
    }

    /// Adds a holder. The caller is a holder already.
    void share(Slot& slot) noexcept {
        // Relaxed: the caller's own hold keeps the count from reaching 0.
        const std::uint32_t before = slot.holders.fetch_add(1, std::memory_order_relaxed);
        SLUICE_ASSERT(before != 0 && before != std::numeric_limits<std::uint32_t>::max(),
                      "too many tokens on one buffer, or one that was released already");
    }

    /// Removes a holder. The last one gives the buffer back.
    void release(Slot& slot) noexcept {
        if (isLast(slot)) {
            toldOfDeallocation(this, dataOf(slot), layout_.size);
            free_.give(slot);
        }
    }

    std::byte* dataOf(const Slot& slot) const noexcept {
        return begin_ + static_cast<std::size_t>(&slot - slots_) * layout_.stride;
    }

    const BufferLayout& layout() const noexcept { return layout_; }

    // ---- Figures. Relaxed: exact if the caller has synchronised with all users of the pool.

    std::size_t inUse() const noexcept {
        std::size_t sum = 0;
        for (std::size_t i = 0; i < layout_.count; ++i) {
            sum += slots_[i].holders.load(std::memory_order_relaxed) != 0 ? 1 : 0;
        }
        return sum;
    }
    std::size_t exhausted() const noexcept { return exhausted_.load(std::memory_order_relaxed); }

private:
    BufferCore(const BufferLayout& layout, std::byte* begin,
               std::pmr::memory_resource* memory) noexcept
        : layout_(layout),
          begin_(begin),
          slots_(buildSlots(layout, begin, *this)),
          memory_(memory),
          free_(slots_, layout.count) {
        toldOfPool(this);
        closeMemory(begin, layout.count * layout.stride);
    }
    ~BufferCore() = default;

    static Slot* buildSlots(const BufferLayout& layout, std::byte* begin, BufferCore& core) {
        std::byte* const slots = begin + slotsOffset(layout);
        for (std::size_t i = 0; i < layout.count; ++i) {
            ::new (slots + i * sizeof(Slot)) Slot(core);
        }
        return std::launder(reinterpret_cast<Slot*>(slots));
    }

    /// Edge E2: a reader's last use of the buffer -> holders release .. holders acquire by the last
    /// holder, which gives the buffer back.
    static bool isLast(Slot& slot) noexcept {
        // A sole holder needs no exchange, because only a holder can share the buffer.
        if (slot.holders.load(std::memory_order_acquire) == 1) {
            slot.holders.store(0, std::memory_order_relaxed);  // relaxed: for inUse() alone
            return true;
        }
        return slot.holders.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    static std::size_t roundedUp(std::size_t bytes, std::size_t alignment) noexcept {
        return (bytes + alignment - 1) / alignment * alignment;
    }
    static std::size_t slotsOffset(const BufferLayout& layout) noexcept {
        return roundedUp(layout.count * layout.stride, alignof(Slot));
    }
    static std::size_t coreOffset(const BufferLayout& layout) noexcept {
        return roundedUp(slotsOffset(layout) + layout.count * sizeof(Slot), alignof(BufferCore));
    }
    static std::size_t bytesOf(const BufferLayout& layout) noexcept {
        return coreOffset(layout) + sizeof(BufferCore);
    }
    static std::size_t alignmentOf(const BufferLayout& layout) noexcept {
        return std::max({layout.alignment, alignof(Slot), alignof(BufferCore)});
    }

    const BufferLayout layout_;
    std::byte* const begin_;
    Slot* const slots_;
    std::pmr::memory_resource* const memory_;
    Atomic<std::size_t> exhausted_{0};
    FreeList free_;
};

}  // namespace sluice::detail
