#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::detail {

/// A heap of indices from 0 to Count - 1, in the order of their deadlines. Equal deadlines keep the
/// order of insertion. Insertion and removal take O(log n) steps. It never allocates. One thread at
/// a time uses it.
template <class TimePoint, std::size_t Count>
class DeadlineHeap {
public:
    using Index = std::uint32_t;

    [[nodiscard]] bool isEmpty() const noexcept { return size_ == 0; }
    /// The index with the earliest deadline. Call it only if the heap is not empty.
    [[nodiscard]] Index first() const noexcept { return nodes_[0].index; }
    /// The earliest deadline. Call it only if the heap is not empty.
    [[nodiscard]] TimePoint earliest() const noexcept { return nodes_[0].deadline; }
    [[nodiscard]] bool contains(Index index) const noexcept { return position_[index] != 0; }

    /// Inserts an index that is not in the heap.
    void insert(Index index, TimePoint deadline) noexcept {
        rise(size_++, Node{deadline, ++insertions_, index});
    }

    /// Removes an index that is in the heap.
    void remove(Index index) noexcept {
        const std::size_t hole = position_[index] - 1U;
        position_[index] = 0;
        const Node last = nodes_[--size_];
        if (hole == size_) {
            return;
        }
        if (hole != 0 && last.isBefore(nodes_[parentOf(hole)])) {
            rise(hole, last);
        } else {
            sink(hole, last);
        }
    }

private:
    struct Node {
        TimePoint deadline{};
        std::uint64_t insertion = 0;  ///< number of the insertion: smaller for earlier ones
        Index index = 0;

        [[nodiscard]] bool isBefore(const Node& other) const noexcept {
            return deadline != other.deadline ? deadline < other.deadline
                                              : insertion < other.insertion;
        }
    };

    /// Children of a node. With four, the tree is half as deep as a binary one, and the children of
    /// a node lie in two cache lines.
    static constexpr std::size_t width = 4;
    static std::size_t parentOf(std::size_t node) noexcept { return (node - 1) / width; }

    void put(std::size_t node, const Node& value) noexcept {
        nodes_[node] = value;
        position_[value.index] = static_cast<Index>(node + 1);
    }

    void rise(std::size_t hole, const Node& value) noexcept {
        while (hole != 0 && value.isBefore(nodes_[parentOf(hole)])) {
            put(hole, nodes_[parentOf(hole)]);
            hole = parentOf(hole);
        }
        put(hole, value);
    }

    void sink(std::size_t hole, const Node& value) noexcept {
        for (std::size_t child = earliestChild(hole);
             child < size_ && nodes_[child].isBefore(value); child = earliestChild(hole)) {
            put(hole, nodes_[child]);
            hole = child;
        }
        put(hole, value);
    }

    /// Returns the child with the earliest deadline. If the node has no child, returns size_ or
    /// more.
    [[nodiscard]] std::size_t earliestChild(std::size_t node) const noexcept {
        std::size_t earliest = node * width + 1;
        for (std::size_t child = earliest + 1; child <= node * width + width && child < size_;
             ++child) {
            if (nodes_[child].isBefore(nodes_[earliest])) {
                earliest = child;
            }
        }
        return earliest;
    }

    std::array<Node, Count> nodes_{};
    /// For each index, its node + 1; 0 if it is not in the heap.
    std::array<Index, Count> position_{};
    std::size_t size_ = 0;
    std::uint64_t insertions_ = 0;
};

}  // namespace sluice::detail
