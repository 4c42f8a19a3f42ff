#pragma once

#include <utility>
#if defined(__cpp_exceptions)
#include <exception>
#endif

namespace sluice::detail {

/// Calls `f`. When it throws, calls `failed` with what was caught, and returns.
template <class F, class Failed>
void guardedCall(F&& f, [[maybe_unused]] Failed&& failed) noexcept {
#if defined(__cpp_exceptions)
    try {
        std::forward<F>(f)();
    } catch (...) {
        failed(std::current_exception());
    }
#else
    std::forward<F>(f)();
#endif
}

}  // namespace sluice::detail
