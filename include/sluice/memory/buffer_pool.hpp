#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/cache_line.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/memory/data_token.hpp>
#include <sluice/memory/detail/assertion_text.hpp>
#include <sluice/memory/detail/buffer_core.hpp>
#include <sluice/memory/detail/memory_checkers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <utility>

namespace sluice {

struct BufferPoolTraits {
    using Platform = StdPlatform;
    static constexpr std::size_t cacheLineSize = sluice::cacheLineSize;

    /// Lists that the free buffers are spread over: about as many as threads use the pool at once.
    /// A power of two; 1 for a single core.
    static constexpr std::size_t shards = 8;
};

/// Buffers that are still in use when their pool ends.
struct BufferLeak {
    const char* name;  ///< of the pool, as its options give it
    std::size_t buffers;
    std::size_t bufferSize;
};

struct BufferPoolOptions {
    std::size_t bufferSize = 0;  ///< bytes, at least 1
    /// Of each buffer; a power of two. Buffers lie at a multiple of it, and of the alignment of
    /// std::max_align_t: ask for that of the device, or of a cache line, so that no two share one.
    std::size_t alignment = std::max(cacheLineSize, alignof(std::max_align_t));
    std::size_t buffers = 0;          ///< how many, at least 1
    const char* name = "BufferPool";  ///< for the leak report
    /// Called by the destructor when buffers are still in use. Without one that is an assertion.
    void (*onLeak)(const BufferLeak&) noexcept = nullptr;
};

struct BufferPoolStatistics {
    std::size_t buffers;
    std::size_t inUse;        ///< exact when nobody is at work
    std::uint64_t exhausted;  ///< calls of tryAcquire() that found none
};

/// Equal buffers that are filled on one thread and read on others, without a copy.
///
/// Purpose: payloads too large for a queue's slot: frames, samples, packets, what a device writes
/// by DMA. A writer takes a free buffer, fills it and publishes it; the DataToken that results
/// travels in a message; with the last token on it, the buffer is free again.
///
/// Use it for bytes that are written once and then read by several. Use ObjectPool<T> for objects
/// with constructors, BlockPool for memory whose lifetime you manage yourself.
///
/// Threads: any thread, any member of the pool. A WritableBuffer or DataToken belongs to
/// one thread at a time and may go to another one. The pool must outlive them and all calls on it.
///
/// Progress: all operations on buffers are lock-free. A failed exchange means that another thread's
/// went through; tryAcquire() that finds nothing looks again if others were at work meanwhile. A
/// stopped thread delays nobody, it merely keeps the buffers it has; only the pool's destructor
/// waits for a thread stopped in the middle of giving one back. The platform must have a
/// compare-exchange of 32 bits.
///
/// Memory promise: all that a holder of a buffer did with it before giving it up, reading included,
/// happens before the next writer's work. A token itself is handed over by you, in a
/// synchronised way; then the reader sees the writes of the writer.
///
/// Capacity: exact, Options::buffers; all of them can be had by any thread. Allocation: once, by
/// the constructor. Exhausted means that every buffer was out at some moment during the call: an
/// answer, and counted. Exceptions: from the constructor alone. Shutdown: all buffers must have
/// been given back; see ~BasicBufferPool.
///
/// Origin: free lists as in detail::ShardedFreeList, by Treiber (1986) and others named there.
///
/// Invariants: a buffer is free, in one shard, and has no holder; or it has one writer; or as many
/// holders as tokens.
///
/// Edges: E1 hand-over: last holder's use -> push release .. pop acquire -> next writer's use. E2
/// last: reader's use -> holders release .. holders acquire by the last one -> E1. E3 order: change
/// of a shard release .. look acquire, for the exactness of `exhausted`.
///
/// Tests: tests/unit/memory/buffer_pool_test.cpp, tests/unit/memory/buffer_pool_threads_test.cpp.
template <class Traits = BufferPoolTraits>
class BasicBufferPool {
    using Core = detail::BufferCore<Traits>;
    using Slot = typename Core::Slot;

public:
    /// The only holder of a buffer that is being filled, or of none. It can be moved and not
    /// copied. If it is never published, its buffer goes back all the same.
    class [[nodiscard]] WritableBuffer {
    public:
        WritableBuffer() noexcept = default;
        WritableBuffer(WritableBuffer&& other) noexcept
            : slot_(std::exchange(other.slot_, nullptr)) {}
        WritableBuffer& operator=(WritableBuffer&& other) noexcept {
            if (this != &other) {
                reset();
                slot_ = std::exchange(other.slot_, nullptr);
            }
            return *this;
        }
        WritableBuffer(const WritableBuffer&) = delete;
        WritableBuffer& operator=(const WritableBuffer&) = delete;
        ~WritableBuffer() { reset(); }

        [[nodiscard]] explicit operator bool() const noexcept { return slot_ != nullptr; }

