#pragma once

#include <sluice/log/batch_sink.hpp>
#include <sluice/log/detail/backend/logger_state.hpp>
#include <sluice/log/detail/sink/log_file.hpp>
#include <sluice/log/detail/sink/rotation_plan.hpp>
#include <sluice/log/file_rotation.hpp>
#include <sluice/log/pattern_formatter.hpp>

#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/details/synchronous_factory.h>
#include <spdlog/formatter.h>
#include <spdlog/logger.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace sluice::log {

/// Writes lines to a file like spdlog's basic_file_sink, many records at a time (POSIX).
///
///     // With spdlog's arguments:
///     auto io = sluice::log::file_logger_mt<sluice::log::async_factory>("io", "io.log");
///
///     // With a new file after 100 MiB:
///     auto sink = std::make_shared<sluice::log::file_sink_mt>("core.log");
///     sluice::log::file_rotation rotation;
///     rotation.max_bytes = 100 * 1024 * 1024;
///     sink->set_rotation(rotation);
///     auto core = std::make_shared<sluice::log::async_logger>("core", sink,
///                                                             sluice::log::default_backend());
///
/// The sink formats lines straight into one buffer, and does not use stdio. With a back end it
/// calls write(2) after a harvest, and at most once in `backend_options::write_interval`.
///
/// Use it instead of basic_file_sink. Without a back end it behaves like that sink: it writes when
/// the buffer has 4096 bytes, in flush(), and in its destructor. set_rotation() begins a new file
/// after a number of bytes, or every day.
///
/// Another program may rename or remove the file, as logrotate does. Call reopen() afterwards to
/// open the file of the name again. With watch_file() the sink does this by itself. Neither loses a
/// line: each line is in the old file or in the new one.
///
/// Threads: any thread may call any member of a file_sink_mt. One thread at a time may call the
/// members of a file_sink_st. While one thread writes, other threads that log to this sink wait.
///
/// Patterns: at first the sink has a pattern_formatter of Sluice's. set_pattern() replaces it by
/// another one, and set_formatter() by any formatter.
///
/// Errors: if the file cannot be opened, the constructor throws spdlog_ex, after as many attempts
/// as spdlog makes. If a write fails:
///
/// - log(), flush() or end_batch() throws spdlog_ex with the name and the cause. Loggers pass it to
///   their error handlers.
/// - The unwritten text stays in the buffer, and the next of these calls tries again. So no line is
///   lost or doubled when the disk has room again.
/// - If more than 1 MiB is unwritten, the sink refuses new records with the same exception, also in
///   log_batch(), and counts them in lost_records(). When the file can be written again, the sink
///   writes a line "N records dropped" in their place.
/// - The destructor prints on stderr how much it could not write.
///
/// If a formatter throws, only its own record is lost.
///
/// Cost: a buffer of 68 KiB. The buffer is larger for a larger record, and while writes fail.
///
/// Tests: tests/unit/log/file_sink_test.cpp.
template <class Mutex>
class file_sink final : public batch_sink {
public:
    /// Opens the file. The arguments are those of spdlog's basic_file_sink. Makes the folder if it
    /// is missing. With `truncate` it empties the file first. Calls the handlers before and after
    /// it opens and closes the file.
    explicit file_sink(const spdlog::filename_t& filename, bool truncate = false,
                       const spdlog::file_event_handlers& handlers = {})
        : file_(filename, truncate, handlers), formatter_(std::make_unique<pattern_formatter>()) {
        buffer_.reserve(batchBytes + roomForALine);
    }

    file_sink(const file_sink&) = delete;
    file_sink& operator=(const file_sink&) = delete;

    ~file_sink() override {
        try {
            write(Guard(mutex_));
        } catch (const std::exception& error) {
            std::fprintf(stderr,
                         "[*** LOG ERROR ***] file_sink: %zu bytes lost, %llu records %s: %s\n",
                         buffer_.size(), static_cast<unsigned long long>(lost_ - told_),
                         "before them dropped", error.what());
        }
    }

    void log(const spdlog::details::log_msg& message) override {
        {
            const Guard guard(mutex_);
            add(guard, message);
            if (buffer_.size() >= aloneBytes) {
                write(guard);
            }
        }
        tellOfRotations();
    }

