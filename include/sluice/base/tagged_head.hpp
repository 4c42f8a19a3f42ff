#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice {

/// The top of a lock-free stack of numbered nodes, in one atomic word. Each node has a word for its
/// successor.
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
/// Thread safety: any thread or interrupt may call any member. A node must not be pushed twice
/// without a pop, and must stay readable as long as any thread may be in pop(). The thread that
/// pops a node sees all writes to the node before its push.
///
/// `MostNumber` is the largest number that the head stores. `None` is a number up to `MostNumber`
/// that means: no node.
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
    // A word of 64 bits has room for a number of 16 or 32 bits, which needs no mask.
    static constexpr unsigned roundedBits = MostNumber <= 0xffff ? 16 : 32;
    static constexpr unsigned numberBits = wordBits == 64 ? roundedBits : bitsOf(MostNumber);

public:
    using Number = std::conditional_t<(MostNumber <= 0xffff), std::uint16_t, std::uint32_t>;

    static constexpr unsigned tagBits = wordBits - numberBits;
    static_assert(tagBits >= 16, "the nodes of a TaggedHead leave fewer than 16 bits for its tag: "
                                 "use fewer nodes, or a word of 64 bits");

    constexpr explicit TaggedHead(Number number) noexcept : word_(number) {}

    /// Puts a node on top. `nextOf(number)` is the successor of a node, an Atomic<Number>.
    template <class NextOf>
    void push(Number number, NextOf nextOf) noexcept {
        auto& next = nextOf(number);
        Word word = word_.load(std::memory_order_relaxed);  // relaxed: only its value is used
        do {
            next.store(numberOf(word), std::memory_order_relaxed);  // relaxed: E1 makes it visible
        } while (!word_.compare_exchange_weak(word, changed(word, number),
                                              std::memory_order_release,  // E1 free
                                              std::memory_order_relaxed));
    }

    /// Takes the top node off and returns it, or `None`.
    template <class NextOf>
    Number pop(NextOf nextOf) noexcept {
        for (;;) {
            Word word = word_.load(std::memory_order_acquire);  // E1 free
            const Number top = numberOf(word);
            if (top == None) {
                return top;
            }
            // Relaxed: E1 made it visible. If it is out of date, the tag has changed.
            const Number next = nextOf(top).load(std::memory_order_relaxed);
            // Relaxed: the exchange continues the release sequences of the pushes below.
            if (word_.compare_exchange_weak(word, changed(word, next), std::memory_order_relaxed,
                                            std::memory_order_relaxed)) {
                return top;
            }
        }
    }

private:
    // Origin: R. K. Treiber's stack (1986) with the tag of IBM's System/370 manual.
    //
    // Invariant: the tag counts the changes of the head. Between the loads in pop() and its
    // exchange, other threads may pop the top node and push it again with another successor. The
    // exchange compares the tag, so it accepts an outdated successor only if the same node is on
    // top after a multiple of 2^tagBits changes (ABA). A word of 64 bits has a tag of 48 or 32
    // bits, a word of 32 bits one of at least 16. On one processor, interrupts would have to make
    // 2^tagBits changes while the main program stands still: with 4,095 nodes, 125 ms at 168 MHz.
    // Between tasks of a real-time system this bound does not hold.
    //
    // Edge: E1 free  node pushed with release .. head read by pop() with acquire. Each change of
    // the head is a read-modify-write, so it belongs to the release sequence of each push before
    // it: the thread that reads the head synchronizes with the pushes of all nodes of the stack.

    static constexpr Word numberMask = (Word{1} << numberBits) - 1;

    static Number numberOf(Word word) noexcept { return static_cast<Number>(word & numberMask); }

    static Word changed(Word word, Number number) noexcept {
        return static_cast<Word>(((word >> numberBits) + 1) << numberBits | number);
    }

    typename Platform::template Atomic<Word> word_;
};

/// Hands out the numbers of free slots to any number of threads, without a lock.
///
///     SlotStack<StdPlatform, 8> free;  // the slots 0 to 7, all free
///     std::uint16_t slot = 0;
///     if (free.tryTake(slot)) {
///         use(cells[slot]);
///         free.giveBack(slot);
///     }
///
/// Thread safety: any thread may call any member; lock-free. Give a slot back once for each time it
/// was taken. The thread that takes a slot sees all writes to it before it was given back.
template <class Platform, std::size_t Count>
class SlotStack {
    // The number `Count` means: no slot.
    static constexpr auto none = static_cast<std::uint32_t>(Count);
    static_assert(Count == none, "a SlotStack has fewer than 2^32 slots");
    using Head = TaggedHead<Platform, typename Platform::WideWord, none, none>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Slot = typename Head::Number;

    SlotStack() noexcept {
        for (std::size_t i = 0; i < Count; ++i) {
            // Relaxed: not shared yet. `none` follows the last slot.
            next_[i].store(static_cast<Slot>(i + 1), std::memory_order_relaxed);
        }
    }

    /// Takes a free slot. Returns false if there is none.
    bool tryTake(Slot& slot) noexcept {
        slot = top_.pop(nextOf());
        return slot != none;
    }
    /// Takes all free slots, so that tryTake() returns false until one is given back.
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
