#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/backoff.hpp>
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

/// The buffers of one pool, their holders, and the free ones: all in one allocation, this object
/// included, so that buffers which outlive their pool can keep it.
template <class Traits>
class BufferCore {
    using Platform = typename Traits::Platform;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

public:
    /// The state of a buffer; apart from it, because devices want the buffer for themselves.
    struct alignas(std::max(Traits::cacheLineSize, alignof(void*))) Slot {
        explicit Slot(BufferCore& owner) noexcept : core(&owner) {}
        BufferCore* core;
        Atomic<std::uint32_t> holders{0};  // tokens on the buffer, or the writer; 0: free
        FreeListNext<Platform> next{0};
    };

    using FreeList = ShardedFreeList<Traits, Slot>;

    /// Throws the exceptions of the memory resource.
    static BufferCore& create(const BufferLayout& layout, std::pmr::memory_resource* memory) {
        void* const begin = memory->allocate(bytesOf(layout), alignmentOf(layout));
        return *::new (static_cast<std::byte*>(begin) + coreOffset(layout))
            BufferCore(layout, static_cast<std::byte*>(begin), memory);
    }

    /// All buffers must be free. Waits for threads that are giving one back at this moment.
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

    /// The most buffers of this stride whose bytes can be counted, and which the list can number.
    static std::size_t mostBuffers(std::size_t stride) noexcept {
        return std::min<std::size_t>(mostFreeNodes<Platform>, mostBytes / (stride + sizeof(Slot)));
    }
    static constexpr std::size_t mostBytes = std::numeric_limits<std::size_t>::max() / 4;

    // ---- Buffers

    /// A buffer that the caller alone holds, or null when all were in use.
    Slot* acquire() noexcept {
        Slot* const slot = free_.take();
        if (__builtin_expect(slot == nullptr, 0)) {
            exhausted_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a mere number
            return nullptr;
        }
        // Relaxed: the slot is the caller's alone until it hands the buffer on.
        slot->holders.store(1, std::memory_order_relaxed);
        toldOfAllocation(this, dataOf(*slot), layout_.size);
        return slot;
    }

    /// One holder more; the caller is one already.
    void share(Slot& slot) noexcept {
        // Relaxed: the caller's own hold keeps the count from reaching 0.
        const std::uint32_t before = slot.holders.fetch_add(1, std::memory_order_relaxed);
        SLUICE_ASSERT(before != 0 && before != std::numeric_limits<std::uint32_t>::max(),
                      "too many tokens on one buffer, or one that was released already");
    }

    /// One holder less. The last one gives the buffer back.
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

    // ---- Figures. Relaxed: exact once the threads' work is done and known to be.

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

    /// Edge E2: a reader's last look at the buffer -> holders release .. holders acquire, by the
    /// last one, which gives the buffer back.
    static bool isLast(Slot& slot) noexcept {
        // A sole holder needs no exchange: nobody else can share a buffer that nobody else holds.
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