        /// Where to write. The content is undefined at first. Null when there is no buffer.
        [[nodiscard]] std::byte* data() const noexcept {
            return slot_ != nullptr ? slot_->core->dataOf(*slot_) : nullptr;
        }
        /// How many bytes may be written; 0 when there is no buffer.
        [[nodiscard]] std::size_t capacity() const noexcept {
            return slot_ != nullptr ? slot_->core->layout().size : 0;
        }

        /// Ends the writing: a token on the first `length` bytes, which may be shared. No buffer,
        /// and more than capacity() bytes, fail an assertion; without assertions the token is
        /// empty, or ends with the buffer: it never shows what is not the buffer's. `timeStamp`:
        /// see DataToken::timeStamp().
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
            return {begin,      shown,    &releaseSlot, std::exchange(slot_, nullptr),
                    &shareSlot, timeStamp};
        }

        /// Gives the buffer back unpublished. Does nothing when there is none.
        void reset() noexcept {
            if (Slot* const slot = std::exchange(slot_, nullptr)) {
                slot->core->release(*slot);
            }
        }

    private:
        friend class BasicBufferPool;
        explicit WritableBuffer(Slot* slot) noexcept : slot_(slot) {}

        Slot* slot_ = nullptr;
    };

    /// Refuses (see setupError) a size of 0, no buffers, an alignment that is not a power of two,
    /// and sizes that overflow.
    explicit BasicBufferPool(const BufferPoolOptions& options,
                             std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : name_(options.name),
          onLeak_(options.onLeak),
          core_(Core::create(checkedLayout(options), memory)) {}
    BasicBufferPool(const BasicBufferPool&) = delete;
    BasicBufferPool& operator=(const BasicBufferPool&) = delete;

    /// Gives the memory back to the memory resource, once threads that are just giving a buffer
    /// back are through with it. Buffers that are still in use are reported to Options::onLeak, or
    /// fail an assertion. If the program goes on after that, the memory is never given back, so
    /// that they stay valid as long as the memory resource does.
    ~BasicBufferPool() {
        const std::size_t used = core_.inUse();
        if (used == 0) {
            Core::destroy(core_);
        } else if (onLeak_ != nullptr) {
            onLeak_(BufferLeak{name_, used, bufferSize()});
        } else {
            SLUICE_ASSERT(used == 0,
                          detail::AssertionText("buffers that outlive their pool: ", used,
                                                "; destroy their tokens first, or set "
                                                "onLeak")
                              .text);
        }
    }

    /// A free buffer; test it: there is none when all were in use. Cost: one compare-exchange if
    /// the thread's own shard has one and no other thread interferes.
    WritableBuffer tryAcquire() noexcept { return WritableBuffer(core_.acquire()); }

    /// Cost: a look at each buffer.
    [[nodiscard]] BufferPoolStatistics statistics() const noexcept {
        return {buffers(), core_.inUse(), core_.exhausted()};
    }

    [[nodiscard]] std::size_t buffers() const noexcept { return core_.layout().count; }
    [[nodiscard]] std::size_t bufferSize() const noexcept { return core_.layout().size; }
    [[nodiscard]] std::size_t alignment() const noexcept { return core_.layout().alignment; }

private:
    static detail::BufferLayout checkedLayout(const BufferPoolOptions& options) {
        const std::size_t least = alignof(std::max_align_t);
        if (options.bufferSize == 0) {
            setupError("buffer size of a BufferPool is too small", options.bufferSize, 1);
        }
        if (options.bufferSize > Core::mostBytes) {
            setupError("buffer size of a BufferPool is too large", options.bufferSize,
                       Core::mostBytes);
        }
        if (options.alignment == 0 || (options.alignment & (options.alignment - 1)) != 0) {
            setupError("alignment of a BufferPool is not a power of two", options.alignment, least);
        }
        if (options.alignment > Core::mostBytes) {
            setupError("alignment of a BufferPool is too large", options.alignment,
                       Core::mostBytes);
        }
        if (options.buffers == 0) {
            setupError("number of buffers of a BufferPool is too small", options.buffers, 1);
        }
        const std::size_t unit = std::max(options.alignment, least);
        const std::size_t stride = (options.bufferSize + unit - 1) / unit * unit;
        if (options.buffers > Core::mostBuffers(stride)) {
            setupError("number of buffers of a BufferPool is too large", options.buffers,
                       Core::mostBuffers(stride));
        }
        return {options.bufferSize, stride, options.alignment, options.buffers};
    }

    static void releaseSlot(void* slot, const std::byte*, std::size_t) noexcept {
        auto& released = *static_cast<Slot*>(slot);
        released.core->release(released);
    }
    static void shareSlot(void* slot, const std::byte*, std::size_t) noexcept {
        auto& shared = *static_cast<Slot*>(slot);
        shared.core->share(shared);
    }

    const char* const name_;
    void (*const onLeak_)(const BufferLeak&) noexcept;
    Core& core_;
};

/// BasicBufferPool with its usual arguments.
using BufferPool = BasicBufferPool<>;
using WritableBuffer = BufferPool::WritableBuffer;

}  // namespace sluice
