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

/// Spdlog's basic_file_sink, for many records at a time (POSIX).
///
///     auto logger = sluice::log::file_logger_mt<sluice::log::async_factory>("core", "core.log");
///
/// Purpose: lines are formatted straight into one buffer and reach the file in one write(2) for
/// each harvest of a back end. It does not go through stdio.
///
/// Use it where basic_file_sink is used. Without a back end it behaves like that one: lines leave
/// the buffer 4096 bytes at a time, when flush() is called, and at the end. set_rotation() makes a
/// new file after so many bytes, or every day.
///
/// Others may rename or remove the file, as logrotate does. reopen() then opens the file of the
/// name again, and watch_file() makes the sink notice by itself. No line is lost by either: a line
/// is in the old file or in the new one.
///
/// file_sink_mt: any thread anything. file_sink_st: one thread at a time. A thread that writes
/// holds up others that log to this sink.
///
/// Patterns: it begins with a pattern_formatter of Sluice's, and set_pattern() gives it another
/// one. Whatever set_formatter() gives it, it uses.
///
/// Errors: a file that cannot be opened throws spdlog_ex from the constructor, after as many tries
/// as spdlog makes. A failed write throws spdlog_ex with the name and the cause from log(),
/// flush() or end_batch(): loggers hand it to their error handlers. What could not be written
/// stays, and the next of these calls tries again, so nothing is lost or doubled when the disk has
/// room again. Beyond 1 MiB of it new records are refused with the same exception, also from
/// log_batch(), and counted: lost_records(). When the file can be written again, a line "N records
/// dropped" stands where they are missing. A formatter that throws costs its own record alone. What
/// the destructor cannot write it gives up, and says so on stderr.
///
/// Memory: a buffer of 64 KiB, larger while a record is, or while the file cannot be written.
///
/// Tests: tests/unit/log/file_sink_test.cpp.
template <class Mutex>
class file_sink final : public batch_sink {
public:
    /// The arguments of spdlog's basic_file_sink: the folder is made if need be, the file is
    /// emptied first if `truncate` says so, and the handlers are called around opening and closing.
    explicit file_sink(const spdlog::filename_t& filename, bool truncate = false,
                       const spdlog::file_event_handlers& handlers = {})
        : file_(filename, truncate, handlers), formatter_(std::make_unique<pattern_formatter>()) {
        buffer_.reserve(batchBytes + roomForALine);
    }

    file_sink(const file_sink&) = delete;
    file_sink& operator=(const file_sink&) = delete;

    ~file_sink() override {
        try {
            write();
        } catch (const std::exception& error) {
            std::fprintf(stderr,
                         "[*** LOG ERROR ***] file_sink: %zu bytes lost, %llu records %s: %s\n",
                         buffer_.size(), static_cast<unsigned long long>(lost_ - told_),
                         "before them dropped", error.what());
        }
    }

    void log(const spdlog::details::log_msg& message) override {
        {
            const std::lock_guard lock(mutex_);
            add(message);
            if (buffer_.size() >= aloneBytes) {
                write();
            }
        }
        tellOfRotations();
    }

    void log_batch(const spdlog::details::log_msg* first, std::size_t count,
                   std::size_t& taken) override {
        const std::lock_guard lock(mutex_);
        for (taken = 0; taken < count; ++taken) {
            if (should_log(first[taken].level)) {
                add(first[taken]);
                if (buffer_.size() >= batchBytes && buffer_.size() < mostUnwritten) {
                    writeIfPossible();
                }
            }
        }
    }

    void end_batch() override { flush(); }

    /// Hands to the system what is in the buffer. That it reaches the disk is the system's affair.
    void flush() override {
        {
            const std::lock_guard lock(mutex_);
            write();
        }
        tellOfRotations();
    }

    /// Opens the file of this name again, after others have renamed or removed it. What is in the
    /// buffer goes to the old file.
    void reopen() {
        const std::lock_guard lock(mutex_);
        write();
        file_.reopen(false);
    }

    /// Before each write the sink looks whether the name still belongs to its file, and opens the
    /// file of the name when it does not. After each write it looks whether the file was removed
    /// meanwhile, and writes the same again. That takes two system calls a write.
    void watch_file(bool isWatched = true) {
        const std::lock_guard lock(mutex_);
        isWatched_ = isWatched;
    }

    /// From now on the sink makes new files by itself. To be called before anybody logs.
    void set_rotation(file_rotation rotation) {
        const std::lock_guard lock(mutex_);
        plan_ = detail::RotationPlan(std::move(rotation), file_.lastWritten());
        rotates_ = true;
    }

    void set_pattern(const std::string& pattern) override {
        set_formatter(std::make_unique<pattern_formatter>(pattern));
    }

    void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
        const std::lock_guard lock(mutex_);
        formatter_ = std::move(formatter);
    }

    const spdlog::filename_t& filename() const { return file_.filename(); }

    /// Empties the file. What is in the buffer goes with it.
    void truncate() {
        const std::lock_guard lock(mutex_);
        buffer_.clear();
        file_.reopen(true);
    }

    /// Bytes that wait in the buffer.
    std::size_t unwritten_bytes() const {
        const std::lock_guard lock(mutex_);
        return buffer_.size();
    }

    /// Records that were refused because the file could not be written for too long.
    std::uint64_t lost_records() const {
        const std::lock_guard lock(mutex_);
        return lost_;
    }

