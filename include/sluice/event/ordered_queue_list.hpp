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
/// passes through and no item is lost; a splice of one item has not happened then. Cost: splicing
/// one item in walks over the items that belong behind it, none if it belongs to the end; splicing
/// a list in is linear in both lists, or in the other one alone if it fits where it was put.
///
/// Tests: tests/unit/event/ordered_queue_list_test.cpp.

#include <algorithm>
#include <iterator>
#include <list>

namespace sluice {

/// Smaller events first.
struct OrderedQueueListCompare {
    template <class QueuedEvent>
    bool operator()(const QueuedEvent& a, const QueuedEvent& b) const {
        return a.event < b.event;
    }
};

template <class Item, class Compare = OrderedQueueListCompare>
class OrderedQueueList : private std::list<Item> {
    using List = std::list<Item>;

public:
    using typename List::const_iterator;
    using typename List::iterator;
    using typename List::value_type;

    using List::begin;
    using List::emplace_back;
    using List::empty;
    using List::end;
    using List::front;

    void swap(OrderedQueueList& other) noexcept { List::swap(other); }
    friend void swap(OrderedQueueList& a, OrderedQueueList& b) noexcept { a.swap(b); }

    /// Takes all items of the other list. Equal ones come behind those in front of `position` and
    /// in front of the rest.
    void splice(const_iterator position, OrderedQueueList& other) {
        if (other.empty()) {
            return;
        }
        if (std::next(other.begin()) == other.end()) {
            splice(position, other, other.begin());
            return;
        }
        if (!std::is_sorted(other.begin(), other.end(), Before())) {
            other.sort(Before());
        }
        if (fits(position, other.front(), other.back())) {
            List::splice(position, other);
        } else {
            mergeIn(position, other);
        }
    }

    /// Takes one item of another list. Equal ones are treated as above.
    void splice(const_iterator position, OrderedQueueList& other, const_iterator item) {
        List::splice(placeFor(*item, position), other, item);
    }

private:
    struct Before {
        bool operator()(const Item& a, const Item& b) const {
            if (a.empty() || b.empty()) {
                return a.empty() && !b.empty();
            }
            return Compare()(a.get(), b.get());
        }
    };

    bool fits(const_iterator position, const Item& first, const Item& last) const {
        const Before before;
        return (position == this->cbegin() || !before(first, *std::prev(position))) &&
               (position == this->cend() || !before(*position, last));
    }

    const_iterator placeFor(const Item& item, const_iterator position) const {
        const Before before;
        while (position != this->cbegin() && before(item, *std::prev(position))) {
            --position;
        }
        while (position != this->cend() && before(*position, item)) {
            ++position;
        }
        return position;
    }

    /// The items in front of `position`, the new ones and the rest are merged in this order, which
    /// is the order of equal items.
    void mergeIn(const_iterator position, OrderedQueueList& other) {
        struct GiveBack {
            List& list;
            List merged{};
            // Also when Compare throws: no item is lost.
            ~GiveBack() { list.splice(list.begin(), merged); }
        } head{*this};
        head.merged.splice(head.merged.end(), *this, this->cbegin(), position);
        head.merged.merge(other, Before());
        head.merged.merge(*this, Before());
    }
};

}  // namespace sluice
