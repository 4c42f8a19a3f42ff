#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/log/detail/backend/backend_registry.hpp>
#include <sluice/log/detail/backend/logger_state.hpp>
#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/detail/lanes/record_queue.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <spdlog/formatter.h>
#include <spdlog/sinks/sink.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace sluice::log::detail {

/// An action that the back end runs between records, in stamp order. A logger's constructor
/// allocates the logger's last action, because the logger's destructor must not fail.
class OrderedAction {
public:
    virtual ~OrderedAction() = default;

    /// run() is called after all records with earlier stamps are written.
    virtual void run() noexcept = 0;

    /// abandon() is called instead of run() if the back end ends before it can run the action.
    virtual void abandon() noexcept {}

private:
    friend class ActionList;
    Stamp stamp_ = 0;
    std::unique_ptr<OrderedAction> next_;
};

/// Gives a sink a new formatter after all earlier records are written.
struct FormatterChange final : OrderedAction {
    FormatterChange(spdlog::sink_ptr to, std::shared_ptr<ErrorChannel> reports,
                    std::unique_ptr<spdlog::formatter> wanted)
        : sink(std::move(to)), errors(std::move(reports)), formatter(std::move(wanted)) {}

    void run() noexcept override {
        guarded(*errors, {}, [this] { sink->set_formatter(std::move(formatter)); });
    }

    /// Sets the formatter even if the back end has ended, because the sink may outlive the back
    /// end. Does nothing in a batch, because the running sink may hold the lock of set_formatter().
    void abandon() noexcept override {
        if (!BatchScope::isInside()) {
            const BatchScope scope(this);
            run();
        }
    }

    const spdlog::sink_ptr sink;
    const std::shared_ptr<ErrorChannel> errors;
    std::unique_ptr<spdlog::formatter> formatter;
};

/// The queue of actions: flushes, new formatters and ends of loggers. Actions need no space in the
/// threads' lanes, so actions are never dropped and senders of actions never wait.
///
/// Thread safety: any thread may call push(). Only the back end may call the other members.
class ActionList {
public:
    ~ActionList() { destroy(std::move(first_)); }

    /// Takes over `action` and stamps it with now(). If the list is closed, returns false and
    /// leaves `action` to the caller.
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

    /// The stamp of the oldest action, or endOfTime if the list is empty.
    Stamp first() noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        return first_ ? first_->stamp_ : endOfTime;
    }

    /// Removes each action with a stamp below `limit`, and calls handle(action) with no lock held.
    template <class Handle>
    void takeBefore(Stamp limit, Handle&& handle) {
        while (std::unique_ptr<OrderedAction> action = takeOne(limit)) {
            handle(*action);
        }
    }

    /// Gives all actions new stamps from now(). Call restamp() after a restart of the stamp clock.
    template <class Now>
    void restamp(Now&& now) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (OrderedAction* action = first_.get(); action != nullptr;
             action = action->next_.get()) {
            action->stamp_ = now();
        }
    }

    /// Makes later push() calls return false, and abandons the queued actions.
    void close() noexcept {
        std::unique_ptr<OrderedAction> left;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            isClosed_ = true;
            last_ = nullptr;
            left = std::move(first_);
        }
        for (OrderedAction* action = left.get(); action != nullptr; action = action->next_.get()) {
            action->abandon();
        }
        destroy(std::move(left));
    }

    // fork() locks the list, so that the child receives a complete list.
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

    /// Leaks the actions in a forked child, because another thread may have been using the actions'
    /// objects during fork(). Keeps FormatterChanges in the list, for the child's sinks.
    void forget() noexcept {
        last_ = nullptr;
        for (OrderedAction* next = first_.release(); next != nullptr;) {
            OrderedAction* const action = next;
            next = action->next_.release();
            if (dynamic_cast<FormatterChange*>(action) != nullptr) {
                (last_ != nullptr ? last_->next_ : first_).reset(action);
                last_ = action;
            }
        }
    }

private:
    // Invariant (proof: docs/algorithms/ordered-log.md): stamps ascend from first_ to last_.

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

    /// Destroys the actions one by one, because the destructor of `first` would recurse.
    static void destroy(std::unique_ptr<OrderedAction> first) noexcept {
        while (first) {
            first = std::move(first->next_);
        }
    }

    std::mutex mutex_;  ///< guards the list and isClosed_
    std::unique_ptr<OrderedAction> first_;
    OrderedAction* last_ = nullptr;
    bool isClosed_ = false;
};

/// Returns true, and counts the record as missing, if its logger drops the oldest records.
inline bool evict(const RecordHead& head) noexcept {
    const bool isAllowed = head.logger->policy == Overflow::dropOldest;
    if (isAllowed) {
        head.logger->countMissing(head.level);
    }
    return isAllowed;
}

/// Records of level err and above use second lanes, whose space no other records can take.
inline bool takesSecondLane(const RecordHead& head) noexcept {
    return head.level >= spdlog::level::err;
}

/// The part of a back end that log calls use; BackendCore adds the consumer. Loggers share
/// ownership of the Frontend. Records that are logged after the back end's end are rejected.
///
/// Thread safety: any thread may call any member, unless the member says otherwise.
class Frontend {
public:
    using Records = RecordQueue<RecordHead>;

