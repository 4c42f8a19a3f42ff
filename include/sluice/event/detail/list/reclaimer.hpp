#pragma once

#include <sluice/base/platform.hpp>

#include <utility>

namespace sluice::detail {

/// An element that was removed from a list or map and may still be in use.
struct Removed {
    Removed* nextRemoved = nullptr;
    void (*free)(Removed&) = nullptr;
};

/// Frees elements that no thread uses any more. A destructor may end a list whose callbacks own
/// further lists, and so on. Beyond `deepest` nested calls, the outermost call frees the elements,
/// so a long chain needs no deep stack.
class Reclaimer {
public:
    /// Frees all elements from `first` on.
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

    /// Frees one element before it returns, however deeply calls are nested.
    static void freeNow(Removed& removed) noexcept {
        removed.nextRemoved = nullptr;
        freeEach(&removed);
    }

    /// Frees the elements that this thread has left to its outermost call.
    static void freeDeferred() noexcept {
        while (state_.deferred != nullptr) {
            freeEach(std::exchange(state_.deferred, nullptr));
        }
    }

    /// Whether this thread is running the destructor of this element.
    static bool isFreeing(const Removed& removed) noexcept {
        const Current* current = state_.current;
        while (current != nullptr && &current->removed != &removed) {
            current = current->outer;
        }
        return current != nullptr;
    }

private:
    static constexpr unsigned deepest = 100;

    /// An element that is being freed. The destructor of `outer` frees it.
    struct Current {
        const Removed& removed;
        const Current* outer;
    };
    struct State {
        unsigned depth;
        Removed* deferred;  ///< elements that the outermost call frees
        const Current* current;
    };

    static void freeEach(Removed* removed) noexcept {
        while (removed != nullptr) {
            const Current current{*removed, state_.current};
            state_.current = &current;
            Removed& first = *std::exchange(removed, removed->nextRemoved);
            first.free(first);
            state_.current = current.outer;
        }
    }

    static void append(Removed* first) noexcept {
        Removed** end = &first;
        while (*end != nullptr) {
            end = &(*end)->nextRemoved;
        }
        *end = std::exchange(state_.deferred, first);
    }

    inline static SLUICE_THREAD_LOCAL State state_{};
};

}  // namespace sluice::detail
