#pragma once

#include <sluice/base/fibonacci_hash.hpp>
#include <sluice/memory/detail/slab.hpp>

#include <cstdint>
#include <utility>

namespace sluice::detail {

/// Finds the slab of a pool that has a block. One thread at a time uses it.
///
/// Cost: find() and insert() are logarithmic in the number of slabs, on average. takeUnused() is
/// linear. No allocation: the slabs have the links.
///
/// Origin: the treap of R. Seidel and C. Aragon (1996). It is a search tree by address, and a heap
/// by a hash of the address instead of random numbers.
///
/// Invariants: slabs do not overlap, and the head of a slab lies behind its blocks. So if a slab
/// has the block, it is the slab with the first head behind the block.
///
/// Tests: tests/unit/memory/slab_tree_test.cpp.
class SlabTree {
public:
    void insert(Slab& slab) noexcept {
        slab.next = std::exchange(first_, &slab);
        Slab** link = &root_;
        while (*link != nullptr && rank(**link) >= rank(slab)) {
            link = isBefore(slab, **link) ? &(*link)->lower : &(*link)->higher;
        }
        split(std::exchange(*link, &slab), slab, slab.lower, slab.higher);
    }

    /// Takes out the slabs whose `freeBlocks` are all of their blocks, linked by `next`. Sets
    /// `freeBlocks` of the other slabs to 0.
    Slab* takeUnused() noexcept {
        Slab* unused = nullptr;
        for (Slab** link = &first_; *link != nullptr;) {
            Slab& slab = **link;
            if (std::exchange(slab.freeBlocks, 0) != slab.blockCount()) {
                link = &slab.next;
            } else {
                *link = std::exchange(slab.next, unused);
                unused = &slab;
                remove(slab);
            }
        }
        return unused;
    }
    /// Takes out all slabs, linked by `next`.
    Slab* takeAll() noexcept {
        root_ = nullptr;
        return std::exchange(first_, nullptr);
    }

    /// The slab that has this address among its blocks, or null.
    Slab* find(const void* address, const SlabLayout& layout) const noexcept {
        Slab* first = nullptr;
        for (Slab* slab = root_; slab != nullptr;) {
            const bool isBehind = addressOf(slab) > addressOf(address);
            first = isBehind ? slab : first;
            slab = isBehind ? slab->lower : slab->higher;
        }
        return first != nullptr && first->covers(address, layout) ? first : nullptr;
    }

private:
    void remove(Slab& slab) noexcept {
        Slab** link = &root_;
        while (*link != &slab) {
            link = isBefore(slab, **link) ? &(*link)->lower : &(*link)->higher;
        }
        *link = merged(std::exchange(slab.lower, nullptr), std::exchange(slab.higher, nullptr));
    }

    static std::uintptr_t addressOf(const void* pointer) noexcept {
        return reinterpret_cast<std::uintptr_t>(pointer);
    }
    static bool isBefore(const Slab& slab, const Slab& other) noexcept {
        return addressOf(&slab) < addressOf(&other);
    }
    static std::uint64_t rank(const Slab& slab) noexcept {
        std::uint64_t mixed = fibonacciHash(&slab);
        mixed ^= mixed >> 32;
        return mixed * 0xD6E8FEB86659FD93u;
    }

    /// Splits a tree into the slabs before `at` and the slabs behind it.
    static void split(Slab* tree, const Slab& at, Slab*& before, Slab*& behind) noexcept {
        Slab** low = &before;
        Slab** high = &behind;
        while (tree != nullptr) {
            if (isBefore(*tree, at)) {
                *low = tree;
                low = &tree->higher;
                tree = tree->higher;
            } else {
                *high = tree;
                high = &tree->lower;
                tree = tree->lower;
            }
        }
        *low = nullptr;
        *high = nullptr;
    }

    /// Joins two trees. All slabs of the first tree are before all slabs of the second tree.
    static Slab* merged(Slab* before, Slab* behind) noexcept {
        Slab* tree = nullptr;
        Slab** link = &tree;
        while (before != nullptr && behind != nullptr) {
            if (rank(*before) >= rank(*behind)) {
                *link = before;
                link = &before->higher;
                before = before->higher;
            } else {
                *link = behind;
                link = &behind->lower;
                behind = behind->lower;
            }
        }
        *link = before != nullptr ? before : behind;
        return tree;
    }

    Slab* root_ = nullptr;
    Slab* first_ = nullptr;  // of the list of all slabs
};

}  // namespace sluice::detail
