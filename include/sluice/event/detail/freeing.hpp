#pragma once

#include <utility>

namespace sluice::detail {

/// What has been taken out of a list or map and may still be in use.
struct Removed {
    Removed* nextRemoved = nullptr;
    void (*free)(Removed&) = nullptr;
};

/// Frees what nobody uses any more. A destructor may end a list whose callbacks own further lists,
/// and so on: deep down they are left to the outermost call, so a long chain needs no deep stack.
class Freeing {
public:
    /// All from `first` on.
    static void freeAll(Removed* first) noexcept {
        State& state = state_;
        if (state.depth == deepest) {
            append(first);
            return;
        }
        ++state.depth;
        freeEach(first);
        if (state.depth == 1) {
            freeDeferred();
        }
        --state.depth;
    }

    /// What this thread has left to its outermost call.
    static void freeDeferred() noexcept {
        while (state_.deferred != nullptr) {
            freeEach(std::exchange(state_.deferred, nullptr));
        }
    }

private:
    static constexpr unsigned deepest = 100;

    struct State {
        unsigned depth;
        Removed* deferred;
    };

    static void freeEach(Removed* removed) noexcept {
        while (removed != nullptr) {
            Removed& current = *removed;
            removed = current.nextRemoved;
            current.free(current);
        }
    }

    static void append(Removed* first) noexcept {
        Removed** end = &first;
        while (*end != nullptr) {
            end = &(*end)->nextRemoved;
        }
        *end = std::exchange(state_.deferred, first);
    }

    inline static thread_local State state_{};
};

}  // namespace sluice::detail
