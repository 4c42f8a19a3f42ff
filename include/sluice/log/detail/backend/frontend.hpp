#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/overflow.hpp>
#include <sluice/log/detail/backend/harvest_scope.hpp>
#include <sluice/log/detail/backend/logger_list.hpp>
#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/detail/lanes/record_queue.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace sluice::log::detail {

class OrderedAction;

/// The part of a back end that log calls use.
///
/// Each logger shares it with the back end. So a logger may log after its back end has ended: the
/// front end then refuses the record, and the logger reports it.
///
///     log call -> post() -> the thread's lane
///     flush(), the end of a logger -> wantFlush(), send() -> the list of actions
///
/// BackendCore derives from it and adds the part that reads the lanes.
///
/// Threads: any thread may call any member, unless the member says otherwise.
class Frontend {
public:
    using Records = RecordQueue<RecordHead>;

    Frontend(const Frontend&) = delete;
    Frontend& operator=(const Frontend&) = delete;

    /// Posts a record into the calling thread's lane. write(to) fills in its `bytes` bytes. Counts
    /// a record that is not accepted.
    template <class Write>
    SendResult post(const RecordHead& head, std::size_t bytes, Overflow policy, Write&& write) {
        const SendResult posted =
            queue_.post(head, bytes, allowed(policy), std::forward<Write>(write));
        if (__builtin_expect(posted != SendResult::ok, 0)) {
            // Relaxed: no other data depends on a count.
            auto& counter = posted == SendResult::closed ? refused_ : head.logger->rejected;
            counter.fetch_add(1, std::memory_order_relaxed);
        }
        ensureHarvest();
        return posted;
    }

    /// Takes over an action. False if the back end has ended: then the caller keeps it.
    [[nodiscard]] virtual bool send(std::unique_ptr<OrderedAction>& action) noexcept = 0;

    /// Requests a flush of this logger's sinks after all earlier records are written. Several calls
    /// before that flush cause one flush. False if the back end has ended.
    [[nodiscard]] virtual bool wantFlush(LoggerState& logger) noexcept = 0;

    /// Called by the harvesting thread after the last record of a logger, before its state ends.
    virtual void retire(LoggerState& logger) noexcept = 0;

    LoggerList& loggers() noexcept { return loggers_; }
    Records& records() noexcept { return queue_; }
    const Records& records() const noexcept { return queue_; }

    /// Whether the calling thread is inside a harvest of any back end: in a sink, a formatter, an
    /// error handler.
    static bool isInHarvest() noexcept { return HarvestScope::isInside(); }

    /// The number of records that were logged after the end of the back end.
    std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

protected:
    /// The threads that harvest.
    enum class Mode : unsigned char {
        worker,  ///< the worker
        nobody,  ///< no thread yet: the next log call in the child of a fork() starts a worker
        caller,  ///< each thread that logs, because the worker has left
        closed   ///< no thread: records are refused
    };

    explicit Frontend(const RecordQueueOptions& options) : queue_(options) {}
    ~Frontend() = default;

    /// Called after a record or an action was handed over. Ensures that a thread harvests it.
    ///
    /// Sequentially consistent, like three other accesses: setMode(), the announcement of a record,
    /// and the look at the lanes. So if a thread reads the old mode, the worker's last look sees
    /// the record of that thread.
    void ensureHarvest() noexcept {
        if (__builtin_expect(mode_.load(std::memory_order_seq_cst) != Mode::worker, 0) &&
            !isInHarvest()) {
            harvestHere();
        }
    }

    /// Harvests on the calling thread, or starts a worker, as the mode says.
    virtual void harvestHere() noexcept = 0;

    // Each post reads these fields.
    std::atomic<Mode> mode_{Mode::worker};
    std::atomic<std::uint64_t> refused_{0};  ///< written by threads that post after the end
    Records queue_;

    // Seldom written.
    alignas(cacheLineSize) LoggerList loggers_;

private:
    /// Returns the policy for this record. A sink that logs must not wait for room, because only
    /// its own thread makes room.
    static Overflow allowed(Overflow policy) noexcept {
        return policy == Overflow::block && isInHarvest() ? Overflow::reject : policy;
    }
};

}  // namespace sluice::log::detail
