#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/memory/data_token.hpp>
#include <sluice/memory/detail/free_list.hpp>
#include <sluice/memory/detail/misuse.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <new>

namespace sluice {

struct BufferPoolTraits {
    using Platform = StdPlatform;
    static constexpr std::size_t cacheLineSize = sluice::cacheLineSize;
};

/// Reports buffers that are still in use when their pool is destroyed.
struct BufferLeak {
    const char* name;  ///< the pool's name from its options
    std::size_t buffers;
    std::size_t bufferSize;
};

struct BufferPoolOptions {
    std::size_t bufferSize = 0;  ///< bytes, at least 1
    /// A power of two; smaller values are raised to the alignment of std::max_align_t.
    std::size_t alignment = std::max(cacheLineSize, alignof(std::max_align_t));
    std::size_t buffers = 0;          ///< the number of buffers, at least 1
    const char* name = "BufferPool";  ///< for the leak report
    /// Called by the pool's destructor if buffers are in use. Without onLeak, an assertion fails.
    void (*onLeak)(const BufferLeak&) noexcept = nullptr;
};

struct BufferPoolStatistics {
    std::size_t buffers;
    std::size_t inUse;        ///< buffers in use; exact while no thread calls the pool
    std::uint64_t exhausted;  ///< calls of tryAcquire() that found no buffer
};

/// A pool of buffers of one size. One thread fills a buffer, and other threads read the buffer
/// without a copy. A buffer becomes free when its last DataToken is destroyed.
///
///     auto frame = pool.tryAcquire();
///     if (frame) {
///         const std::size_t length = read(frame.data(), frame.capacity());
///         queue.push(std::move(frame).publish(length));  // a DataToken
///     }
///
/// Use BufferPool for payloads too large for a queue's slot: frames, samples, packets, DMA data.
/// Use ObjectPool<T> for objects with constructors.
///
/// Thread safety: any thread and any interrupt may call any member of the pool. Only one thread at
/// a time may use a WritableBuffer or a DataToken. All calls are lock-free, but the pool's
/// destructor waits for threads that are returning a buffer.
///
/// Errors: tryAcquire() fails only if all buffers were in use at some moment during the call.
///
/// Performance: the constructor allocates all memory in one piece.
template <class Traits = BufferPoolTraits>
class BasicBufferPool {
    struct Slot;
    class Core;

public:
    /// The only handle to a buffer while a thread fills it; may be empty. The destructor returns an
    /// unpublished buffer to the pool.
    class [[nodiscard]] WritableBuffer {
    public:
        WritableBuffer() noexcept = default;

        [[nodiscard]] explicit operator bool() const noexcept { return slot_ != nullptr; }

        /// Returns null if the WritableBuffer is empty.
        [[nodiscard]] std::byte* data() const noexcept {
            return slot_ != nullptr ? slot_->core->dataOf(*slot_) : nullptr;
        }
        [[nodiscard]] std::size_t capacity() const noexcept {
            return slot_ != nullptr ? slot_->core->layout.size : 0;
        }

        /// Ends the writing and returns a token for the first `length` bytes. If the WritableBuffer
        /// is empty or `length` exceeds capacity(), an assertion fails. Release builds return an
        /// empty token if the WritableBuffer is empty, and limit `length` to capacity().
        DataToken publish(std::size_t length, std::uint64_t timeStamp = 0) && noexcept {
            SLUICE_ASSERT(slot_ != nullptr, "there is no buffer to publish: test what tryAcquire "
                                            "returned, and publish it once");
            SLUICE_ASSERT(length <= capacity(),
                          detail::AssertionText("publishing more bytes than the buffer has: ",
                                                length, "; write and publish at most capacity()")
                              .text);
            if (slot_ == nullptr) {
                return {};
            }
            std::byte* const begin = data();
            const std::size_t shown = std::min(length, capacity());
            detail::closeMemory(begin + shown, capacity() - shown);
            const auto giveBack = [](void* slot, const std::byte*, std::size_t) noexcept {
                Release()(static_cast<Slot*>(slot));
            };
            const auto share = [](void* slot, const std::byte*, std::size_t) noexcept {
                Core::share(*static_cast<Slot*>(slot));
            };
            return {begin, shown, giveBack, slot_.release(), share, timeStamp};
        }

