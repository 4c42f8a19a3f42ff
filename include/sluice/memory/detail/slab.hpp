#pragma once

#include <sluice/memory/detail/memory_checkers.hpp>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sluice::detail {

/// How the blocks of a pool lie in its slabs.
struct SlabLayout {
    std::size_t stride;  // the block size, rounded up to the alignment
    std::size_t alignment;
    bool prefault;
    bool hugePages;
};

/// One allocation: a run of blocks, then this head, then a mark for each block.
///
/// Only debug builds use the marks. All builds have marks, because they may share a pool.
class Slab {
public:
    /// Throws the exceptions of the memory resource.
    static Slab& create(const SlabLayout& layout, std::size_t count,
                        std::pmr::memory_resource* memory) {
        const std::size_t bytes = bytesOf(layout, count);
        auto* const begin = static_cast<std::byte*>(memory->allocate(bytes, alignmentOf(layout)));
        if (layout.hugePages) {
            askForHugePages(begin, bytes);
        }
        if (layout.prefault) {
            touch(begin, bytes);
        }
        auto* const slab = ::new (begin + headOffset(layout, count)) Slab(begin, count);
        for (std::size_t i = 0; i < marksFor(count); ++i) {
            ::new (slab->marks() + i) Marks(~Marks{0});
        }
        closeMemory(begin, count * layout.stride);
        return *slab;
    }

    static void destroy(Slab& slab, const SlabLayout& layout, std::pmr::memory_resource* memory) {
        std::byte* const begin = slab.begin_;
        const std::size_t count = slab.count_;
        openMemory(begin, count * layout.stride);
        slab.~Slab();
        memory->deallocate(begin, bytesOf(layout, count), alignmentOf(layout));
    }

    std::size_t blockCount() const noexcept { return count_; }
    void* block(std::size_t index, const SlabLayout& layout) const noexcept {
        return begin_ + index * layout.stride;
    }

    /// Whether the address is within the blocks.
    bool covers(const void* address, const SlabLayout& layout) const noexcept {
        return offsetOf(address) < count_ * layout.stride;
    }

    /// Whether a block begins at this address, which is covered.
    bool hasBlockAt(const void* address, const SlabLayout& layout) const noexcept {
        return offsetOf(address) % layout.stride == 0;
    }

    /// The number of the block at this address, which is covered.
    std::size_t indexOf(const void* block, const SlabLayout& layout) const noexcept {
        return offsetOf(block) / layout.stride;
    }

    /// Marks the block at this address as free or as used. Returns whether it was marked as free.
    /// All blocks of a new slab are marked as free.
    bool exchangeMark(const void* block, const SlabLayout& layout, bool isFree) noexcept {
        const std::size_t index = indexOf(block, layout);
        Marks& marks = this->marks()[index / marksInOne];
        const Marks mask = Marks{1} << index % marksInOne;
        const bool before = (marks & mask) != 0;
        marks = isFree ? marks | mask : marks & ~mask;
        return before;
    }

    /// The bytes of a slab. With huge pages: a whole number of huge pages.
    static std::size_t bytesOf(const SlabLayout& layout, std::size_t count) noexcept {
        const std::size_t bytes =
            headOffset(layout, count) + sizeof(Slab) + marksFor(count) * sizeof(Marks);
        return layout.hugePages ? (bytes + hugePage - 1) / hugePage * hugePage : bytes;
    }
    /// The number of blocks in a slab of `bytes`, at least 1. `bytes` is at least a huge page.
    static std::size_t blocksIn(const SlabLayout& layout, std::size_t bytes) noexcept {
        const std::size_t room = bytes - alignof(Slab) - sizeof(Slab) - sizeof(Marks);
        const std::size_t blocks = room / layout.stride;
        // Each group of blocks has a word of marks.
        const std::size_t marked = room / (layout.stride * marksInOne + sizeof(Marks)) * marksInOne;
        return blocks == 0 ? 1 : marked == 0 ? blocks : marked;
    }

    static constexpr std::size_t hugePage = std::size_t{2} << 20;

    Slab* next = nullptr;
    std::size_t freeBlocks = 0;  // counted by a trim, otherwise 0
    Slab* lower = nullptr;       // in a SlabTree
    Slab* higher = nullptr;

private:
    using Marks = std::uint64_t;
    static constexpr std::size_t marksInOne = 64;

    static std::size_t marksFor(std::size_t count) noexcept {
        return (count + marksInOne - 1) / marksInOne;
    }
    Marks* marks() noexcept { return reinterpret_cast<Marks*>(this + 1); }

    Slab(std::byte* begin, std::size_t count) noexcept : begin_(begin), count_(count) {}
    ~Slab() = default;

    static std::size_t headOffset(const SlabLayout& layout, std::size_t count) noexcept {
        const std::size_t end = count * layout.stride;
        return (end + alignof(Slab) - 1) / alignof(Slab) * alignof(Slab);
    }
    static std::size_t alignmentOf(const SlabLayout& layout) noexcept {
        const std::size_t least = layout.hugePages ? hugePage : alignof(Slab);
        return layout.alignment < least ? least : layout.alignment;
    }
    std::size_t offsetOf(const void* address) const noexcept {
        return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(begin_);
    }

    /// A request only: a kernel without free huge pages gives ordinary pages.
    static void askForHugePages([[maybe_unused]] std::byte* begin,
                                [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        (void)::madvise(begin, bytes, MADV_HUGEPAGE);
#endif
    }

    static void touch(std::byte* begin, std::size_t bytes) noexcept {
        constexpr std::size_t page = 4096;
        for (std::size_t at = 0; at < bytes; at += page) {
            *static_cast<volatile std::byte*>(begin + at) = std::byte{0};
        }
        *static_cast<volatile std::byte*>(begin + bytes - 1) = std::byte{0};
    }

    std::byte* begin_;
    std::size_t count_;
};

}  // namespace sluice::detail
