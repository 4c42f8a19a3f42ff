#pragma once

#include <sluice/log/detail/format/caller_state.hpp>
#include <sluice/log/detail/lanes/signal_safe_scope.hpp>

#include <cerrno>

namespace sluice::log {

/// Makes logging safe in a signal handler. Declare one first in a handler that logs.
///
/// The first record of a thread allocates its lane, but the handler may have interrupted the
/// allocator. While a signal_scope lives, the records of its thread allocate nothing and wait for
/// nothing. If the thread has no free lane, they use a lane that all such records share. If another
/// thread uses that lane, or if it is full, they are counted as discarded. They do not have the
/// pairs of the interrupted call. At its end the scope restores errno.
class signal_scope {
public:
    signal_scope() noexcept : errno_(errno) {}
    ~signal_scope() { errno = errno_; }
    signal_scope(const signal_scope&) = delete;
    signal_scope& operator=(const signal_scope&) = delete;

private:
    const int errno_;
    const detail::SignalSafeScope quiet_;
    const detail::ScopedPairs pairs_{{}};
};

}  // namespace sluice::log
