#pragma once

#include <sluice/base/cache_line.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace [[gnu::visibility("default")]] sluice {

template <class Platform>
class BasicPresence;

namespace detail {

/// The sections of one thread: an entry for each, with the address of the object that the thread is
/// inside of. The edges are explained in presence.hpp.
template <class Platform>
struct alignas(cacheLineSize) PresenceSlot {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    using Word = std::uintptr_t;
    using Entry = Atomic<Word>;

    // Bits of a word below the address.

    /// Flips with each section of the entry.
    static constexpr Word phase = 1;
    /// Set in the first entry of a slot that is given back when its section ends.
    static constexpr Word temporary = 2;
    /// The alignment of addresses. No section uses an entry with a smaller word.
    static constexpr Word firstAddress = 4;

    static constexpr std::size_t entriesInLine = 8;

    /// More entries, for sections that are nested deeply.
    struct Block {
        Entry entries[entriesInLine]{};
        Atomic<Block*> next{nullptr};
    };

    explicit PresenceSlot(BasicPresence<Platform>& presence) noexcept : home(presence) {}
    PresenceSlot(const PresenceSlot&) = delete;
    PresenceSlot& operator=(const PresenceSlot&) = delete;

    ~PresenceSlot() {
        Block* block = more.load(std::memory_order_relaxed);  // relaxed, both: unused
        while (block != nullptr) {
            delete std::exchange(block, block->next.load(std::memory_order_relaxed));
        }
    }

    static Word wordOf(const void* where) noexcept { return reinterpret_cast<Word>(where); }
    static bool isIn(Word word, const void* where) noexcept {
        return (word & ~(firstAddress - 1)) == wordOf(where);
    }

    /// The entry with this index; null if there are fewer entries.
    Entry* entryAt(std::size_t index) noexcept {
        if (index < entriesInLine) {
            return &entries[index];
        }
        Block* block = more.load(std::memory_order_acquire);  // E4
        for (index -= entriesInLine; block != nullptr && index >= entriesInLine;
             index -= entriesInLine) {
            block = block->next.load(std::memory_order_acquire);  // E4
        }
        return block != nullptr ? &block->entries[index] : nullptr;
    }

    template <class Test>
    bool anyEntry(Test test) noexcept {
        for (std::size_t index = 0;; ++index) {
            Entry* const entry = entryAt(index);
            if (entry == nullptr || test(*entry)) {
                return entry != nullptr;
            }
        }
    }

    /// An entry for a nested section. The owner calls it. May throw std::bad_alloc.
    [[gnu::noinline]] Entry& freeEntry() {
        Entry* free = nullptr;
        const auto isFree = [&free](Entry& entry) {
            free = &entry;
            return entry.load(std::memory_order_relaxed) < firstAddress;  // relaxed: its own
        };
        if (anyEntry(isFree)) {
            return *free;
        }
        Atomic<Block*>* link = &more;
        while (Block* const block = link->load(std::memory_order_relaxed)) {  // relaxed: its own
            link = &block->next;
        }
        Block* const block = new Block;
        link->store(block, std::memory_order_release);  // E4
        return block->entries[0];
    }

    // Written by the owner for each section, read by grace periods.
    Entry entries[entriesInLine]{};

    alignas(cacheLineSize) Atomic<Block*> more{nullptr};
    Atomic<bool> isTaken{true};
    /// The thread that owns the slot; null while it has no owner.
    Atomic<const void*> thread{nullptr};
    /// The entry that the owner waits for in waitForOthers(), otherwise null; and its word.
    Atomic<const Entry*> awaited{nullptr};
    Atomic<Word> awaitedWord{0};
    BasicPresence<Platform>& home;
    PresenceSlot* next = nullptr;
};

}  // namespace detail
}  // namespace sluice
