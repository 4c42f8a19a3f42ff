#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace sluice {

/// The top of a stack of numbered nodes, in one atomic word. Any number of threads and interrupts
/// push and pop nodes without a lock. The nodes belong to the caller. Each node has a word for its
/// successor.
///
///     TaggedHead<StdPlatform, std::uint64_t, 8, 0> head(0);  // nodes 1 to 8; 0: no node
///     const auto nextOf = [&](std::uint16_t number) -> auto& { return nodes[number].next; };
///     head.push(3, nextOf);
///     if (const auto top = head.pop(nextOf); !top.isEmpty()) {
///         use(nodes[top.number()]);
///     }
///
/// Threads: any thread calls all functions. A node must not be pushed twice without a pop. A node
/// must stay readable as long as any thread may be in pop().
///
/// Progress: lock-free. A compare-exchange that fails means that another thread succeeded. A
/// stopped thread delays no other thread.
///
/// Memory promise: the thread that pops a node sees each write to the node before its push.
///
/// Edges: E1 free: node pushed release .. head read by pop() acquire. E2 order: head exchanged
/// release .. head read by pop() acquire, also by a pop() that finds no node. So a thread that has
/// seen a change of a head sees all that the changing thread had seen, also of other heads.
///
/// Invariant: the tag counts the changes of the head. pop() reads the head, then the successor of
/// the top node, then exchanges the head. Between the reading and the exchange, other threads may
/// pop this node and push it again with another successor. So the exchange compares the tag, too.
/// It accepts an old successor only if the same node is on top again after a multiple of 2^tagBits
/// changes (ABA).
///
/// How long so many changes take:
/// - A word of 64 bits has a tag of 48 bits if the numbers fit 16 bits, otherwise of 32 bits. In
///   practice no thread is stopped for exactly a multiple of so many changes.
/// - A word of 32 bits gives the number as many bits as `MostNumber` needs. The tag has all other
///   bits. The compiler checks that these are at least 16.
/// - On one processor a pop() that an interrupt has stopped goes on when all interrupts have
///   returned. So interrupts would have to make 2^tagBits changes without a pause, while the main
///   program stands still. With 4,095 nodes these are 1,048,576 changes; at 20 cycles each, 125 ms
///   at 168 MHz. In a real-time system this bound does not hold: a task may stop another for any
///   time.
///
/// Origin: R. K. Treiber's stack (1986) with the tag of IBM's System/370 manual.
///
/// Tests: tests/unit/base/tagged_head_test.cpp, tests/model/tagged_head_model_test.cpp.
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

    /// The node that pop() found.
    class Top {
    public:
        /// The node that was on top, or `None`.
        Number number() const noexcept { return static_cast<Number>(word_ & numberMask); }
        bool isEmpty() const noexcept { return number() == None; }
        /// The number of earlier changes of the head, modulo 2^tagBits.
        std::uint32_t changes() const noexcept {
            return static_cast<std::uint32_t>(word_ >> numberBits);
        }

    private:
        friend class TaggedHead;
        explicit Top(Word word) noexcept : word_(word) {}
        Word word_;
    };

    /// Does nothing: for callers that do not count lost exchanges.
    struct Ignore {
        void operator()() const noexcept {}
    };

    constexpr explicit TaggedHead(Number number) noexcept : word_(number) {}

    /// Puts a node on top. `nextOf(number)` is the successor of a node, an Atomic<Number>. push()
    /// calls `lost()` for each exchange that it loses to another thread.
    template <class NextOf, class Lost = Ignore>
    void push(Number number, NextOf nextOf, Lost lost = {}) noexcept {
        auto& next = nextOf(number);
        Word word = word_.load(std::memory_order_relaxed);  // relaxed: only its value is used
        for (;;) {
            // Relaxed: E1 makes it visible.
            next.store(Top(word).number(), std::memory_order_relaxed);
            if (word_.compare_exchange_weak(word, changed(word, number), std::memory_order_release,
                                            std::memory_order_relaxed)) {  // E1 free, E2 order
                return;
            }
            lost();
        }
    }

    /// Takes the top node off, if there is one.
    template <class NextOf, class Lost = Ignore>
    Top pop(NextOf nextOf, Lost lost = {}) noexcept {
        for (;;) {
            Word word = word_.load(std::memory_order_acquire);  // E1 free, E2 order
            const Top top(word);
            if (top.isEmpty()) {
                return top;
            }
            // Relaxed: E1 made it visible. If it is outdated, the tag has changed.
            const Number next = nextOf(top.number()).load(std::memory_order_relaxed);
            if (word_.compare_exchange_weak(word, changed(word, next), std::memory_order_release,
                                            std::memory_order_relaxed)) {  // E2 order
                return top;
            }
            lost();
        }
    }

    /// The node on top, or `None`. Use it to walk the stack while no thread pops. Acquire: E1 free.
    Number peek() const noexcept { return Top(word_.load(std::memory_order_acquire)).number(); }

private:
    static constexpr Word numberMask = (Word{1} << numberBits) - 1;

    static Word changed(Word word, Number number) noexcept {
        return static_cast<Word>(((word >> numberBits) + 1) << numberBits | number);
    }

    typename Platform::template Atomic<Word> word_;
};

}  // namespace sluice
