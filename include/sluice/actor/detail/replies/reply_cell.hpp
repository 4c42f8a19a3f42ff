#pragma once

#include <atomic>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace sluice::detail {

/// What a request and its future share: the reply, or that there will be none. The last of the two
/// frees it.
///
/// Edges: E1 reply: value written -> state_ released by reply() or cancel() -> acquired by the
/// future. E2 end: last use by one of the two -> users_ released -> acquired by the other one.
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

    /// Whether the future is still there.
    [[nodiscard]] bool isAwaited() const noexcept {
        // Relaxed: a hint.
        return users_.load(std::memory_order_relaxed) == 2;
    }

    // ---- The future

    [[nodiscard]] State state() const noexcept {
        return state_.load(std::memory_order_acquire);  // E1
    }
    template <class TimePoint>
    void awaitUntil(TimePoint deadline) {
        (void)changed_.waitUntil([this] { return state() != State::waiting; }, deadline);
    }
    /// After `replied`.
    [[nodiscard]] Value& value() noexcept { return *value_; }

    // ---- Each of both, at its end

    void drop() noexcept {
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) {  // E2
            delete this;
        }
    }

private:
    ~ReplyCell() = default;

    void end(State state) noexcept {
        state_.store(state, std::memory_order_release);  // E1
        changed_.notifyAll();
        drop();
    }

    Atomic<State> state_{State::waiting};
    Atomic<unsigned> users_{2};
    std::optional<Value> value_;
    typename Traits::Wait changed_;
};

}  // namespace sluice::detail