        void reset() noexcept { slot_.reset(); }

    private:
        friend class BasicBufferPool;
        explicit WritableBuffer(Slot* slot) noexcept : slot_(slot) {}

        struct Release {
            void operator()(Slot* slot) const noexcept { slot->core->release(*slot); }
        };
        std::unique_ptr<Slot, Release> slot_;
    };

    /// Calls setupError() if an option is 0 or too large, or the alignment is not a power of two.
    explicit BasicBufferPool(const BufferPoolOptions& options,
                             std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : options_(options), core_(Core::create(Layout(options), memory)) {}
    BasicBufferPool(const BasicBufferPool&) = delete;
    BasicBufferPool& operator=(const BasicBufferPool&) = delete;

    /// If buffers are in use, the destructor calls Options::onLeak or fails an assertion, and the
    /// memory stays allocated.
    ~BasicBufferPool() {
        const std::size_t used = core_.inUse();
        if (used == 0) {
            Core::destroy(core_);
        } else if (options_.onLeak != nullptr) {
            options_.onLeak(BufferLeak{options_.name, used, bufferSize()});
        } else {
            SLUICE_ASSERT(used == 0,
                          detail::AssertionText("buffers that outlive their pool: ", used,
                                                "; destroy their tokens first, or set onLeak")
                              .text);
        }
    }

    WritableBuffer tryAcquire() noexcept { return WritableBuffer(core_.acquire()); }

    [[nodiscard]] BufferPoolStatistics statistics() const noexcept {
        return {buffers(), core_.inUse(), core_.exhausted.load(std::memory_order_relaxed)};
    }

    [[nodiscard]] std::size_t buffers() const noexcept { return core_.layout.count; }
    [[nodiscard]] std::size_t bufferSize() const noexcept { return core_.layout.size; }
    [[nodiscard]] std::size_t alignment() const noexcept { return core_.layout.alignment; }

private:
    // Happens-before edges (proof: docs/algorithms/pools.md):
    //   E1 hand-over: release -> acquire.
    //   E2 last: release -> release.
    // Invariant: a buffer is in the free list, has one writer, or has as many holders as tokens.

    using Platform = typename Traits::Platform;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

    struct Layout {
        explicit Layout(const BufferPoolOptions& options)
            : size(options.bufferSize), alignment(options.alignment), count(options.buffers) {
            constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 4;
            constexpr std::size_t least = alignof(std::max_align_t);
            detail::requireAtLeast("buffer size of a BufferPool is too small", size, 1);
            detail::requireAtMost("buffer size of a BufferPool is too large", size, most);
            detail::requirePowerOfTwo("alignment of a BufferPool is not a power of two", alignment,
                                      least);
            detail::requireAtMost("alignment of a BufferPool is too large", alignment, most);
            detail::requireAtLeast("number of buffers of a BufferPool is too small", count, 1);
            stride = roundedUp(size, std::max(alignment, least));
            detail::requireAtMost("number of buffers of a BufferPool is too large", count,
                                  std::min<std::size_t>(detail::mostFreeNodes<Platform>,
                                                        most / (stride + sizeof(Slot))));
        }

        static std::size_t roundedUp(std::size_t bytes, std::size_t unit) noexcept {
            return (bytes + unit - 1) / unit * unit;
        }
        // The memory of a pool has three parts: the buffers, their slots, and the core.
        std::size_t slotsAt() const noexcept { return roundedUp(count * stride, alignof(Slot)); }
        std::size_t coreAt() const noexcept {
            return roundedUp(slotsAt() + count * sizeof(Slot), alignof(Core));
        }
        std::size_t bytes() const noexcept { return coreAt() + sizeof(Core); }
        std::size_t strictest() const noexcept {
            return std::max({alignment, alignof(Slot), alignof(Core)});
        }

        std::size_t size;
        std::size_t alignment;
        std::size_t count;
        std::size_t stride = 0;
    };

    const BufferPoolOptions options_;
    Core& core_;
};

/// The state of a buffer. A Slot lies outside its buffer, because a device may own the buffer.
template <class Traits>
struct alignas(std::max(Traits::cacheLineSize, alignof(void*))) BasicBufferPool<Traits>::Slot {
    explicit Slot(Core& owner) noexcept : core(&owner) {}
    Core* core;
    Atomic<std::uint32_t> holders{0};  // the number of tokens, or 1 for the writer, or 0 if free
    detail::FreeListNext<Platform> next{0};
};

/// The part of a BufferPool that its tokens use. The memory that contains the Core and the buffers
/// stays allocated if tokens outlive the pool.
template <class Traits>
class BasicBufferPool<Traits>::Core {
public:
    static Core& create(const Layout& layout, std::pmr::memory_resource* memory) {
        auto* const begin =
            static_cast<std::byte*>(memory->allocate(layout.bytes(), layout.strictest()));
        return *::new (begin + layout.coreAt()) Core(layout, begin, memory);
    }

