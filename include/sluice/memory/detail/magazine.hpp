#pragma once

#include <sluice/base/tagged_head.hpp>
#include <sluice/memory/detail/block_options.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <new>

namespace sluice::detail {

/// Up to `Rounds` free blocks that threads hand over as a whole.
template <class Platform, std::size_t Rounds>
struct Magazine {
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

    bool isEmpty() const noexcept { return size() == 0; }
    bool isFull() const noexcept { return size() == Rounds; }

    /// Relaxed, here and below: only the holder of a magazine changes it. Others need a rough size.
    std::size_t size() const noexcept { return count.load(std::memory_order_relaxed); }

    /// Returns false if the magazine is full. Ends the program if the block is on top already, also
    /// in release builds. Reads the count once, because compilers repeat the load of an atomic.
    bool tryPush(void* block) noexcept {
        const std::uint32_t old = count.load(std::memory_order_relaxed);
        if (__builtin_expect(blocks[old] == block, 0)) {
            failFreedTwice(block);
        }
        if (__builtin_expect(old == Rounds, 0)) {
            return false;
        }
        blocks[old + 1] = block;
        count.store(old + 1, std::memory_order_relaxed);
        return true;
    }
    /// Returns null if the magazine is empty. It tests the block, not the count, for close().
    void* tryPop() noexcept {
        const std::uint32_t old = count.load(std::memory_order_relaxed);
        void* const block = blocks[old];
        if (__builtin_expect(block == nullptr, 0)) {
            return nullptr;
        }
        count.store(old - 1, std::memory_order_relaxed);
        return block;
    }

    /// From now on tryPush() finds the magazine full, and tryPop() finds it empty.
    void close() noexcept {
        blocks[Rounds] = nullptr;
        count.store(Rounds, std::memory_order_relaxed);
    }

    auto begin() const noexcept { return blocks.begin() + 1; }
    auto end() const noexcept { return begin() + static_cast<std::ptrdiff_t>(size()); }

    Atomic<std::uint32_t> count{0};
    std::uint32_t number = 0;  // its number in stacks; at least 1, never changes
    Atomic<std::uint32_t> next{0};
    /// The blocks after a null pointer, which tells tryPop() that the magazine is empty.
    std::array<void*, Rounds + 1> blocks;

    Magazine() noexcept { blocks[0] = nullptr; }
};

/// All the magazines of a pool, found by number. They live as long as the pool, so that a thread
/// that is slow in MagazineStack::pop still reads a magazine.
template <class Platform, std::size_t Rounds>
class MagazineStore {
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

public:
    using Magazine = detail::Magazine<Platform, Rounds>;

    explicit MagazineStore(std::pmr::memory_resource* memory) noexcept : memory_(memory) {}
    MagazineStore(const MagazineStore&) = delete;
    MagazineStore& operator=(const MagazineStore&) = delete;

    ~MagazineStore() { clear(); }

    /// Frees all magazines. The caller ensures that no thread uses one any more.
    void clear() noexcept {
        for (std::size_t group = 0; group < groupCount; ++group) {
            // Relaxed: the caller is alone.
            Magazine* const first = groups_[group].load(std::memory_order_relaxed);
            if (first != nullptr) {
                groups_[group].store(nullptr, std::memory_order_relaxed);
                freeGroup(first, group);
            }
        }
    }

    /// Makes an empty magazine. If the memory resource throws, nothing has changed.
    Magazine& create() {
        std::uint32_t last = count_.load(std::memory_order_relaxed);
        do {
            const std::size_t group = groupOf(last + 1);
            if (groups_[group].load(std::memory_order_acquire) == nullptr) {
                addGroup(group);
            }
            // Release, for count(); the numbers themselves carry no data.
        } while (!count_.compare_exchange_weak(last, last + 1, std::memory_order_release,
                                               std::memory_order_relaxed));
        return at(last + 1);
    }

    /// The largest number of a magazine. Acquire: at() finds the group of each counted magazine.
    std::uint32_t count() const noexcept { return count_.load(std::memory_order_acquire); }

    Magazine& at(std::uint32_t number) const noexcept {
        const std::size_t group = groupOf(number);
        Magazine* const first = groups_[group].load(std::memory_order_acquire);
        return first[number - firstOf(group)];
    }

private:
    // Group g holds 8 * 2^g magazines. The first one has the number 8 * 2^g - 7.
    static constexpr std::size_t groupCount = 28;
    static std::size_t sizeOf(std::size_t group) noexcept { return std::size_t{8} << group; }
    static std::uint32_t firstOf(std::size_t group) noexcept {
        return static_cast<std::uint32_t>(sizeOf(group) - 7);
    }
    static std::size_t groupOf(std::uint32_t number) noexcept {
        std::size_t group = 0;
        while (number >= firstOf(group + 1)) {
            ++group;
        }
        return group;
    }

    void addGroup(std::size_t group) {
        const std::size_t bytes = sizeOf(group) * sizeof(Magazine);
        auto* const first = static_cast<Magazine*>(memory_->allocate(bytes, alignof(Magazine)));
        for (std::size_t i = 0; i < sizeOf(group); ++i) {
            ::new (first + i) Magazine;
            first[i].number = static_cast<std::uint32_t>(firstOf(group) + i);
        }
        Magazine* expected = nullptr;
        if (!groups_[group].compare_exchange_strong(expected, first, std::memory_order_release,
                                                    std::memory_order_relaxed)) {
            freeGroup(first, group);
        }
    }

    void freeGroup(Magazine* first, std::size_t group) noexcept {
        for (std::size_t i = 0; i < sizeOf(group); ++i) {
            first[i].~Magazine();
        }
        memory_->deallocate(first, sizeOf(group) * sizeof(Magazine), alignof(Magazine));
    }

    std::pmr::memory_resource* memory_;
    Atomic<std::uint32_t> count_{0};
    std::array<Atomic<Magazine*>, groupCount> groups_{};
};

/// A stack of magazines that any thread pushes to and pops from. The magazine that is popped
/// carries the writes of its pusher.
template <class Platform, std::size_t Rounds>
class MagazineStack {
public:
    using Store = MagazineStore<Platform, Rounds>;
    using Magazine = typename Store::Magazine;

    void push(Magazine& magazine) noexcept {
        head_.push(magazine.number, [&](std::uint32_t) -> auto& { return magazine.next; });
    }

    Magazine* pop(const Store& store) noexcept {
        Magazine* found = nullptr;
        const auto top = head_.pop([&](std::uint32_t number) -> auto& {
            found = &store.at(number);
            return found->next;
        });
        return top.isEmpty() ? nullptr : found;
    }

private:
    static constexpr std::uint32_t mostNumber = std::numeric_limits<std::uint32_t>::max();
    TaggedHead<Platform, std::uint64_t, mostNumber, 0> head_{0};
};

}  // namespace sluice::detail
