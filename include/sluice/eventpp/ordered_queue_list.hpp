#pragma once

#include <iterator>
#include <set>

namespace sluice {

/// Orders smaller events first.
struct OrderedQueueListCompare {
    template <class QueuedEvent>
    bool operator()(const QueuedEvent& a, const QueuedEvent& b) const {
        return a.event < b.event;
    }
};

/// The list of an EventQueue that processes the smallest event first.
///
///     struct SmallestFirst {
///         template <class Item>
///         using QueueList = sluice::OrderedQueueList<Item>;
///     };
///     sluice::EventQueue<int, void(), SmallestFirst> queue;
///
/// Equal events keep the order of arrival. Overflow::dropOldest is a set-up error, because the list
/// does not know which event is the oldest. Compare()(a, b) receives two QueuedEvents with `event`
/// and `arguments`. begin() and end() return positions for splice(), not iterators.
///
/// Performance: adding an event that sorts last takes one comparison under the queue's lock. Adding
/// another event takes about log2(n) comparisons. If Compare throws, no item is lost.
template <class Item, class Compare = OrderedQueueListCompare>
class OrderedQueueList {
public:
    static constexpr bool isOrdered = true;

    enum class End : bool { front, back };

    static constexpr End begin() noexcept { return End::front; }
    static constexpr End end() noexcept { return End::back; }

    [[nodiscard]] bool empty() const noexcept { return tree_.empty(); }
    Item& front() { return tree_.cbegin()->item; }

    /// Adds an empty item to an empty list. The queue fills the item before it calls splice().
    void emplace_back() { tree_.emplace(); }

    /// Takes all items of `other`: before equal items if `where` is begin(), after them if end().
    void splice(End where, OrderedQueueList& other) {
        if (tree_.size() < other.tree_.size()) {  // so that fewer items move
            swap(other);
            where = where == End::front ? End::back : End::front;
        }
        while (!other.empty()) {
            const bool isFront = where == End::front;
            take(where, other, isFront ? std::prev(other.tree_.cend()) : other.tree_.cbegin());
        }
    }

    void splice(End where, OrderedQueueList& other, End) {
        take(where, other, other.tree_.cbegin());
    }

    void swap(OrderedQueueList& other) noexcept { tree_.swap(other.tree_); }
    friend void swap(OrderedQueueList& a, OrderedQueueList& b) noexcept { a.swap(b); }

private:
    struct Slot {
        // Mutable, because elements of a tree are constant, but the queue fills and clears items.
        mutable Item item{};
        // While true, the slot compares equal to all slots, so that insert() does not call Compare.
        mutable bool isLoose = false;
    };

    // Sorts empty items, which the queue has already processed, before all other items.
    struct Before {
        bool operator()(const Slot& a, const Slot& b) const {
            if (a.isLoose || b.isLoose) {
                return false;
            }
            return a.item.empty() || b.item.empty() ? a.item.empty() && !b.item.empty()
                                                    : Compare()(a.item.get(), b.item.get());
        }
    };

    using Tree = std::multiset<Slot, Before>;
    using Place = typename Tree::const_iterator;

    /// Finds the place before changing a tree, so that an exception of Compare changes nothing.
    void take(End where, OrderedQueueList& other, Place slot) {
        const bool isFront = where == End::front;
        Place place = isFront ? tree_.cbegin() : tree_.cend();
        if (!empty() && (isFront ? Before()(*place, *slot) : Before()(*slot, *std::prev(place)))) {
            place = isFront ? tree_.lower_bound(*slot) : tree_.upper_bound(*slot);
        }
        slot->isLoose = true;
        const Place taken = tree_.insert(place, other.tree_.extract(slot));
        taken->isLoose = false;
    }

    Tree tree_;
};

}  // namespace sluice