    /// Frees the memory after all running calls of release() have ended.
    static void destroy(Core& core) noexcept {
        BasicBackoff<Platform> backoff;
        for (std::size_t taken = 0; taken != core.layout.count;) {
            if (core.free_.take() != nullptr) {
                ++taken;
            } else {
                backoff.wait();
            }
        }
        const Layout layout = core.layout;
        std::byte* const begin = core.begin_;
        std::pmr::memory_resource* const memory = core.memory_;
        detail::openMemory(begin, layout.count * layout.stride);
        core.~Core();
        memory->deallocate(begin, layout.bytes(), layout.strictest());
    }

    Slot* acquire() noexcept {
        Slot* const slot = free_.take();  // E1 hand-over
        if (SLUICE_UNLIKELY(slot == nullptr)) {
            exhausted.fetch_add(1, std::memory_order_relaxed);  // value only
            return nullptr;
        }
        slot->holders.store(1, std::memory_order_relaxed);  // not shared
        detail::openMemory(dataOf(*slot), layout.size);
        return slot;
    }

    static void share(Slot& slot) noexcept {
        // Relaxed: value only.
        const std::uint32_t before = slot.holders.fetch_add(1, std::memory_order_relaxed);
        SLUICE_ASSERT(before != 0 && before != std::numeric_limits<std::uint32_t>::max(),
                      "too many tokens on one buffer, or one that was released already");
    }

    void release(Slot& slot) noexcept {
        // A sole holder needs no read-modify-write, because only holders can create tokens.
        if (slot.holders.load(std::memory_order_acquire) == 1) {                 // E2 last
            slot.holders.store(0, std::memory_order_relaxed);                    // value only
        } else if (slot.holders.fetch_sub(1, std::memory_order_acq_rel) != 1) {  // E2 last
            return;
        }
        detail::closeMemory(dataOf(slot), layout.size);
        free_.give(slot);  // E1 hand-over
    }

    std::byte* dataOf(const Slot& slot) const noexcept {
        return begin_ + static_cast<std::size_t>(&slot - slots_) * layout.stride;
    }

    std::size_t inUse() const noexcept {
        return static_cast<std::size_t>(
            std::count_if(slots_, slots_ + layout.count, [](const Slot& slot) {
                return slot.holders.load(std::memory_order_relaxed) != 0;  // value only
            }));
    }

    const Layout layout;
    Atomic<std::size_t> exhausted{0};

private:
    Core(const Layout& wanted, std::byte* begin, std::pmr::memory_resource* memory) noexcept
        : layout(wanted),
          begin_(begin),
          slots_(buildSlots(wanted, begin, *this)),
          memory_(memory),
          free_(slots_, wanted.count) {
        detail::closeMemory(begin, layout.count * layout.stride);
    }
    ~Core() = default;

    static Slot* buildSlots(const Layout& layout, std::byte* begin, Core& core) noexcept {
        std::byte* const slots = begin + layout.slotsAt();
        for (std::size_t i = 0; i < layout.count; ++i) {
            ::new (slots + i * sizeof(Slot)) Slot(core);
        }
        return std::launder(reinterpret_cast<Slot*>(slots));
    }

    std::byte* const begin_;
    Slot* const slots_;
    std::pmr::memory_resource* const memory_;
    // On its own cache line, because each thread that acquires or returns a buffer writes free_.
    alignas(std::max(Traits::cacheLineSize, alignof(void*))) detail::FreeList<Platform, Slot> free_;
};

using BufferPool = BasicBufferPool<>;
using WritableBuffer = BufferPool::WritableBuffer;

}  // namespace sluice
