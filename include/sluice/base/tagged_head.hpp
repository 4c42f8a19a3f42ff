#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice {

/// The one-word atomic head of a lock-free stack of numbered nodes. Nodes store their successors.
///
///     TaggedHead<StdPlatform, std::uint64_t, 8, 0> head(0);  // nodes 1 to 8; 0: no node
///     const auto nextOf = [&](std::uint16_t number) -> auto& { return nodes[number].next; };
///     head.push(3, nextOf);
///     if (const auto number = head.pop(nextOf); number != 0) {
///         use(nodes[number]);
///     }
///
/// Use SlotStack if the nodes are the slots of one array.
///
/// Thread safety: any thread or interrupt may call any member. Do not push a node that is in the
/// stack. A node must stay readable as long as any thread may be in pop(). The thread that pops a
/// node sees all writes to the node before its push.
///
/// `MostNumber` is the largest node number. The number `None` means "no node", for example 0.
template <class Platform, class Word, std::uint32_t MostNumber, std::uint32_t None>
class TaggedHead {
    static_assert(std::is_same_v<Word, std::uint64_t> || std::is_same_v<Word, std::uint32_t>,
                  "the word of a TaggedHead has 32 or 64 bits");
    static_assert(None <= MostNumber, "MostNumber of a TaggedHead must include `None`");

    static constexpr unsigned wordBits = sizeof(Word) * 8;
    static constexpr unsigned bitsOf(std::uint32_t number) noexcept {
        unsigned bits = 1;
        while (number >> (bits - 1) > 1) {
            ++bits;
        }
        return bits;
    }
    // Numbers of 16 or 32 bits can be extracted from a 64-bit word without a mask.
    static constexpr unsigned roundedBits = MostNumber <= 0xffff ? 16 : 32;
    static constexpr unsigned numberBits = wordBits == 64 ? roundedBits : bitsOf(MostNumber);

public:
    using Number = std::conditional_t<(MostNumber <= 0xffff), std::uint16_t, std::uint32_t>;

    static constexpr unsigned tagBits = wordBits - numberBits;
    static_assert(tagBits >= 16, "the nodes of a TaggedHead leave fewer than 16 bits for its tag: "
                                 "use fewer nodes, or a word of 64 bits");

    constexpr explicit TaggedHead(Number number) noexcept : word_(number) {}

    /// Pushes a node. `nextOf(number)` returns the Atomic<Number> that holds a node's successor.
    template <class NextOf>
    void push(Number number, NextOf nextOf) noexcept {
        auto& next = nextOf(number);
        Word word = word_.load(std::memory_order_relaxed);  // retried
        do {
            next.store(numberOf(word), std::memory_order_relaxed);  // by E1
        } while (!word_.compare_exchange_weak(word, changed(word, number),
                                              std::memory_order_release,  // E1 free
                                              std::memory_order_relaxed));
    }

    /// Pops the top node and returns its number, or `None`.
    template <class NextOf>
    Number pop(NextOf nextOf) noexcept {
        for (;;) {
            Word word = word_.load(std::memory_order_acquire);  // E1 free
            const Number top = numberOf(word);
            if (top == None) {
                return top;
            }
            const Number next = nextOf(top).load(std::memory_order_relaxed);  // by E1
            // Relaxed: acquired before.
            if (word_.compare_exchange_weak(word, changed(word, next), std::memory_order_relaxed,
                                            std::memory_order_relaxed)) {
                return top;
            }
        }
    }

private:
    // Edge E1: push -> pop (proof: docs/algorithms/pools.md).
    //
    // The word's upper bits, the tag, count the changes of the head, so that the exchange in pop()
    // fails if other threads have popped the top node and pushed it again (ABA). Only
    // read-modify-writes may change the head, so that pop() synchronizes with all earlier pushes.

    static constexpr Word numberMask = (Word{1} << numberBits) - 1;

    static Number numberOf(Word word) noexcept { return static_cast<Number>(word & numberMask); }

    static Word changed(Word word, Number number) noexcept {
        return static_cast<Word>(((word >> numberBits) + 1) << numberBits | number);
    }

    typename Platform::template Atomic<Word> word_;
};

/// A lock-free allocator of slot numbers for any number of threads.
///
///     SlotStack<StdPlatform, 8> free;  // the slots 0 to 7, all free
///     std::uint16_t slot = 0;
///     if (free.tryTake(slot)) {
///         use(cells[slot]);
///         free.giveBack(slot);
///     }
///
/// Thread safety: any thread may call any member; lock-free. Call giveBack() once for each slot
/// taken. The thread that takes a slot sees all writes to the slot before giveBack().
template <class Platform, std::size_t Count>
class SlotStack {
    // The number `Count` stands for "no slot".
    static constexpr auto none = static_cast<std::uint32_t>(Count);
    static_assert(Count == none, "a SlotStack has fewer than 2^32 slots");
    using Head = TaggedHead<Platform, typename Platform::WideWord, none, none>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Slot = typename Head::Number;

    SlotStack() noexcept {
        for (std::size_t i = 0; i < Count; ++i) {
            next_[i].store(static_cast<Slot>(i + 1), std::memory_order_relaxed);  // not shared
        }
    }

    /// Returns false if all slots are taken.
    bool tryTake(Slot& slot) noexcept {
        slot = top_.pop(nextOf());
        return slot != none;
    }
    void takeAll() noexcept {
        for (Slot slot{}; tryTake(slot);) {
        }
    }

    void giveBack(Slot slot) noexcept { top_.push(slot, nextOf()); }

private:
    auto nextOf() noexcept {
        return [this](Slot slot) -> Atomic<Slot>& { return next_[slot]; };
    }

    Head top_{0};
    std::array<Atomic<Slot>, Count> next_;
};

}  // namespace sluice
