#pragma once

#include <sluice/log/batch_sink.hpp>
#include <sluice/log/detail/backend/logger_state.hpp>
#include <sluice/log/pattern_formatter.hpp>

#include <spdlog/common.h>
#include <spdlog/details/file_helper.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/details/os.h>
#include <spdlog/details/synchronous_factory.h>
#include <spdlog/formatter.h>
#include <spdlog/logger.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice::log {

/// When a file_sink begins a new file. The old file is renamed to its date and time, as in
/// core.20261123-180000.log.
///
///     sluice::log::file_rotation rotation;
///     rotation.max_bytes = 100 * 1024 * 1024;
///     rotation.daily = true;  // and at midnight
///     sink->set_rotation(rotation);
struct file_rotation {
    /// The most bytes of one file; 0: no limit. A longer line has a file of its own.
    std::size_t max_bytes = 0;

    /// True: a new file once a day, at this local time. The times of the records decide, so the
    /// first record of the new day is the first line of the new file.
    bool daily = false;
    int hour = 0;    ///< 0 to 23
    int minute = 0;  ///< 0 to 59

    /// Called with the name of the old file, on the writing thread and without a lock, so it may
    /// take long, for example to compress files. The logger's error handler receives its
    /// exceptions.
    std::function<void(const spdlog::filename_t& rotated)> after_rotation;
};

namespace detail {

/// The file of a file_sink (POSIX): opened by spdlog, with its retries and handlers, and written
/// without stdio. Errors throw spdlog_ex. A write after a failed reopen() tries to open it again.
class LogFile {
public:
    using Time = spdlog::log_clock::time_point;

    LogFile(const spdlog::filename_t& filename, bool truncate, spdlog::file_event_handlers handlers)
        : file_(withDescriptor(std::move(handlers))) {
        file_.open(filename, truncate);
    }
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    const spdlog::filename_t& filename() const { return file_.filename(); }

    std::size_t size() const noexcept { return size_; }
    /// The last write before the file was opened; for an empty file, the opening.
    Time lastWritten() const noexcept { return lastWritten_; }

    /// Writes the bytes from `done` to `size`. Moves `done` forward, also if it throws.
    void write(const char* data, std::size_t size, std::size_t& done) {
        if (descriptor_ == closed) {
            reopen(false);
        }
        while (done < size) {
            const ::ssize_t written = ::write(descriptor_, data + done, size - done);
            if (written > 0) {
                done += static_cast<std::size_t>(written);
                size_ += static_cast<std::size_t>(written);
            } else if (written == 0 || errno != EINTR) {
                throw spdlog::spdlog_ex("Failed writing to file " + filename(), errno);
            }
        }
    }

    void reopen(bool truncate) {
        descriptor_ = closed;
        // A copy, because open() assigns to filename().
        const spdlog::filename_t name = filename();
        file_.open(name, truncate);
    }

    /// Returns true if the name now belongs to another file, or to none.
    bool isMoved() const noexcept {
        struct ::stat named {};
        struct ::stat own {};
        return descriptor_ == closed || ::stat(filename().c_str(), &named) != 0 ||
               ::fstat(descriptor_, &own) != 0 || named.st_ino != own.st_ino ||
               named.st_dev != own.st_dev;
    }

    /// Returns true if the open file was removed, so that its text is lost.
    bool isRemoved() const noexcept {
        struct ::stat own {};
        return descriptor_ != closed && ::fstat(descriptor_, &own) == 0 && own.st_nlink == 0;
    }

    /// Renames the file and returns its new name. The next write opens a new file.
    spdlog::filename_t rotate(Time time) {
        spdlog::filename_t name = freeName(time);
        if (std::rename(filename().c_str(), name.c_str()) != 0) {
            throw spdlog::spdlog_ex("Failed renaming " + filename() + " to " + name, errno);
        }
        descriptor_ = closed;
        size_ = 0;
        return name;
    }

private:
    static constexpr int closed = -1;

    // spdlog shows its open file only to handlers, so a handler takes the file descriptor.
    spdlog::file_event_handlers withDescriptor(spdlog::file_event_handlers handlers) {
        handlers.after_open = [this, afterOpen = std::move(handlers.after_open)](
                                  const spdlog::filename_t& name, std::FILE* file) {
            if (afterOpen) {
                afterOpen(name, file);
            }
            // A handler may have written a header.
            std::fflush(file);
            descriptor_ = ::fileno(file);
            noteSize();
        };
        return handlers;
    }

    void noteSize() noexcept {
        struct ::stat own {};
        const bool isKnown = ::fstat(descriptor_, &own) == 0;
        size_ = isKnown ? static_cast<std::size_t>(own.st_size) : 0;
        lastWritten_ =
            size_ == 0 ? spdlog::log_clock::now() : spdlog::log_clock::from_time_t(own.st_mtime);
    }

