#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/event/detail/policy_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

// The list types of an EventStore. The EventStore has the lock and the counts.

namespace sluice::detail {

/// A list of nodes that are allocated in blocks. Spare nodes are reused first in, first out, so a
/// list is mostly contiguous and fast to read.
template <class Event>
class NodeList {
public:
    static constexpr bool hasSpares = true;
    static constexpr bool isOrdered = false;

    NodeList() noexcept = default;
    NodeList(const NodeList&) = delete;
    NodeList& operator=(const NodeList&) = delete;

    bool isEmpty() const noexcept { return first_ == nullptr; }
    Event& front() noexcept { return first_->cell.get(); }
    Event& back() noexcept { return last_->cell.get(); }

    template <class Make>
    void fillBack(Make& make) {
        ::new (static_cast<void*>(&last_->cell)) Event(make());
    }
    void destroyFront() noexcept { first_->cell.destroy(); }

    void swap(NodeList& other) noexcept {
        std::swap(first_, other.first_);
        std::swap(last_, other.last_);
    }

    /// Moves all nodes of `other` to the end (append) or the beginning (prepend) of this list.
    void append(NodeList& other) noexcept {
        if (other.isEmpty()) {
            return;
        }
        (isEmpty() ? first_ : last_->next) = std::exchange(other.first_, nullptr);
        last_ = other.last_;
    }
    void prepend(NodeList& other) noexcept {
        other.append(*this);
        swap(other);
    }

    void moveFrontTo(NodeList& other) noexcept {
        Node* const node = first_;
        first_ = node->next;
        node->next = nullptr;
        (other.isEmpty() ? other.first_ : other.last_->next) = node;
        other.last_ = node;
    }

    class Spares;
    class Walk;

private:
    struct Node {
        Node* next;
        Cell<Event> cell;
    };

    Node* first_ = nullptr;
    Node* last_ = nullptr;
};

/// Destroys events from the front of `list`, and appends their nodes to `used`. Only the
/// destructor of the Walk updates the two lists, so that their ends can stay in registers.
template <class Event>
class NodeList<Event>::Walk {
public:
    Walk(NodeList& list, NodeList& used) noexcept
        : events_(list), used_(used), node_(list.first_) {}
    ~Walk() {
        if (lastUsed_ == nullptr) {
            return;
        }
        lastUsed_->next = nullptr;
        NodeList passed;
        passed.first_ = std::exchange(events_.first_, node_);
        passed.last_ = lastUsed_;
        used_.append(passed);
    }

    bool isAtEnd() const noexcept { return node_ == nullptr; }
    Event& front() noexcept { return node_->cell.get(); }
    void destroyFront() noexcept {
        node_->cell.destroy();
        lastUsed_ = std::exchange(node_, node_->next);
    }

private:
    NodeList& events_;
    NodeList& used_;
    Node* node_;
    Node* lastUsed_ = nullptr;
};

/// Holds the nodes that contain no event, and owns the memory of all nodes.
template <class Event>
class NodeList<Event>::Spares {
public:
    Spares() noexcept = default;
    Spares(const Spares&) = delete;
    Spares& operator=(const Spares&) = delete;
    ~Spares() {
        while (blocks_ != nullptr) {
            delete std::exchange(blocks_, blocks_->next);
        }
    }

    void swap(Spares& other) noexcept {
        free_.swap(other.free_);
        std::swap(blocks_, other.blocks_);
        std::swap(blockCount_, other.blockCount_);
    }

    bool take(NodeList& list) noexcept {
        if (free_.isEmpty()) {
            return false;
        }
        free_.moveFrontTo(list);
        return true;
    }

    void giveBack(NodeList& nodes) noexcept { free_.append(nodes); }

    [[nodiscard]] std::size_t bytes() const noexcept { return blockCount_ * sizeof(NodeBlock); }

    /// Allocates a block, so the caller must not hold a lock.
    static auto* makeMore() { return new NodeBlock; }

    template <class More>
    void add(More* block) noexcept {
        block->next = std::exchange(blocks_, block);
        ++blockCount_;
        NodeList fresh;
        fresh.first_ = &block->nodes[0];
        fresh.last_ = &block->nodes[NodeBlock::size - 1];
        free_.append(fresh);
    }

private:
    struct NodeBlock {
        static constexpr std::size_t bytes = 8192;
        static constexpr std::size_t size = std::max<std::size_t>(bytes / sizeof(Node), 1);

        NodeBlock() noexcept {
            for (std::size_t i = 0; i < size; ++i) {
                nodes[i].next = i + 1 < size ? &nodes[i + 1] : nullptr;
            }
        }

        NodeBlock* next = nullptr;
        Node nodes[size];
    };

    NodeList free_;
    NodeBlock* blocks_ = nullptr;
    std::size_t blockCount_ = 0;
};

/// Holds one event in a list whose type the policies select.
template <class Event>
class EventStorage {
public:
    EventStorage() noexcept = default;
    EventStorage(const EventStorage&) = delete;
    EventStorage& operator=(const EventStorage&) = delete;
    ~EventStorage() { clear(); }

    template <class Make>
    void fill(Make& make) {
        ::new (static_cast<void*>(&cell_)) Event(make());
        isFilled_ = true;
    }
    void clear() noexcept {
        if (std::exchange(isFilled_, false)) {
            cell_.destroy();
        }
    }
    bool empty() const noexcept { return !isFilled_; }
    Event& get() noexcept { return cell_.get(); }
    const Event& get() const noexcept { return cell_.get(); }

private:
    Cell<Event> cell_;
    bool isFilled_ = false;
};

template <class List>
using OrderMember = decltype(List::isOrdered);

/// A list type with a member `isOrdered` sorts its events.
template <class List>
class PolicyList {
public:
    static constexpr bool hasSpares = false;
    static constexpr bool isOrdered = isDetected<OrderMember, List>;

    bool isEmpty() const noexcept { return list_.empty(); }
    auto& front() noexcept { return list_.front().get(); }

    template <class Make>
    void fillBack(Make& make) {
        list_.front().fill(make);  // this list has one item
    }
    void destroyFront() noexcept { list_.front().clear(); }

    void swap(PolicyList& other) noexcept {
        if constexpr (std::is_swappable_v<List>) {
            using std::swap;
            swap(list_, other.list_);
        } else {
            list_.swap(other.list_);
        }
    }
    void append(PolicyList& other) { list_.splice(list_.end(), other.list_); }
    void prepend(PolicyList& other) { list_.splice(list_.begin(), other.list_); }
    void moveFrontTo(PolicyList& other) {
        other.list_.splice(other.list_.end(), list_, list_.begin());
    }

    class Walk {
    public:
        Walk(PolicyList& list, PolicyList& used) noexcept : events_(list), used_(used) {}

        bool isAtEnd() const noexcept { return events_.isEmpty(); }
        auto& front() noexcept { return events_.front(); }
        void destroyFront() {
            events_.destroyFront();
            events_.moveFrontTo(used_);
        }

    private:
        PolicyList& events_;
        PolicyList& used_;
    };

    /// Keeps no nodes, because each list of the policies frees its own nodes.
    class Spares {
    public:
        void swap(Spares&) noexcept {}
        bool take(PolicyList&) noexcept { return false; }
        void giveBack(PolicyList&) noexcept {}
        [[nodiscard]] static std::size_t bytes() noexcept { return 0; }
    };

    void addNode() { list_.emplace_back(); }

private:
    List list_;
};

}  // namespace sluice::detail
