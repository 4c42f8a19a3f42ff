#pragma once

#include <sluice/base/detail/epoch_slots.hpp>
#include <sluice/base/thread_table.hpp>

namespace sluice {
namespace [[gnu::visibility("default")]] detail {

/// This thread's slots in all the epoch domains it has entered.
template <class Platform>
class EpochThread : public ThreadTable<EpochSlots<Platform>> {
public:
    /// Whether this thread runs the deleters of some domain, and of which one.
    static const void*& reclaiming() noexcept { return reclaiming_; }

private:
    inline static thread_local const void* reclaiming_ = nullptr;
};

}  // namespace detail
}  // namespace sluice