    /// Returns the name with date and time, and with a number if such a file exists.
    spdlog::filename_t freeName(Time time) const {
        const std::tm local = spdlog::details::os::localtime(spdlog::log_clock::to_time_t(time));
        char text[32];
        std::strftime(text, sizeof text, ".%Y%m%d-%H%M%S", &local);
        spdlog::filename_t stem;
        spdlog::filename_t extension;
        std::tie(stem, extension) = spdlog::details::file_helper::split_by_extension(filename());
        stem += text;
        spdlog::filename_t name = stem + extension;
        for (int number = 2; spdlog::details::os::path_exists(name); ++number) {
            name = stem;
            name.append("-").append(std::to_string(number)).append(extension);
        }
        return name;
    }

    int descriptor_ = closed;
    std::size_t size_ = 0;
    Time lastWritten_{};
    spdlog::details::file_helper file_;
};

/// Computes when a file_sink begins a new file.
class RotationPlan {
public:
    using Time = spdlog::log_clock::time_point;

    RotationPlan() = default;
    RotationPlan(file_rotation rotation, Time lastWritten) : rotation_(std::move(rotation)) {
        if (rotation_.daily) {
            nextDay_ = dayAfter(lastWritten);
        }
    }

    /// Returns true if a record of this time belongs to the file after one of `bytes` bytes.
    bool isDue(std::size_t bytes, Time time) const noexcept {
        return (rotation_.max_bytes != 0 && bytes >= rotation_.max_bytes + failedAt_) ||
               time >= nextDay_;
    }

    /// Returns true if a line that grows the file from `before` to `after` is too long for it.
    bool isTooLarge(std::size_t before, std::size_t after) const noexcept {
        return rotation_.max_bytes != 0 && before > failedAt_ &&
               after > rotation_.max_bytes + failedAt_;
    }

    /// Notes an attempt. After a failure `failedAt` is the file's size, otherwise 0. The next
    /// attempt follows after max_bytes more, or on the next day.
    void tried(Time time, std::size_t failedAt) {
        failedAt_ = failedAt;
        if (time >= nextDay_) {
            nextDay_ = dayAfter(time);
        }
    }

    void callHook(const spdlog::filename_t& rotated) const {
        if (rotation_.after_rotation) {
            rotation_.after_rotation(rotated);
        }
    }

private:
    Time dayAfter(Time time) const {
        std::tm day = spdlog::details::os::localtime(spdlog::log_clock::to_time_t(time));
        day.tm_hour = rotation_.hour;
        day.tm_min = rotation_.minute;
        day.tm_sec = 0;
        day.tm_isdst = -1;
        Time next = spdlog::log_clock::from_time_t(std::mktime(&day));
        if (next <= time) {
            ++day.tm_mday;
            day.tm_hour = rotation_.hour;
            day.tm_isdst = -1;
            next = spdlog::log_clock::from_time_t(std::mktime(&day));
        }
        return next;
    }

    file_rotation rotation_;
    Time nextDay_ = Time::max();
    std::size_t failedAt_ = 0;  ///< bytes of the file at the last failed attempt; 0: none failed
};

}  // namespace detail

/// Writes lines to a file like spdlog's basic_file_sink, many records at a time (POSIX).
///
///     auto io = sluice::log::file_logger_mt<sluice::log::async_factory>("io", "io.log");
///
///     // With several loggers, or with rotation:
///     auto sink = std::make_shared<sluice::log::file_sink_mt>("core.log");
///     auto core = std::make_shared<sluice::log::async_logger>("core", sink,
///                                                             sluice::log::default_backend());
///
/// A back end calls write(2) after a batch, at most once in `backend_options::write_interval`.
/// Without one, the sink writes after 4096 bytes, in flush(), and in its destructor.
///
/// Thread safety: any thread may call any member of a file_sink_mt; a thread that writes blocks the
/// others. One thread at a time may call the members of a file_sink_st.
///
/// Errors: if the file cannot be opened, the constructor throws spdlog_ex. If a write fails, log(),
/// flush() or end_batch() throws spdlog_ex, and the next of these calls tries again: no line is
/// lost or doubled. If more than 1 MiB is unwritten, the sink refuses new records with this
/// exception, and later writes a line "N records dropped" in their place. The destructor prints on
/// stderr how much it could not write.
///
/// Performance: a buffer of 68 KiB, larger for a larger record and while writes fail.
template <class Mutex>
class file_sink final : public batch_sink {
public:
    /// Opens the file, and creates its folder. The arguments are those of spdlog's basic_file_sink.
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
                         buffer_.size(), static_cast<unsigned long long>(lost_ - reported_),
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
        callHooks();
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

