#pragma once

#include <sluice/base/tagged_head.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace sluice::detail {

/// The largest number of nodes in a free list. Without 64-bit atomics a list has at most 4,095
/// nodes, so that its head has 20 bits for the ABA tag.
template <class Platform>
inline constexpr std::uint32_t mostFreeNodes =
    sizeof(typename Platform::WideWord) == 8 ? std::numeric_limits<std::uint32_t>::max() : 4095;

template <class Platform>
using FreeListHead = TaggedHead<Platform, typename Platform::WideWord, mostFreeNodes<Platform>, 0>;

template <class Platform>
using FreeListNext = typename Platform::template Atomic<typename FreeListHead<Platform>::Number>;

/// The free nodes of an array, as a lock-free stack for threads and interrupts. A node has a member
/// `next` of type FreeListNext. Nodes must stay readable while a thread may be in take(), so they
/// lie outside user memory.
template <class Platform, class Node>
class FreeList {
    using Head = FreeListHead<Platform>;
    using Number = typename Head::Number;

public:
    /// Creates a list in which all nodes are free.
    FreeList(Node* nodes, std::size_t count) noexcept : nodes_(nodes) {
        for (std::size_t i = count; i != 0; --i) {
            give(nodes[i - 1]);
        }
    }

    /// After the exchange in give(), another thread may take all nodes and destroy the list, so
    /// give() must not access the list again.
    void give(Node& node) noexcept {
        head_.push(static_cast<Number>(&node - nodes_ + 1), nextOf());
    }

    /// Returns a free node, or null if no node was free at some moment during the call.
    Node* take() noexcept {
        const Number number = head_.pop(nextOf());
        return number != 0 ? &nodes_[number - 1] : nullptr;
    }

private:
    auto nextOf() noexcept {
        return [this](Number number) -> auto& { return nodes_[number - 1].next; };
    }

    Node* const nodes_;
    Head head_{0};
};

}  // namespace sluice::detail
