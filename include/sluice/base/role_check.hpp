#pragma once

#include <sluice/base/assert.hpp>

#include <atomic>

namespace sluice {

/// Detects calls that overlap in a role for one thread at a time: calls by two threads, or by a
/// handler and its caller. A thread may pass the role on between calls. Without assertions it costs
/// one byte and no instruction.
template <class Platform>
class RoleCheck {
public:
    class Scope {
    public:
        Scope(RoleCheck& role, [[maybe_unused]] const char* advice) noexcept : role_(role) {
            // Relaxed: see CallCheck.
            SLUICE_ASSERT(!role_.taken_.exchange(true, std::memory_order_relaxed), advice);
        }
        ~Scope() {
#if !defined(NDEBUG)
            role_.taken_.store(false, std::memory_order_relaxed);
#endif
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        RoleCheck& role_;
    };

private:
    typename Platform::template Atomic<bool> taken_{false};
};

inline constexpr const char* oneConsumer = "a second consumer (or a handler consuming from its own "
                                           "queue): let one thread at a time consume, "
                                           "or give each consumer a queue of its own";
inline constexpr const char* oneProducer = "a second producer on a single-producer queue: use "
                                           "MpscRing or MpscLanes, or one queue per producer";

}  // namespace sluice
