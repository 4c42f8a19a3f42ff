#pragma once

/// \file
/// OrderedQueueList<Item, Compare> and OrderedQueueListCompare: an event queue in the order of its
/// events instead of their arrival.
///
/// Purpose: the policy `template <class Item> using QueueList = OrderedQueueList<Item>` makes an
/// EventQueue process the smallest event first; events that compare equal keep their order.
/// Compare()(a, b) gets two QueuedEvents and looks at `a.event` and `a.arguments`.
///
/// An Item has empty() and get(), which returns its QueuedEvent. Empty items, which a queue keeps
/// for reuse, come first and are never compared. Items are put in order when they are spliced in,
/// so they are filled before that.
///
/// Who may call what: not synchronised; the queue holds its lock. Errors: what Compare throws
/// passes through and no item is lost; a splice of one item has not happened then. Cost: the items
/// are in a balanced tree, so splicing one in compares it with at most about 2 log2(n) others, and
/// with two if it belongs where it is put. Splicing a list in puts the items of the shorter list
/// into the longer one.
///
/// Tests: tests/unit/event/ordered_queue_list_test.cpp.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <type_traits>
#include <utility>

namespace sluice {

/// Smaller events first.
struct OrderedQueueListCompare {
    template <class QueuedEvent>
    bool operator()(const QueuedEvent& a, const QueuedEvent& b) const {
        return a.event < b.event;
    }
};

template <class Item, class Compare = OrderedQueueListCompare>
class OrderedQueueList {
    struct Slot {
        // A tree's elements are constant, but the owner of a list fills and clears its items.
        mutable Item item{};
        // Equal to all others, so that the tree puts it exactly in front of a hint, unasked.
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
    using Place = typename Tree::const_iterator;

    template <class Value>
    class Iterator {
    public:
        using iterator_category = std::bidirectional_iterator_tag;
        using value_type = Item;
        using difference_type = std::ptrdiff_t;
        using pointer = Value*;
        using reference = Value&;

        Iterator() = default;
        explicit Iterator(Place place) : place_(place) {}
        template <class Other, class = std::enable_if_t<std::is_same_v<const Other, Value>>>
        Iterator(const Iterator<Other>& other) : place_(other.place()) {}

        reference operator*() const { return place_->item; }
        pointer operator->() const { return &place_->item; }
        Iterator& operator++() {
            ++place_;
            return *this;
        }
        Iterator operator++(int) { return Iterator(place_++); }
        Iterator& operator--() {
            --place_;
            return *this;
        }
        Iterator operator--(int) { return Iterator(place_--); }
        friend bool operator==(Iterator a, Iterator b) { return a.place_ == b.place_; }
        friend bool operator!=(Iterator a, Iterator b) { return a.place_ != b.place_; }

        [[nodiscard]] Place place() const { return place_; }

    private:
        Place place_{};
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

    /// Takes all items of the other list. Equal ones come behind those in front of `position` and
    /// in front of the rest.
    void splice(const_iterator position, OrderedQueueList& other) {
        if (other.empty()) {
            return;
        }
        other.sort();
        if (empty()) {
            swap(other);
        } else if (tree_.size() < other.tree_.size()) {
            // Who was in front of `position` goes in front of its equals, the rest behind them.
            merge(other.tree_, other.tree_.cbegin(), tree_, position.place());
            merge(other.tree_, other.tree_.cend(), tree_, tree_.cend());
            swap(other);
        } else {
            merge(tree_, position.place(), other.tree_, other.tree_.cend());
        }
    }

    /// Takes one item of another list. Equal ones are treated as above.
    void splice(const_iterator position, OrderedQueueList& other, const_iterator item) {
        move(tree_, placeFor(tree_, *item.place(), position.place()), other.tree_, item.place());
    }

private:
    static bool fits(const Tree& tree, Place place, const Slot& first, const Slot& last) {
        return (place == tree.cbegin() || !isBefore(first.item, std::prev(place)->item)) &&
               (place == tree.cend() || !isBefore(place->item, last.item));
    }

    static constexpr int nearbySteps = 2;

    static Place placeFor(const Tree& tree, const Slot& slot, Place place) {
        // Most events belong where they are put or close to it: a few steps before the search.
        for (int step = 0; place != tree.cbegin() && isBefore(slot.item, std::prev(place)->item);
             ++step) {
            if (step == nearbySteps) {
                return tree.upper_bound(slot);
            }
            --place;
        }
        if (place != tree.cend() && isBefore(place->item, slot.item)) {
            return tree.lower_bound(slot);
        }
        return place;
    }

    /// Neither compares nor throws.
    static void move(Tree& to, Place place, Tree& from, Place slot) {
        slot->isLoose = true;
        to.insert(place, from.extract(slot));
        slot->isLoose = false;
    }

    /// Moves the items of `from` in front of `end`, which are in order, to where they belong.
    static void merge(Tree& to, Place place, Tree& from, Place end) {
        if (from.cbegin() == end) {
            return;
        }
        const bool fit = fits(to, place, *from.cbegin(), *std::prev(end));
        while (from.cbegin() != end) {
            const Place slot = from.cbegin();
            const bool isFurther = !fit && place != to.cend() && isBefore(place->item, slot->item);
            const Place found = fit ? place : placeFor(to, *slot, place);
            move(to, found, from, slot);
            if (isFurther) {
                place = found;  // equal ones that follow stay behind this one
            }
        }
    }

    /// Items may have been filled after they were added.
    void sort() {
        if (std::is_sorted(tree_.cbegin(), tree_.cend(), Before())) {
            return;
        }
        struct GiveBack {
            Tree& tree;
            Tree sorted{};
            // Also when Compare throws: no item is lost.
            ~GiveBack() {
                while (!sorted.empty()) {
                    move(tree, tree.cbegin(), sorted, std::prev(sorted.cend()));
                }
            }
        } done{tree_};
        while (!tree_.empty()) {
            const Place slot = tree_.cbegin();
            move(done.sorted, placeFor(done.sorted, *slot, done.sorted.cend()), tree_, slot);
        }
    }

    Tree tree_;
};

}  // namespace sluice
