#pragma once

/// \file
/// Two ways to carry messages of several kinds from the thread that reads to the one that writes
/// the card. Both do the same work.

#include "card.hpp"
#include "proc_reader.hpp"

namespace machine_card {

/// As a std::variant in the queue's slots: the type tag is the variant's, std::visit() is the
/// switch. Nothing is allocated; each slot is as large as the largest kind; all kinds are known to
/// both sides.
Card carryInPlace(const Snapshot& snapshot);

/// As objects of a common base, from a pool, whose pointers are in the slots. A slot is one pointer
/// for all sizes. The receiver knows only the base, so kinds can be added without a change of the
/// receiver.
Card carryAsObjects(const Snapshot& snapshot);

}  // namespace machine_card
