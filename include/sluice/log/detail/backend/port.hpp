#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/log/detail/backend/harvest_scope.hpp>
#include <sluice/log/detail/backend/logger_list.hpp>
#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/detail/lanes/intake.hpp>
#include <sluice/log/overflow_policy.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace sluice::log::detail {

class Control;

/// The part of a back end that log calls use.
///
/// A logger has a share in it, so that it may log at any time, also when the back end that made it
/// has gone: then the port refuses, and the logger says so.
///
///     log call -> post() -> the thread's lane
///     flush(), the end of a logger -> wantFlush(), send() -> the list of controls
///
/// Engine has the other part: what happens behind the lanes.
///
/// Who may call what: any thread any member.
///
/// Errors: post() throws what registering a thread may throw.
class Port {
public:
    using Records = Intake<RecordHead>;

    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    /// A record for the calling thread's lane; `write(to)` fills in its bytes. What could not be
    /// taken is counted here.
    template <class Write>
    Posted post(const RecordHead& head, std::size_t bytes, overflow_policy policy, Write&& write) {
        const Posted posted =
            intake_.post(head, bytes, allowed(policy), std::forward<Write>(write));
        if (__builtin_expect(posted != Posted::ok, 0)) {
            // Relaxed: counts, which publish nothing.
            auto& counter = posted == Posted::closed ? refused_ : head.logger->discarded;
            counter.fetch_add(1, std::memory_order_relaxed);
        }
        attend();
        return posted;
    }

    /// Hands over a control; false, and it is still the caller's, when the back end has ended.
    [[nodiscard]] virtual bool send(std::unique_ptr<Control>& control) noexcept = 0;

    /// The sinks of this logger are flushed when everything logged before is written. While one
    /// flush waits, any number of others is one more. False when the back end has ended.
    [[nodiscard]] virtual bool wantFlush(LoggerState& logger) noexcept = 0;

    /// The last record of a logger is written, and its state goes. By the thread that harvests.
    virtual void retire(LoggerState& logger) noexcept = 0;

    LoggerList& loggers() noexcept { return loggers_; }
    Records& records() noexcept { return intake_; }
    const Records& records() const noexcept { return intake_; }

    /// Whether the calling thread is inside a harvest of any back end: in a sink, a formatter, an
    /// error handler.
    static bool isInHarvest() noexcept { return HarvestScope::isInside(); }

    /// Records that came after the end.
    std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

protected:
    /// Who harvests.
    enum class Mode : unsigned char {
        worker,  ///< the worker
        nobody,  ///< a worker that is still to be started: in the child of a fork()
        caller,  ///< whoever has logged: the worker has left
        closed   ///< nothing is taken any more
    };

    explicit Port(const IntakeOptions& options) : intake_(options) {}
    ~Port() = default;

    /// After a record or a control was handed over: somebody must come for it.
    ///
    /// Sequentially consistent, as setMode(), the announcement of a record and the look at the
    /// lanes are: who reads the old mode has announced its record before the worker's last look.
    void attend() noexcept {
        if (__builtin_expect(mode_.load(std::memory_order_seq_cst) != Mode::worker, 0) &&
            !isInHarvest()) {
            attendMyself();
        }
    }

    /// The same where the worker does not come.
    virtual void attendMyself() noexcept = 0;

    // What each post reads.
    std::atomic<Mode> mode_{Mode::worker};
    std::atomic<std::uint64_t> refused_{0};
    Records intake_;

    // What changes now and then.
    alignas(cacheLineSize) LoggerList loggers_;

private:
    /// A sink that waited for room would wait for itself.
    static overflow_policy allowed(overflow_policy policy) noexcept {
        return policy == overflow_policy::block && isInHarvest() ? overflow_policy::discard_new
                                                                 : policy;
    }
};

}  // namespace sluice::log::detail
