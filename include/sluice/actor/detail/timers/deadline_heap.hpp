#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::detail {

/// Indices from 0 to Count - 1 in the order of their deadlines. Equal deadlines keep the order of
/// insertion. Insertion and removal take O(log n) steps. One thread uses it.
template <class TimePoint, std::size_t Count>
class DeadlineHeap {
public:
    using Index = std::uint32_t;

    [[nodiscard]] bool isEmpty() const noexcept { return size_ == 0; }
    /// The index with the earliest deadline. The heap is not empty.
    [[nodiscard]] Index first() const noexcept { return nodes_[0].index; }
    [[nodiscard]] TimePoint earliest() const noexcept { return nodes_[0].deadline; }
    [[nodiscard]] bool contains(Index index) const noexcept { return position_[index] != 0; }

    /// The index is not in the heap.
    void insert(Index index, TimePoint deadline) noexcept {
        rise(size_++, Node{deadline, ++insertions_, index});
    }

    /// The index is in the heap.
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
        std::uint64_t insertion = 0;  ///< the number of insertions up to this one
        Index index = 0;

        [[nodiscard]] bool isBefore(const Node& other) const noexcept {
            return deadline != other.deadline ? deadline < other.deadline
                                              : insertion < other.insertion;
        }
    };

    /// Four children to a node: the tree is half as deep as a binary one, and the children of a
    /// node lie in two cache lines.
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

    /// size_ or more if the node has no child.
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
    std::array<Index, Count> position_{};  ///< of each index, its node + 1; 0 outside of the heap
    std::size_t size_ = 0;
    std::uint64_t insertions_ = 0;
};

}  // namespace sluice::detail
