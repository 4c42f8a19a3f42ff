#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::detail {

/// The places 0 to Count - 1, those that were inserted, in the order of their deadlines. Equal
/// deadlines keep the order of insertion. Insertion and removal take O(log n) steps. One thread
/// uses it.
template <class TimePoint, std::size_t Count>
class DeadlineHeap {
public:
    using Place = std::uint32_t;

    [[nodiscard]] bool isEmpty() const noexcept { return size_ == 0; }
    /// The place with the earliest deadline; there is one.
    [[nodiscard]] Place first() const noexcept { return nodes_[0].place; }
    [[nodiscard]] TimePoint earliest() const noexcept { return nodes_[0].deadline; }
    [[nodiscard]] bool contains(Place place) const noexcept { return position_[place] != 0; }

    /// The place is not in the heap.
    void insert(Place place, TimePoint deadline) noexcept {
        rise(size_++, Node{deadline, ++insertions_, place});
    }

    /// The place is in the heap.
    void remove(Place place) noexcept {
        const std::size_t hole = position_[place] - 1U;
        position_[place] = 0;
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
        std::uint64_t insertion = 0;  ///< how many insertions came before
        Place place = 0;

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
        position_[value.place] = static_cast<Place>(node + 1);
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
    std::array<Place, Count> position_{};  ///< of each place, its node + 1; 0 outside of the heap
    std::size_t size_ = 0;
    std::uint64_t insertions_ = 0;
};

}  // namespace sluice::detail
