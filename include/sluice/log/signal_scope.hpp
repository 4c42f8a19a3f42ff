#pragma once

#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/detail/lanes/signal_safe_scope.hpp>

#include <cerrno>

namespace sluice::log {

/// Makes logging safe in a signal handler. Declare one first in a handler that logs.
///
///     void onSignal(int number) {
///         const sluice::log::signal_scope scope;
///         SLUICE_LOG_WARN(logger, "signal {}", number);
///     }
///
/// The first record of a thread allocates its lane, but the handler may have interrupted the
/// allocator. While a signal_scope lives, the records of its thread allocate nothing and wait for
/// nothing:
///
/// - If the thread has no lane, or if the handler has interrupted a log call, the records go to a
///   lane that all such records share.
/// - A record that finds no room is counted as discarded. So is a record while another thread uses
///   the shared lane.
/// - The records do not have the pairs of the interrupted call.
///
/// The destructor restores errno.
///
/// Tests: tests/unit/log/signal_scope_test.cpp.
class signal_scope {
public:
    signal_scope() noexcept : errno_(errno) {}
    ~signal_scope() { errno = errno_; }
    signal_scope(const signal_scope&) = delete;
    signal_scope& operator=(const signal_scope&) = delete;

private:
    const int errno_;
    const detail::SignalSafeScope signalSafe_;
    const detail::CallerState::Fields pairs_{{}};
};

}  // namespace sluice::log