    void log_batch(const spdlog::details::log_msg* first, std::size_t count,
                   std::size_t& taken) override {
        const Guard guard(mutex_);
        for (taken = 0; taken < count; ++taken) {
            if (should_log(first[taken].level)) {
                add(guard, first[taken]);
                if (buffer_.size() >= batchBytes && buffer_.size() < mostUnwritten) {
                    writeIfPossible(guard);
                }
            }
        }
    }

    void end_batch() override { flush(); }
    bool has_much() const override {
        const Guard guard(mutex_);
        return buffer_.size() >= kept_ + aloneBytes;
    }

    /// Writes the buffer to the file. The system decides when the text reaches the disk.
    void flush() override {
        {
            const Guard guard(mutex_);
            write(guard);
        }
        tellOfRotations();
    }

    /// Writes the buffer to the old file, then opens the file of this name again. Call it after
    /// another program has renamed or removed the file.
    void reopen() {
        const Guard guard(mutex_);
        write(guard);
        file_.reopen(false);
    }

    /// Makes the sink notice by itself that another program has renamed or removed the file. Before
    /// each write the sink checks whether the name still belongs to its file. If not, it opens the
    /// file of the name. After each write it checks whether the file was removed meanwhile. If so,
    /// it writes the text again. Each check takes a system call.
    void watch_file(bool isWatched = true) {
        const Guard guard(mutex_);
        isWatched_ = isWatched;
    }

    /// Makes the sink begin new files by itself from now on. Call it before the first record.
    void set_rotation(file_rotation rotation) {
        const Guard guard(mutex_);
        plan_ = detail::RotationPlan(std::move(rotation), file_.lastWritten());
        rotates_ = true;
    }

    void set_pattern(const std::string& pattern) override {
        set_formatter(std::make_unique<pattern_formatter>(pattern));
    }

    void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
        const Guard guard(mutex_);
        formatter_ = std::move(formatter);
    }

    const spdlog::filename_t& filename() const { return file_.filename(); }

    /// Empties the file and the buffer.
    void truncate() {
        const Guard guard(mutex_);
        keepFrom(guard, buffer_.size());
        file_.reopen(true);
    }

    /// The number of bytes in the buffer.
    std::size_t unwritten_bytes() const {
        const Guard guard(mutex_);
        return buffer_.size();
    }

    /// The number of records that were refused because more than 1 MiB was unwritten.
    std::uint64_t lost_records() const {
        const Guard guard(mutex_);
        return lost_;
    }

