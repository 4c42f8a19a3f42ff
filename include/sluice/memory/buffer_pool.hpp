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

    /// The number of lists that hold the free buffers: about as many as threads use the pool at
    /// once. A power of two; 1 for a single core.
    static constexpr std::size_t shards = 8;
};

/// Buffers that are still in use when their pool ends.
struct BufferLeak {
    const char* name;  ///< the pool's name from its options
    std::size_t buffers;
    std::size_t bufferSize;
};

struct BufferPoolOptions {
    std::size_t bufferSize = 0;  ///< bytes, at least 1
    /// The alignment of each buffer in bytes; a power of two. Buffers are also aligned for
    /// std::max_align_t. Use the alignment of the device, or of a cache line, so that no two
    /// buffers share a line.
    std::size_t alignment = std::max(cacheLineSize, alignof(std::max_align_t));
    std::size_t buffers = 0;          ///< the number of buffers, at least 1
    const char* name = "BufferPool";  ///< for the leak report
    /// The destructor calls it if buffers are still in use. Without it, the destructor fails an
    /// assertion.
    void (*onLeak)(const BufferLeak&) noexcept = nullptr;
};

struct BufferPoolStatistics {
    std::size_t buffers;
    std::size_t inUse;        ///< buffers in use; exact while no thread calls the pool
    std::uint64_t exhausted;  ///< calls of tryAcquire() that found no buffer
};

/// Provides equal buffers that one thread fills and other threads read, without a copy. A writer
/// takes a free buffer, fills it and publishes it. The resulting DataToken travels in a message.
/// When the last token of a buffer ends, the buffer is free again.
///
///     auto frame = pool.tryAcquire();
///     if (frame) {
///         const std::size_t length = read(frame.data(), frame.capacity());
///         queue.push(std::move(frame).publish(length));  // a DataToken
///     }
///
/// Use it for payloads that are too large for a queue's slot, and are written once and read by
/// several threads: frames, samples, packets, data that a device writes by DMA. Use ObjectPool<T>
/// for objects with constructors, BlockPool for memory whose lifetime you manage yourself.
///
/// Threads: any thread calls any member of the pool. One thread at a time uses a WritableBuffer or
/// a DataToken, and may pass it to another thread. The pool must outlive them and all calls on it.
///
/// Progress: all operations on buffers are lock-free. A failed exchange means that another thread
/// succeeded. A tryAcquire() that finds nothing looks again if other threads used the pool
/// meanwhile. A stopped thread delays no other thread, but keeps its buffers. Only the pool's
/// destructor waits for a thread that is stopped in the middle of giving a buffer back. The
/// platform must have a compare-exchange of 32 bits.
///
/// Memory promise: all reads and writes of a holder of a buffer happen before the work of the next
/// writer. If the program passes a token on in a synchronised way, the reader sees the writes of
/// the writer.
///
/// Capacity: exact, Options::buffers; any thread can get each of them. Allocation: once, by the
/// constructor. If every buffer is in use at some moment during the call, tryAcquire() returns
/// none, and counts it. Exceptions: from the constructor only. Shutdown: all buffers must have been
/// given back; see ~BasicBufferPool.
///
/// Origin: free lists as in detail::ShardedFreeList, by Treiber (1986) and others named there.
///
/// Invariants: a buffer is free, in one shard and without holders; or it has one writer; or as many
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
    /// The only holder of a buffer that is being filled, or empty. It can be moved and not copied.
    /// If it is not published, its destructor gives the buffer back.
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

        /// The bytes to write to. At first their content is undefined. Null if there is no buffer.
        [[nodiscard]] std::byte* data() const noexcept {
            return slot_ != nullptr ? slot_->core->dataOf(*slot_) : nullptr;
        }
        /// The number of bytes that may be written; 0 if there is no buffer.
        [[nodiscard]] std::size_t capacity() const noexcept {
            return slot_ != nullptr ? slot_->core->layout().size : 0;
        }

        /// Ends the writing, and returns a token on the first `length` bytes, which may be shared.
        /// `timeStamp`: see DataToken::timeStamp(). It fails an assertion if there is no buffer, or
        /// if `length` is larger than capacity(). Without assertions the token is empty in the
        /// first case, and covers the whole buffer in the second.
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

        /// Gives the buffer back unpublished. Does nothing if there is no buffer.
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

    /// Waits for threads that are giving a buffer back, and gives the memory back to the memory
    /// resource. If buffers are still in use, it calls Options::onLeak, or fails an assertion. If
    /// the program goes on after that, the memory is never given back. So these buffers stay valid
    /// as long as the memory resource.
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

    /// Returns a free buffer, or none if all were in use: test the result. Cost: one
    /// compare-exchange if the thread's own shard has a buffer and no other thread interferes.
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
        detail::requireAtLeast("buffer size of a BufferPool is too small", options.bufferSize, 1);
        detail::requireAtMost("buffer size of a BufferPool is too large", options.bufferSize,
                              Core::mostBytes);
        detail::requirePowerOfTwo("alignment of a BufferPool is not a power of two",
                                  options.alignment, least);
        detail::requireAtMost("alignment of a BufferPool is too large", options.alignment,
                              Core::mostBytes);
        detail::requireAtLeast("number of buffers of a BufferPool is too small", options.buffers,
                               1);
        const std::size_t unit = std::max(options.alignment, least);
        const std::size_t stride = (options.bufferSize + unit - 1) / unit * unit;
        detail::requireAtMost("number of buffers of a BufferPool is too large", options.buffers,
                              Core::mostBuffers(stride));
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

using BufferPool = BasicBufferPool<>;
using WritableBuffer = BufferPool::WritableBuffer;

}  // namespace sluice