    /// Writes the buffer to the file, without fsync().
    void flush() override {
        {
            const Guard guard(mutex_);
            write(guard);
        }
        callHooks();
    }

    /// Writes the buffer to the old file, then opens the file of this name again. Use it after
    /// another program, such as logrotate, has renamed or removed the file.
    void reopen() {
        const Guard guard(mutex_);
        write(guard);
        file_.reopen(false);
    }

    /// Reopens the file when it was renamed or removed. Costs up to three system calls for each
    /// write: afterwards the text of a removed file is written again.
    void watch_file(bool isWatched = true) {
        const Guard guard(mutex_);
        isWatched_ = isWatched;
    }

    /// Call it before the first record.
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

    std::size_t unwritten_bytes() const {
        const Guard guard(mutex_);
        return buffer_.size();
    }

    /// The number of records refused because more than 1 MiB was unwritten.
    std::uint64_t lost_records() const {
        const Guard guard(mutex_);
        return lost_;
    }

private:
    using Guard = std::lock_guard<Mutex>;

    static constexpr std::size_t aloneBytes = 4096;  ///< log() writes this many, like stdio
    static constexpr std::size_t batchBytes =
        std::size_t{64} * 1024;  ///< log_batch() writes this many
    static constexpr std::size_t roomForALine = 4096;
    static constexpr std::size_t mostUnwritten =
        std::size_t{1024} * 1024;  ///< then records are refused

    /// Formats a record into the buffer. The record is lost if this throws.
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

    /// Writes the first `count` bytes to the old file, and the rest to a new one. If a step fails,
    /// the rest stays in the old file, and the next write() throws the error.
    void rotate(const Guard& guard, spdlog::log_clock::time_point time, std::size_t count) {
        try {
            writeBuffer(guard, count);
            rotated_.push_back(file_.rotate(time));
            plan_.tried(time, 0);
        } catch (const spdlog::spdlog_ex& error) {
            plan_.tried(time, file_.size() + buffer_.size());
            complaint_ = error.what();
        }
    }

    /// Calls the hook for newly rotated files, without a lock.
    void callHooks() {
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
            plan.callHook(name);
        }
    }

    /// Writes the buffer. After an error the records stay in it, and end_batch() throws.
    void writeIfPossible(const Guard& guard) {
        try {
            write(guard);
        } catch (const spdlog::spdlog_ex&) {
            return;
        }
    }

    void write(const Guard& guard) {
        writeBuffer(guard, buffer_.size());
        if (__builtin_expect(lost_ != reported_, 0)) {
            const std::string text = detail::droppedText(lost_ - reported_);
            formatter_->format({lostTime_, {}, lostName_, spdlog::level::warn, text}, buffer_);
            reported_ = lost_;
            writeBuffer(guard, buffer_.size());
        }
        if (__builtin_expect(!complaint_.empty(), 0)) {
            throw spdlog::spdlog_ex(std::exchange(complaint_, {}));
        }
    }

    /// Writes the first `count` bytes and keeps the rest.
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

    /// Removes the bytes before `begin`.
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
    bool rotates_ = false;
    detail::RotationPlan plan_;
    std::vector<spdlog::filename_t> rotated_;  ///< old files whose hook is due
    std::string complaint_;  ///< the error of the last rotation, for the next write()
    std::unique_ptr<spdlog::formatter> formatter_;
    spdlog::memory_buf_t buffer_;
    std::size_t kept_ = 0;                    ///< bytes that the last write left in buffer_
    std::uint64_t lost_ = 0;                  ///< refused records
    std::uint64_t reported_ = 0;              ///< refused records in drop notices
    spdlog::log_clock::time_point lostTime_;  ///< of the last refused record, like lostName_
    std::string lostName_;
};

using file_sink_mt = file_sink<std::mutex>;
using file_sink_st = file_sink<spdlog::details::null_mutex>;

/// Creates a logger with a file_sink, like spdlog::basic_logger_mt(). `Factory`: a spdlog factory,
/// such as async_factory.
template <class Factory = spdlog::synchronous_factory>
std::shared_ptr<spdlog::logger>
file_logger_mt(const std::string& name, const spdlog::filename_t& filename, bool truncate = false,
               const spdlog::file_event_handlers& handlers = {}) {
    return Factory::template create<file_sink_mt>(name, filename, truncate, handlers);
}

/// Like file_logger_mt(), for one thread at a time.
template <class Factory = spdlog::synchronous_factory>
std::shared_ptr<spdlog::logger>
file_logger_st(const std::string& name, const spdlog::filename_t& filename, bool truncate = false,
               const spdlog::file_event_handlers& handlers = {}) {
    return Factory::template create<file_sink_st>(name, filename, truncate, handlers);
}

}  // namespace sluice::log