private:
    using Guard = std::lock_guard<Mutex>;

    // Bytes. Without a back end the sink writes this many at a time, as stdio does.
    static constexpr std::size_t aloneBytes = 4096;
    // In log_batch() the sink writes this many at a time.
    static constexpr std::size_t batchBytes = std::size_t{64} * 1024;
    static constexpr std::size_t roomForALine = 4096;
    // If this many are unwritten, the sink refuses records.
    static constexpr std::size_t mostUnwritten = std::size_t{1024} * 1024;

    /// Formats one record into the buffer. The record is lost if this throws.
    void add(const Guard& guard, const spdlog::details::log_msg& message) {
        if (buffer_.size() >= mostUnwritten) {
            try {
                write(guard);
            } catch (...) {
                ++lost_;
                lostTime_ = message.time;
                lostName_.assign(message.logger_name.data(), message.logger_name.size());
                throw;
            }
        }
        if (rotates_ && plan_.isDue(file_.size() + buffer_.size(), message.time)) {
            rotate(guard, message.time, buffer_.size());
        }
        const std::size_t size = buffer_.size();
        try {
            formatter_->format(message, buffer_);
        } catch (...) {
            buffer_.resize(size);
            throw;
        }
        if (rotates_ && plan_.isTooLarge(file_.size() + size, file_.size() + buffer_.size())) {
            rotate(guard, message.time, size);
        }
    }

    /// Writes the first `count` bytes of the buffer to the old file, and begins a new file for the
    /// rest. If a step fails, the rest goes to the old file, too, and the next write() throws the
    /// reason.
    void rotate(const Guard& guard, spdlog::log_clock::time_point time, std::size_t count) {
        try {
            writeBuffer(guard, count);
            rotated_.push_back(file_.rotate(time));
            plan_.done(time);
        } catch (const spdlog::spdlog_ex& error) {
            plan_.failed(file_.size() + buffer_.size(), time);
            complaint_ = error.what();
        }
    }

    /// Calls the hook for the files that were rotated since the last call. It holds no lock during
    /// the call.
    void tellOfRotations() {
        if (__builtin_expect(!rotates_, 1)) {
            return;
        }
        std::vector<spdlog::filename_t> names;
        detail::RotationPlan plan;
        {
            const Guard guard(mutex_);
            if (rotated_.empty()) {
                return;
            }
            names.swap(rotated_);
            plan = plan_;
        }
        for (const spdlog::filename_t& name : names) {
            plan.tell(name);
        }
    }

    /// Writes the buffer. If that fails, the records stay in the buffer, and end_batch() throws.
    void writeIfPossible(const Guard& guard) {
        try {
            write(guard);
        } catch (const spdlog::spdlog_ex&) {
            return;
        }
    }

    void write(const Guard& guard) {
        writeBuffer(guard, buffer_.size());
        if (__builtin_expect(lost_ != told_, 0)) {
            const std::string text = detail::droppedText(lost_ - told_);
            formatter_->format({lostTime_, {}, lostName_, spdlog::level::warn, text}, buffer_);
            told_ = lost_;
            writeBuffer(guard, buffer_.size());
        }
        if (__builtin_expect(!complaint_.empty(), 0)) {
            throw spdlog::spdlog_ex(std::exchange(complaint_, {}));
        }
    }

    /// Writes the first `count` bytes of the buffer, and keeps the others.
    void writeBuffer(const Guard& guard, std::size_t count) {
        std::size_t done = 0;
        try {
            if (isWatched_ && count != 0 && file_.isMoved()) {
                file_.reopen(false);
            }
            file_.write(buffer_.data(), count, done);
            if (isWatched_ && count != 0 && file_.isRemoved()) {
                done = 0;
                file_.reopen(false);
                file_.write(buffer_.data(), count, done);
            }
        } catch (...) {
            keepFrom(guard, done);
            throw;
        }
        keepFrom(guard, count);
        if (buffer_.size() == 0 && buffer_.capacity() > mostUnwritten) {
            buffer_ = spdlog::memory_buf_t{};
            buffer_.reserve(batchBytes + roomForALine);
        }
    }

    /// Removes the bytes before `begin`, which are written.
    void keepFrom(const Guard& /*guard*/, std::size_t begin) {
        const std::size_t size = buffer_.size() - begin;
        if (size != 0) {
            std::memmove(buffer_.data(), buffer_.data() + begin, size);
        }
        buffer_.resize(size);
        kept_ = size;
    }

    mutable Mutex mutex_;  ///< guards the following
    detail::LogFile file_;
    bool isWatched_ = false;
    bool rotates_ = false;  ///< set by set_rotation(), before the first record
    detail::RotationPlan plan_;
    std::vector<spdlog::filename_t> rotated_;  ///< old files that the hook has not been called for
    std::string complaint_;  ///< the error of the last rotation, for the next write()
    std::unique_ptr<spdlog::formatter> formatter_;
    spdlog::memory_buf_t buffer_;
    std::size_t kept_ = 0;                    ///< bytes that the last write left in buffer_
    std::uint64_t lost_ = 0;                  ///< refused records
    std::uint64_t told_ = 0;                  ///< refused records that a line in the file reports
    spdlog::log_clock::time_point lostTime_;  ///< the time of the last refused record
    std::string lostName_;                    ///< the logger of the last refused record
};

using file_sink_mt = file_sink<std::mutex>;
using file_sink_st = file_sink<spdlog::details::null_mutex>;

/// Makes a logger with a file_sink of its own, as spdlog::basic_logger_mt() does with its file
/// sink. `Factory` is a factory of spdlog's kind, such as async_factory.
template <class Factory = spdlog::synchronous_factory>
std::shared_ptr<spdlog::logger>
file_logger_mt(const std::string& name, const spdlog::filename_t& filename, bool truncate = false,
               const spdlog::file_event_handlers& handlers = {}) {
    return Factory::template create<file_sink_mt>(name, filename, truncate, handlers);
}

/// The same with a sink that one thread at a time uses.
template <class Factory = spdlog::synchronous_factory>
std::shared_ptr<spdlog::logger>
file_logger_st(const std::string& name, const spdlog::filename_t& filename, bool truncate = false,
               const spdlog::file_event_handlers& handlers = {}) {
    return Factory::template create<file_sink_st>(name, filename, truncate, handlers);
}

}  // namespace sluice::log