private:
    // Nobody says that a batch is over when there is no back end: then as stdio has it.
    static constexpr std::size_t aloneBytes = 4096;
    static constexpr std::size_t batchBytes = std::size_t{64} * 1024;
    static constexpr std::size_t roomForALine = 4096;
    static constexpr std::size_t mostUnwritten = std::size_t{1024} * 1024;

    /// Formats one record. It is lost when this throws.
    void add(const spdlog::details::log_msg& message) {
        if (buffer_.size() >= mostUnwritten) {
            try {
                write();
            } catch (...) {
                ++lost_;
                lostTime_ = message.time;
                lostName_.assign(message.logger_name.data(), message.logger_name.size());
                throw;
            }
        }
        if (rotates_ && plan_.isDue(file_.size() + buffer_.size(), message.time)) {
            rotate(message.time, buffer_.size());
        }
        const std::size_t size = buffer_.size();
        try {
            formatter_->format(message, buffer_);
        } catch (...) {
            buffer_.resize(size);
            throw;
        }
        if (rotates_ && plan_.isTooLarge(file_.size() + size, file_.size() + buffer_.size())) {
            rotate(message.time, size);
        }
    }

    /// The first `count` bytes of the buffer go to the old file, and the rest to a new one. When
    /// something fails, all goes to the old file, and the next write() tells why.
    void rotate(spdlog::log_clock::time_point time, std::size_t count) {
        try {
            writeBuffer(count);
            rotated_.push_back(file_.rotate(time));
            plan_.done(time);
        } catch (const spdlog::spdlog_ex& error) {
            plan_.failed(file_.size() + buffer_.size(), time);
            complaint_ = error.what();
        }
    }

    /// Calls the hook for the files that were rotated since the last call, under no lock.
    void tellOfRotations() {
        if (__builtin_expect(!rotates_, 1)) {
            return;
        }
        std::vector<spdlog::filename_t> names;
        detail::RotationPlan plan;
        {
            const std::lock_guard lock(mutex_);
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

    /// The records stay when it fails, and end_batch() says so.
    void writeIfPossible() {
        try {
            write();
        } catch (const spdlog::spdlog_ex&) {
            return;
        }
    }

    void write() {
        writeBuffer(buffer_.size());
        if (__builtin_expect(lost_ != told_, 0)) {
            const std::string text = detail::droppedText(lost_ - told_);
            formatter_->format({lostTime_, {}, lostName_, spdlog::level::warn, text}, buffer_);
            told_ = lost_;
            writeBuffer(buffer_.size());
        }
        if (__builtin_expect(!complaint_.empty(), 0)) {
            throw spdlog::spdlog_ex(std::exchange(complaint_, {}));
        }
    }

    /// Writes the first `count` bytes, and keeps the others.
    void writeBuffer(std::size_t count) {
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
            keepFrom(done);
            throw;
        }
        keepFrom(count);
        if (buffer_.size() == 0 && buffer_.capacity() > mostUnwritten) {
            buffer_ = spdlog::memory_buf_t{};
            buffer_.reserve(batchBytes + roomForALine);
        }
    }

    /// What comes before `begin` was written.
    void keepFrom(std::size_t begin) {
        const std::size_t size = buffer_.size() - begin;
        if (size != 0) {
            std::memmove(buffer_.data(), buffer_.data() + begin, size);
        }
        buffer_.resize(size);
    }

    mutable Mutex mutex_;
    detail::LogFile file_;
    bool isWatched_ = false;
    // What set_rotation() has set; rotates_ is set before anybody logs.
    bool rotates_ = false;
    detail::RotationPlan plan_;
    std::vector<spdlog::filename_t> rotated_;  // old files that the hook has not been told of
    std::string complaint_;                    // why the last rotation failed
    std::unique_ptr<spdlog::formatter> formatter_;
    spdlog::memory_buf_t buffer_;
    std::uint64_t lost_ = 0;                  // records
    std::uint64_t told_ = 0;                  // of them, in the file
    spdlog::log_clock::time_point lostTime_;  // of the last one that was lost
    std::string lostName_;                    // and its logger's
};

using file_sink_mt = file_sink<std::mutex>;
using file_sink_st = file_sink<spdlog::details::null_mutex>;

/// As spdlog::basic_logger_mt(): a logger with a file of its own, made by a factory of spdlog's
/// kind.
template <class Factory = spdlog::synchronous_factory>
std::shared_ptr<spdlog::logger>
file_logger_mt(const std::string& name, const spdlog::filename_t& filename, bool truncate = false,
               const spdlog::file_event_handlers& handlers = {}) {
    return Factory::template create<file_sink_mt>(name, filename, truncate, handlers);
}

/// The same for one thread.
template <class Factory = spdlog::synchronous_factory>
std::shared_ptr<spdlog::logger>
file_logger_st(const std::string& name, const spdlog::filename_t& filename, bool truncate = false,
               const spdlog::file_event_handlers& handlers = {}) {
    return Factory::template create<file_sink_st>(name, filename, truncate, handlers);
}

}  // namespace sluice::log
