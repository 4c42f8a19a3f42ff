#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/overflow.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/log/detail/backend/logger_state.hpp>
#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/detail/lanes/record_queue.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <spdlog/sinks/sink.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// An action that the back end carries out in order with the records. The sender allocates it; a
/// logger allocates the action of its end when it begins, because its end must not fail.
class OrderedAction {
public:
    OrderedAction() = default;
    OrderedAction(const OrderedAction&) = delete;
    OrderedAction& operator=(const OrderedAction&) = delete;
    virtual ~OrderedAction() = default;

    /// Called after each record with an earlier stamp is written.
    virtual void run() noexcept = 0;

    /// Called instead of run() if the back end has ended first.
    virtual void abandon() noexcept {}

private:
    friend class ActionList;
    Stamp stamp_ = 0;
    std::unique_ptr<OrderedAction> next_;
};

/// The actions that wait for the back end: flushes, and ends of loggers. An action takes no room in
/// a lane, so it is never dropped, and its sender does not wait for room.
///
/// Thread safety: any thread may call push(). Only the back end takes actions.
class ActionList {
public:
    ActionList() = default;
    ActionList(const ActionList&) = delete;
    ActionList& operator=(const ActionList&) = delete;
    ~ActionList() { abandon(std::move(first_)); }

    /// Takes over `action` and stamps it with the result of now(). False if the list is closed:
    /// then the caller keeps `action`.
    template <class Now>
    [[nodiscard]] bool push(std::unique_ptr<OrderedAction>& action, Now&& now) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (isClosed_) {
            return false;
        }
        action->stamp_ = now();
        OrderedAction* const added = action.get();
        (last_ != nullptr ? last_->next_ : first_) = std::move(action);
        last_ = added;
        return true;
    }

    /// Calls handle(action, stamp) for each action with a stamp below `limit`, in order, with no
    /// lock held.
    template <class Handle>
    void takeBefore(Stamp limit, Handle&& handle) {
        while (std::unique_ptr<OrderedAction> action = takeOne(limit)) {
            handle(*action, action->stamp_);
        }
    }

    /// The newest action at some moment, and its stamp. Null and 0 for an empty list.
    struct Mark {
        const OrderedAction* action;
        Stamp stamp;
    };
    Mark newest() noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        return last_ == nullptr ? Mark{nullptr, 0} : Mark{last_, last_->stamp_};
    }

    /// The same for all actions up to the mark, with any stamp. The caller has taken no action
    /// since newest().
    template <class Handle>
    void takeUntil(Mark mark, Handle&& handle) {
        for (bool isLast = mark.action == nullptr; !isLast;) {
            const std::unique_ptr<OrderedAction> action = takeOne(endOfTime);
            isLast = action == nullptr || action.get() == mark.action;
            if (action != nullptr) {
                handle(*action, action->stamp_);
            }
        }
    }

    /// Refuses later actions, and abandons those in the list.
    void close() noexcept {
        std::unique_ptr<OrderedAction> left;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            isClosed_ = true;
            last_ = nullptr;
            left = std::move(first_);
        }
        abandon(std::move(left));
    }

    /// Called around fork(), so that the child receives a complete list.
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

    /// Called in the child of a fork(). Empties the list without destroying the actions, because
    /// other threads of the parent may have been using the objects that they hold.
    void forget() noexcept {
        static_cast<void>(first_.release());
        last_ = nullptr;
    }

