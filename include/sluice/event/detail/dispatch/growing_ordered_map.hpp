#pragma once

#include <sluice/base/fibonacci_hash.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace sluice::detail {

/// A skip list that any number of threads search, and add to, without a lock.
///
/// Threads: any thread calls find(), findOrAdd() and forEach(). The other members need a map that
/// no other thread uses.
///
/// Progress: lock-free. A thread that is stopped delays no other thread.
///
/// Invariants: on each level the keys ascend. A node that is on a level is on all levels below.
/// Only the lowest level decides which keys are in the map. A node that has lost a race on a higher
/// level is missing there, which only makes searches slower.
///
/// Edges: E1 node: key, value and links built -> link release .. acquire -> read.
///
/// Origin: W. Pugh, Skip Lists: A Probabilistic Alternative to Balanced Trees, 1990.
///
/// Tests: tests/unit/event/event_map_test.cpp, tests/unit/event/event_map_removal_test.cpp,
/// tests/model/event_map_model_test.cpp.
///
/// With ten levels a million keys are found fast.
template <class Key, class Value, class Less, class Platform, std::size_t Levels = 10>
class GrowingOrderedMap {
    struct Node;
    using Link = typename Platform::template Atomic<Node*>;
    using Links = std::array<Link, Levels>;

    struct Node {
        explicit Node(const Key& ownKey) : key(ownKey) {}
        const Key key;
        Value value{};
        Links next{};
    };

public:
    GrowingOrderedMap() noexcept = default;
    GrowingOrderedMap(const GrowingOrderedMap&) = delete;
    GrowingOrderedMap& operator=(const GrowingOrderedMap&) = delete;
    ~GrowingOrderedMap() {
        // Again: destructors of values may add some. Relaxed, all: no other thread is here.
        while (Node* node = first_[0].load(std::memory_order_relaxed)) {
            for (Link& first : first_) {
                first.store(nullptr, std::memory_order_relaxed);
            }
            while (node != nullptr) {
                delete std::exchange(node, node->next[0].load(std::memory_order_relaxed));
            }
        }
    }

    void swap(GrowingOrderedMap& other) noexcept {
        for (std::size_t level = 0; level < Levels; ++level) {
            // Relaxed: no other thread is here.
            Node* const mine = first_[level].load(std::memory_order_relaxed);
            first_[level].store(other.first_[level].load(std::memory_order_relaxed),
                                std::memory_order_relaxed);
            other.first_[level].store(mine, std::memory_order_relaxed);
        }
    }

    /// Returns null if the key is not there. Allocates nothing.
    Value* find(const Key& key) const {
        Node* const node = descend(first_, key, [](std::size_t, const Links&, Node*) {});
        return node == nullptr || Less()(key, node->key) ? nullptr : &node->value;
    }

    /// If it throws, nothing has changed.
    Value& findOrAdd(const Key& key) {
        std::unique_ptr<Node> node;
        for (;;) {
            std::array<Links*, Levels> before{};
            std::array<Node*, Levels> after{};
            const auto note = [&](std::size_t level, Links& links, Node* next) {
                before[level] = &links;
                after[level] = next;
            };
            Node* const found = descend(first_, key, note);
            if (found != nullptr && !Less()(key, found->key)) {
                return found->value;
            }
            if (node == nullptr) {
                node = std::make_unique<Node>(key);
            }
            if (link(*node, 0, *before[0], after[0])) {
                Node& added = *node.release();
                const std::size_t height = nextHeight();
                for (std::size_t level = 1;
                     level < height && link(added, level, *before[level], after[level]); ++level) {
                }
                return added.value;
            }
        }
    }

    /// Destroys the entries for which isUnused(value) is true. Returns their number.
    template <class Test>
    std::size_t removeIf(Test isUnused) noexcept {
        Node* ended = nullptr;
        for (std::size_t level = Levels; level-- > 0;) {
            // Relaxed, all: no other thread is here.
            Link* link = &first_[level];
            while (Node* const node = link->load(std::memory_order_relaxed)) {
                if (!isUnused(std::as_const(node->value))) {
                    link = &node->next[level];
                    continue;
                }
                link->store(node->next[level].load(std::memory_order_relaxed),
                            std::memory_order_relaxed);
                if (level == 0) {
                    node->next[0].store(std::exchange(ended, node), std::memory_order_relaxed);
                }
            }
        }
        std::size_t removed = 0;
        while (ended != nullptr) {  // last, because destructors of keys may use the map
            delete std::exchange(ended, ended->next[0].load(std::memory_order_relaxed));
            ++removed;
        }
        return removed;
    }

    /// Calls f(key, value) for each entry, in the order of the keys.
    template <class F>
    void forEach(F&& f) const {
        const Links* links = &first_;
        while (Node* const node = (*links)[0].load(std::memory_order_acquire)) {  // E1
            f(node->key, std::as_const(node->value));
            links = &node->next;
        }
    }

private:
    /// Returns the first node that is not before the key. Calls note(level, links, node) for each
    /// level: there the key belongs between `links` and `node`.
    template <class FirstLinks, class Note>
    static Node* descend(FirstLinks& first, const Key& key, const Note& note) {
        FirstLinks* links = &first;
        Node* next = nullptr;
        for (std::size_t level = Levels; level-- > 0;) {
            next = (*links)[level].load(std::memory_order_acquire);  // E1
            while (next != nullptr && Less()(next->key, key)) {
                links = &next->next;
                next = (*links)[level].load(std::memory_order_acquire);  // E1
            }
            note(level, *links, next);
        }
        return next;
    }

    /// Returns false if another thread has linked a node there first.
    static bool link(Node& node, std::size_t level, Links& before, Node* after) noexcept {
        node.next[level].store(after, std::memory_order_relaxed);  // relaxed: E1 publishes it
        Node* expected = after;
        return before[level].compare_exchange_weak(expected, &node, std::memory_order_release,
                                                   std::memory_order_relaxed);  // E1
    }

    /// The first node is on all levels. A fourth of the others is on a second level, and a
    /// sixteenth on a third one. Multiples of the golden ratio spread these nodes evenly, even if
    /// the keys come in a regular pattern.
    std::size_t nextHeight() noexcept {
        const std::size_t number =
            added_.fetch_add(std::size_t{1}, std::memory_order_relaxed);  // a count
        std::uint64_t word = fibonacciHash(number);
        std::size_t height = 1;
        for (; height < Levels && word >> 62U == 0; word <<= 2U) {
            ++height;
        }
        return height;
    }

    Links first_{};
    typename Platform::template Atomic<std::size_t> added_{0};
};

}  // namespace sluice::detail