    /// Posts a record like RecordQueue::post(), but never waits inside a batch.
    template <class Write>
    SendResult post(const RecordHead& head, std::size_t bytes, Overflow policy, Write&& write) {
        // A sink that logs must not wait for its own thread.
        const Overflow allowed =
            policy == Overflow::block && isInBatch() ? Overflow::reject : policy;
        const SendResult posted = queue_.post(head, bytes, allowed, std::forward<Write>(write));
        if (SLUICE_UNLIKELY(posted != SendResult::ok)) {
            countRejected(head, posted);
        }
        ensureWritten();
        return posted;
    }

    /// Sends an action to the back end. Returns false and keeps `action` if the back end has ended.
    [[nodiscard]] virtual bool send(std::unique_ptr<OrderedAction>& action) noexcept = 0;

    /// Requests a flush of the logger's sinks after all earlier records. Returns false if the back
    /// end has ended. Several requests may become one flush.
    [[nodiscard]] virtual bool wantFlush(LoggerState& logger) noexcept = 0;

    /// If backend_options::flush_on_waits is set, flushes the sinks and waits until that is done.
    virtual void awaitFlush() noexcept = 0;

    /// Returns backend_options::clock, or null for the system clock.
    virtual const std::function<spdlog::log_clock::time_point()>* ownClock() const noexcept = 0;

    /// The back end calls retire() inside a batch, after the logger's last record.
    virtual void retire(LoggerState& logger) noexcept = 0;

    /// Returns true after BatchWriter::abandon(), which may leave unwritten records in the lanes.
    virtual bool isAbandoned() const noexcept = 0;

    LoggerList& loggers() noexcept { return loggers_; }
    Records& records() noexcept { return queue_; }

    /// Returns true if the caller is a sink, formatter, error handler or hook of any back end.
    static bool isInBatch() noexcept { return BatchScope::isInside(); }

    std::uint64_t rejectedAfterEnd() const noexcept {
        return rejectedAfterEnd_.load(std::memory_order_relaxed);  // value only
    }

protected:
    /// The threads that write batches at present.
    enum class Mode : unsigned char {
        worker,  ///< the worker, or a manual back end's polling thread
        none,    ///< no thread yet: a forked child's next log call starts a worker
        caller,  ///< each logging thread, after BackendCore::leave()
        closed   ///< no thread: records are rejected
    };

    explicit Frontend(const RecordQueueOptions& options) : queue_(options) {}
    ~Frontend() = default;

    Mode mode() const noexcept { return mode_.load(std::memory_order_seq_cst); }  // E1 mode

    /// Writes the calling thread's new record or action if no worker or polling thread does.
    void ensureWritten() noexcept {
        if (SLUICE_UNLIKELY(mode() != Mode::worker) && !isInBatch()) {
            writeHere();
        }
    }

    [[gnu::cold, gnu::noinline]] void countRejected(const RecordHead& head,
                                                    SendResult posted) noexcept {
        if (posted == SendResult::closed) {
            rejectedAfterEnd_.fetch_add(1, std::memory_order_relaxed);  // value only
        } else {
            head.logger->countMissing(head.level);
        }
    }

    /// Writes a batch on the calling thread in Mode::caller; starts a worker in Mode::none.
    virtual void writeHere() noexcept = 0;

    // Each post reads the fields below.
    std::atomic<Mode> mode_{Mode::worker};
    std::atomic<std::uint64_t> rejectedAfterEnd_{0};  ///< number of posts to the ended back end
    Records queue_;

    // Rarely written.
    alignas(cacheLineSize) LoggerList loggers_;
};

/// A logger's registration at a back end. An OrderedAction ends the registration, so that the
/// logger's LoggerState outlives all records that point to it.
///
/// Thread safety: as for a standard container.
class LoggerHandle {
public:
    ~LoggerHandle() { end(); }

    /// Registers a logger with `state` at `frontend`, and ends the logger's former registration.
    void renew(const std::shared_ptr<Frontend>& frontend, std::unique_ptr<LoggerState> state) {
        if (state->policy == Overflow::dropOldest) {
            frontend->records().expectEviction();
        }
        auto next = std::make_unique<End>(*frontend, std::move(state));
        end();
        frontend_ = frontend;
        state_ = &next->logger;
        end_ = std::move(next);
    }

    LoggerState& state() const noexcept { return *state_; }

    /// Requests a flush of the logger's sinks. Returns false if the back end has ended.
    bool flush() const noexcept { return frontend_->wantFlush(*state_); }

private:
    struct End final : OrderedAction {
        End(Frontend& itsFrontend, std::unique_ptr<LoggerState> state)
            : frontend(itsFrontend), logger(frontend.loggers().add(std::move(state))) {}
        ~End() override { frontend.loggers().remove(logger, frontend.isAbandoned()); }

        void run() noexcept override { frontend.retire(logger); }

        Frontend& frontend;
        LoggerState& logger;
    };

    void end() noexcept {
        if (end_ && !frontend_->send(end_)) {
            end_.reset();  // the back end has ended and no longer uses *state_
        }
    }

    std::shared_ptr<Frontend> frontend_;
    LoggerState* state_ = nullptr;
    std::unique_ptr<OrderedAction> end_;
};

}  // namespace sluice::log::detail
