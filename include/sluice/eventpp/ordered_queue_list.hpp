#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <type_traits>

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
/// Events that compare equal keep the order of arrival. Compare()(a, b) gets two QueuedEvents, and
/// compares `a.event` and `a.arguments`.
///
/// An Item has empty() and get(), which returns its QueuedEvent. A queue keeps empty items for
/// reuse. They come first and are never compared. Splicing puts items in order, so fill an item
/// before it is spliced in.
///
/// Threads: not synchronised; the queue holds its lock. Errors: an exception of Compare passes
/// through, and no item is lost. Then a splice of one item has not happened. Cost: the items are in
/// a balanced tree. Splicing an item in compares it with at most about 2 log2(n) others, or with
/// two if it is already in its place. Splicing a list in puts the items of the shorter list into
/// the longer one.
///
/// Tests: tests/unit/eventpp/ordered_queue_list_test.cpp.
template <class Item, class Compare = OrderedQueueListCompare>
class OrderedQueueList {
    struct Slot {
        // Mutable: a tree's elements are constant, but the queue fills and clears the items.
        mutable Item item{};
        // If true, the slot equals all others, so the tree puts it exactly in front of a hint.
        mutable bool isLoose = true;
    };

    static bool isBefore(const Item& a, const Item& b) {
        if (a.empty() || b.empty()) {
            return a.empty() && !b.empty();
        }
        return Compare()(a.get(), b.get());
    }

    struct Before {
        bool operator()(const Slot& a, const Slot& b) const {
            return !a.isLoose && !b.isLoose && isBefore(a.item, b.item);
        }
    };

    using Tree = std::multiset<Slot, Before>;
    using TreeIterator = typename Tree::const_iterator;

    template <class Value>
    class Iterator {
    public:
        using iterator_category = std::bidirectional_iterator_tag;
        using value_type = Item;
        using difference_type = std::ptrdiff_t;
        using pointer = Value*;
        using reference = Value&;

        Iterator() = default;
        explicit Iterator(TreeIterator base) : base_(base) {}
        template <class Other, class = std::enable_if_t<std::is_same_v<const Other, Value>>>
        Iterator(const Iterator<Other>& other) : base_(other.base()) {}

        reference operator*() const { return base_->item; }
        pointer operator->() const { return &base_->item; }
        Iterator& operator++() {
            ++base_;
            return *this;
        }
        Iterator operator++(int) { return Iterator(base_++); }
        Iterator& operator--() {
            --base_;
            return *this;
        }
        Iterator operator--(int) { return Iterator(base_--); }
        friend bool operator==(Iterator a, Iterator b) { return a.base_ == b.base_; }
        friend bool operator!=(Iterator a, Iterator b) { return a.base_ != b.base_; }

        [[nodiscard]] TreeIterator base() const { return base_; }

    private:
        TreeIterator base_{};
    };

public:
    using value_type = Item;
    using iterator = Iterator<Item>;
    using const_iterator = Iterator<const Item>;

    iterator begin() { return iterator(tree_.cbegin()); }
    iterator end() { return iterator(tree_.cend()); }
    const_iterator begin() const { return const_iterator(tree_.cbegin()); }
    const_iterator end() const { return const_iterator(tree_.cend()); }
    Item& front() { return tree_.cbegin()->item; }
    [[nodiscard]] bool empty() const noexcept { return tree_.empty(); }

    /// An empty item at the end, which the caller fills.
    void emplace_back() { tree_.emplace_hint(tree_.cend())->isLoose = false; }

    void swap(OrderedQueueList& other) noexcept { tree_.swap(other.tree_); }
    friend void swap(OrderedQueueList& a, OrderedQueueList& b) noexcept { a.swap(b); }

    /// Takes all items of the other list. They come behind equal items in front of `position`, and
    /// in front of the other equal items.
    void splice(const_iterator position, OrderedQueueList& other) {
        if (other.empty()) {
            return;
        }
        other.sort();
        if (empty()) {
            swap(other);
        } else if (tree_.size() < other.tree_.size()) {
            // Own items in front of `position` go in front of equal ones, own later items behind.
            merge(other.tree_, other.tree_.cbegin(), tree_, position.base());
            merge(other.tree_, other.tree_.cend(), tree_, tree_.cend());
            swap(other);
        } else {
            merge(tree_, position.base(), other.tree_, other.tree_.cend());
        }
    }

    /// Takes one item of another list. Equal items get the same order as in the other splice().
    void splice(const_iterator position, OrderedQueueList& other, const_iterator item) {
        move(tree_, insertionPoint(tree_, *item.base(), position.base()), other.tree_, item.base());
    }

private:
    static bool fits(const Tree& tree, TreeIterator position, const Slot& first, const Slot& last) {
        return (position == tree.cbegin() || !isBefore(first.item, std::prev(position)->item)) &&
               (position == tree.cend() || !isBefore(position->item, last.item));
    }

    static constexpr int nearbySteps = 2;

    static TreeIterator insertionPoint(const Tree& tree, const Slot& slot, TreeIterator position) {
        // Most events belong at `position` or close to it, so a few steps come before the search.
        for (int step = 0;
             position != tree.cbegin() && isBefore(slot.item, std::prev(position)->item); ++step) {
            if (step == nearbySteps) {
                return tree.upper_bound(slot);
            }
            --position;
        }
        if (position != tree.cend() && isBefore(position->item, slot.item)) {
            return tree.lower_bound(slot);
        }
        return position;
    }

    /// Never throws: it does not call Compare, because the slot is loose.
    static void move(Tree& to, TreeIterator position, Tree& from, TreeIterator slot) {
        slot->isLoose = true;
        to.insert(position, from.extract(slot));
        slot->isLoose = false;
    }

    /// Moves the items of `from` in front of `end` to their places. These items are in order.
    static void merge(Tree& to, TreeIterator position, Tree& from, TreeIterator end) {
        if (from.cbegin() == end) {
            return;
        }
        const bool fit = fits(to, position, *from.cbegin(), *std::prev(end));
        while (from.cbegin() != end) {
            const TreeIterator slot = from.cbegin();
            const bool isFurther =
                !fit && position != to.cend() && isBefore(position->item, slot->item);
            const TreeIterator found = fit ? position : insertionPoint(to, *slot, position);
            move(to, found, from, slot);
            if (isFurther) {
                position = found;  // later equal items stay behind this one
            }
        }
    }

    /// Sorts, because items may have been filled after they were added.
    void sort() {
        if (std::is_sorted(tree_.cbegin(), tree_.cend(), Before())) {
            return;
        }
        struct GiveBack {
            Tree& tree;
            Tree sorted{};
            // Also if Compare throws: no item is lost.
            ~GiveBack() {
                while (!sorted.empty()) {
                    move(tree, tree.cbegin(), sorted, std::prev(sorted.cend()));
                }
            }
        } done{tree_};
        while (!tree_.empty()) {
            const TreeIterator slot = tree_.cbegin();
            move(done.sorted, insertionPoint(done.sorted, *slot, done.sorted.cend()), tree_, slot);
        }
    }

    Tree tree_;
};

}  // namespace sluice
