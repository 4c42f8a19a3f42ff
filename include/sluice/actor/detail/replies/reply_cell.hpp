#pragma once

#include <sluice/actor/detail/replies/waker.hpp>

#include <atomic>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace sluice::detail {

/// The block that a request and its future share. It holds the reply, or the fact that there is
/// none. The last of the two users frees it.
///
/// States: waiting, perhaps with a waker; replied; cancelled.
///
/// Edges:
///
/// - E1 reply: value written -> state_ released by reply() or cancel() -> acquired by the future.
/// - E2 end: last use by one of the two users -> users_ released -> acquired by the other one.
/// - E3 waker: waker written -> state_ released by attach() -> acquired by reply() or cancel().
/// - E4 told: last use of the waker -> isTold_ released -> acquired by detach().
template <class Traits, class Reply>
class ReplyCell {
    template <class T>
    using Atomic = typename Traits::Platform::template Atomic<T>;

public:
    using Value = std::conditional_t<std::is_void_v<Reply>, std::monostate, Reply>;
    enum class State : unsigned char { waiting, replied, cancelled };

    ReplyCell() = default;
    ReplyCell(const ReplyCell&) = delete;
    ReplyCell& operator=(const ReplyCell&) = delete;

    // ---- The request: one of these, once

    template <class... Args>
    void reply(Args&&... args) {
        value_.emplace(std::forward<Args>(args)...);
        end(State::replied);
    }
    void cancel() noexcept { end(State::cancelled); }

    /// Whether the future exists.
    [[nodiscard]] bool isAwaited() const noexcept {
        // Relaxed: a hint.
        return users_.load(std::memory_order_relaxed) == 2;
    }

    // ---- The future

    [[nodiscard]] State state() const noexcept {
        const void* const state = state_.load(std::memory_order_acquire);  // E1
        return state == mark(State::replied)     ? State::replied
               : state == mark(State::cancelled) ? State::cancelled
                                                 : State::waiting;
    }
    template <class TimePoint>
    void awaitUntil(TimePoint deadline) {
        (void)changed_.waitUntil([this] { return state() != State::waiting; }, deadline);
    }
    /// Registers a waker that is called at the end of the wait. False if the wait has ended
    /// already. After true, detach() must follow.
    [[nodiscard]] bool attach(Waker& waker) noexcept {
        void* expected = mark(State::waiting);
        return state_.compare_exchange_strong(expected, &waker, std::memory_order_release,
                                              std::memory_order_relaxed);  // E3
    }
    /// Removes the waker, which may be destroyed afterwards. False if the waker was called.
    bool detach(Waker& waker) {
        void* expected = &waker;
        // Relaxed: no other thread depends on this write.
        if (state_.compare_exchange_strong(expected, mark(State::waiting),
                                           std::memory_order_relaxed, std::memory_order_relaxed)) {
            return true;
        }
        changed_.wait([this] { return isTold_.load(std::memory_order_acquire); });  // E4
        return false;
    }
    /// The reply. Valid if state() is `replied`.
    [[nodiscard]] Value& value() noexcept { return *value_; }

    // ---- Request and future, each at its end

    /// Ends the use by the request or by the future. The last one frees the cell.
    void drop() noexcept {
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) {  // E2
            delete this;
        }
    }

private:
    ~ReplyCell() = default;

    [[nodiscard]] void* mark(State state) const noexcept {
        return const_cast<char*>(&marks_[static_cast<unsigned char>(state)]);
    }

    void end(State state) noexcept {
        void* const before = state_.exchange(mark(state), std::memory_order_acq_rel);  // E1, E3
        if (before != mark(State::waiting)) {
            static_cast<Waker*>(before)->wake();
            isTold_.store(true, std::memory_order_release);  // E4
        }
        changed_.notifyAll();
        drop();
    }

    char marks_[3]{};  ///< the address of each element is a state
    /// A state, or the address of the waker while the future waits with one.
    Atomic<void*> state_{&marks_[0]};
    Atomic<bool> isTold_{false};
    Atomic<unsigned> users_{2};
    std::optional<Value> value_;
    typename Traits::Wait changed_;
};

}  // namespace sluice::detail
