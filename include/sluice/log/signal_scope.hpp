#pragma once

#include <sluice/log/detail/format/caller_state.hpp>
#include <sluice/log/detail/lanes/signal_safe_scope.hpp>

#include <cerrno>

namespace sluice::log {

/// To be the first thing in a signal handler that logs.
///
/// A thread's first record makes its lane, which allocates; a handler may have interrupted the
/// allocator. In this scope the thread's records allocate nothing and wait for nothing: without a
/// lane that is free they go into one that all such records share, and are counted as discarded
/// when that is in use or full. They take no pairs of the call that was interrupted. errno is at
/// the end what it was at the beginning.
class signal_scope {
public:
    signal_scope() noexcept : errno_(errno) {}
    ~signal_scope() { errno = errno_; }
    signal_scope(const signal_scope&) = delete;
    signal_scope& operator=(const signal_scope&) = delete;

private:
    const int errno_;
    const detail::SignalSafeScope quiet_;
    const detail::PairsOfCall pairs_{{}};
};

}  // namespace sluice::log
