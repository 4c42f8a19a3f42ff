#pragma once

#include <sluice/event/detail/list/removals.hpp>

namespace sluice::detail {

/// The part of a list that running calls use, even if a callback destroys, moves or swaps the list.
template <class Threading>
class ListLifetime {
    using ReadSide = ReadSideOf<Threading>;

public:
    using Platform = typename ReadSide::Platform;
    using Users = typename ReadSide::Users;
    using Effort = typename Removals<Threading>::Effort;
    using Chain = typename Removals<Threading>::Chain;

    explicit ListLifetime(void (*end)(void*)) noexcept : removals(end) {}

    std::size_t removedSizeApprox() const noexcept { return removals.sizeApprox(); }

    void collect(Effort effort) noexcept { removals.collect(users, lock, effort); }

    [[gnu::cold]] void collectAfterCall() noexcept { collect(Effort::limited); }

    const Users users;
    mutable LockOf<Threading> lock;
    Removals<Threading> removals;
};

/// The time in which a thread calls the callbacks of a list.
template <class Threading>
class Call {
    using ReadSide = ReadSideOf<Threading>;
    using Core = ListLifetime<Threading>;

public:
    explicit Call(Core& core) : leaving_{core}, section_(core.users) {}

private:
    struct Leaving {
        ~Leaving() {
            ReadSide::fence();
            if (__builtin_expect(core.removals.hasAny(), 0)) {
                core.collectAfterCall();
            }
        }
        Core& core;
    };

    Leaving leaving_;  // is destroyed after the section
    typename ReadSide::Section section_;
};

}  // namespace sluice::detail