private:
    // Invariant: stamps never decrease, because push() reads the clock while it holds the lock.
    // They decrease only if the clock starts again; then takeUntil() ignores them.
    //
    // Edge: the back end polls the lanes, then locks the list and takes actions. If push() returned
    // before the poll, the action is in the list. An action pushed later has a stamp after the
    // poll, hence not below the watermark, and stays for a later batch.

    std::unique_ptr<OrderedAction> takeOne(Stamp limit) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!first_ || first_->stamp_ >= limit) {
            return nullptr;
        }
        std::unique_ptr<OrderedAction> taken = std::move(first_);
        first_ = std::move(taken->next_);
        if (!first_) {
            last_ = nullptr;
        }
        return taken;
    }

    /// Abandons and destroys the actions one by one. The destructor of `first` would recurse, and
    /// need much stack for a long list.
    static void abandon(std::unique_ptr<OrderedAction> first) noexcept {
        while (first) {
            first->abandon();
            std::unique_ptr<OrderedAction> next = std::move(first->next_);
            first = std::move(next);
        }
    }

    std::mutex mutex_;  ///< guards the following
    std::unique_ptr<OrderedAction> first_;
    OrderedAction* last_ = nullptr;
    bool isClosed_ = false;
};

/// Marks its thread as one that writes a batch of this back end, while it lives. Sinks, formatters,
/// error handlers and hooks run inside such a scope.
class BatchScope {
public:
    explicit BatchScope(const void* core) noexcept : before_(current_) { current_ = core; }
    ~BatchScope() { current_ = before_; }
    BatchScope(const BatchScope&) = delete;
    BatchScope& operator=(const BatchScope&) = delete;

    /// Whether the calling thread writes a batch of any back end, or of this one.
    static bool isInside() noexcept { return current_ != nullptr; }
    static bool isInside(const void* core) noexcept { return current_ == core; }

private:
    const void* before_;  ///< the value of current_ outside of this scope

    /// The back end whose batch this thread writes, or null. All shared libraries share it.
    [[gnu::visibility("default")]] inline static thread_local const void* current_ = nullptr;
};

/// The part of a back end that log calls use.
///
///     log call -> post() -> the thread's lane
///     flush(), the end of a logger -> wantFlush(), send() -> the list of actions
///
/// BackendCore derives from it and adds the part that reads the lanes. Each logger shares it with
/// the back end, so a logger may log after its back end has ended: the record is then rejected.
///
/// Thread safety: any thread may call any member, unless the member says otherwise.
class Frontend {
public:
    using Records = RecordQueue<RecordHead>;

    Frontend(const Frontend&) = delete;
    Frontend& operator=(const Frontend&) = delete;

    /// Posts a record into the calling thread's lane. write(to) fills in its `bytes` bytes. Counts
    /// a record that is not accepted.
    template <class Write>
    SendResult post(const RecordHead& head, std::size_t bytes, Overflow policy, Write&& write) {
        // A sink that logs must not wait for room, because only its own thread makes room.
        const Overflow allowed =
            policy == Overflow::block && isInBatch() ? Overflow::reject : policy;
        const SendResult posted = queue_.post(head, bytes, allowed, std::forward<Write>(write));
        if (__builtin_expect(posted != SendResult::ok, 0)) {
            // Relaxed: no other data depends on a count.
            auto& counter =
                posted == SendResult::closed ? rejectedAfterEnd_ : head.logger->rejected;
            counter.fetch_add(1, std::memory_order_relaxed);
        }
        ensureWritten();
        return posted;
    }

    /// Takes over an action. False if the back end has ended: then the caller keeps it.
    [[nodiscard]] virtual bool send(std::unique_ptr<OrderedAction>& action) noexcept = 0;

    /// Requests a flush of this logger's sinks after all earlier records are written. Several calls
    /// before that flush cause one flush. False if the back end has ended.
    [[nodiscard]] virtual bool wantFlush(LoggerState& logger) noexcept = 0;

    /// Called in a batch after the last record of a logger, before its state ends.
    virtual void retire(LoggerState& logger) noexcept = 0;

    LoggerList& loggers() noexcept { return loggers_; }
    Records& records() noexcept { return queue_; }
    const Records& records() const noexcept { return queue_; }

    /// Whether the calling thread writes a batch of any back end: it is in a sink, a formatter or
    /// an error handler.
    static bool isInBatch() noexcept { return BatchScope::isInside(); }

