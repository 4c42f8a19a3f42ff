#pragma once

#include <sluice/base/send_result.hpp>

#include <atomic>
#include <cstdint>

namespace sluice::detail {

/// Counts the posts that an object on an executor has refused. Any thread may call any member. If
/// IsOn is false, it counts nothing.
///
/// Relaxed, all: no other data depends on a count.
template <class Platform, bool IsOn>
class Refusals {
public:
    /// Counts the result if it is a refusal, and returns it.
    SendResult counted(SendResult result) noexcept {
        if (result != SendResult::ok) {
            (result == SendResult::closed ? closed_ : full_)
                .fetch_add(1, std::memory_order_relaxed);
        }
        return result;
    }
    [[nodiscard]] std::uint64_t full() const noexcept {
        return full_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t closed() const noexcept {
        return closed_.load(std::memory_order_relaxed);
    }

private:
    typename Platform::template Atomic<std::uint64_t> full_{0};
    typename Platform::template Atomic<std::uint64_t> closed_{0};
};

template <class Platform>
class Refusals<Platform, false> {
public:
    static SendResult counted(SendResult result) noexcept { return result; }
    [[nodiscard]] static std::uint64_t full() noexcept { return 0; }
    [[nodiscard]] static std::uint64_t closed() noexcept { return 0; }
};

}  // namespace sluice::detail