    /// The number of records that were logged after the end of the back end.
    std::uint64_t rejectedAfterEnd() const noexcept {
        return rejectedAfterEnd_.load(std::memory_order_relaxed);
    }

protected:
    /// The threads that write batches.
    enum class Mode : unsigned char {
        worker,  ///< the worker, or the polling thread
        none,    ///< no thread yet: the next log call in the child of a fork() starts a worker
        caller,  ///< each thread that logs, because the worker has left
        closed   ///< no thread: records are rejected
    };

    explicit Frontend(const RecordQueueOptions& options) : queue_(options) {}
    ~Frontend() = default;

    /// Called after a record or an action was handed over. Ensures that a thread writes it.
    ///
    /// Sequentially consistent, like three other accesses: setMode(), the announcement of a record,
    /// and the poll of the lanes. So if a thread reads the old mode, the worker's last poll sees
    /// the record of that thread.
    void ensureWritten() noexcept {
        if (__builtin_expect(mode_.load(std::memory_order_seq_cst) != Mode::worker, 0) &&
            !isInBatch()) {
            writeHere();
        }
    }

    /// Writes a batch on the calling thread, or starts a worker, as the mode says.
    virtual void writeHere() noexcept = 0;

    // Each post reads these fields.
    std::atomic<Mode> mode_{Mode::worker};
    std::atomic<std::uint64_t> rejectedAfterEnd_{0};  ///< written by threads that post too late
    Records queue_;

    // Seldom written.
    alignas(cacheLineSize) LoggerList loggers_;
};

/// Connects a logger with a back end. Its destructor sends an action to the back end, which then
/// destroys the state of the logger, after it has written the records that point to that state.
///
/// Thread safety: while one thread calls a member that is not const, no other thread uses the
/// object.
class LoggerHandle {
public:
    LoggerHandle() = default;

    /// Throws std::bad_alloc if there is no memory.
    LoggerHandle(std::shared_ptr<Frontend> frontend, const std::string& name,
                 const std::vector<spdlog::sink_ptr>& sinks, Overflow policy,
                 std::shared_ptr<ErrorChannel> errors)
        : frontend_(std::move(frontend)) {
        auto state = std::make_unique<LoggerState>(name, sinks, policy, std::move(errors));
        if (policy == Overflow::dropOldest) {
            frontend_->records().expectEviction();
        }
        state_ = state.get();
        end_ = std::make_unique<End>(*frontend_, std::move(state));
    }
    LoggerHandle(LoggerHandle&& other) noexcept { swap(other); }
    LoggerHandle& operator=(LoggerHandle other) noexcept {
        swap(other);
        return *this;
    }
    ~LoggerHandle() {
        if (end_ && !frontend_->send(end_)) {
            end_.reset();  // the back end has ended, so no other thread uses the state
        }
    }

    LoggerState& state() const noexcept { return *state_; }

    /// Requests a flush of the sinks. False if the back end has ended.
    bool flush() const noexcept { return frontend_->wantFlush(*state_); }

private:
    /// The action that ends a logger and destroys its state.
    class End final : public OrderedAction {
    public:
        End(Frontend& frontend, std::unique_ptr<LoggerState> logger)
            : frontend_(frontend), logger_(std::move(logger)) {
            frontend_.loggers().add(*logger_);
        }
        ~End() override { frontend_.loggers().remove(*logger_); }

        void run() noexcept override { frontend_.retire(*logger_); }

    private:
        Frontend& frontend_;
        std::unique_ptr<LoggerState> logger_;
    };

    void swap(LoggerHandle& other) noexcept {
        std::swap(frontend_, other.frontend_);
        std::swap(state_, other.state_);
        std::swap(end_, other.end_);
    }

    std::shared_ptr<Frontend> frontend_;
    LoggerState* state_ = nullptr;
    std::unique_ptr<OrderedAction> end_;
};

}  // namespace sluice::log::detail
