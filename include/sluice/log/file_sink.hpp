#pragma once

#include <sluice/log/batch_sink.hpp>
#include <sluice/log/detail/backend/backend_registry.hpp>
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
#if defined(_WIN32)
#include <spdlog/details/windows_include.h>

#include <fcntl.h>
#include <io.h>
#else
#include <dirent.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice::log {

/// When a file_sink begins a new file, and how many old files it keeps. A rotated file's name has
/// the local time and a number, as in core.20261123-180000-0000.log, and is never reused.
///
///     sluice::log::file_rotation rotation;
///     rotation.max_bytes = 100 * 1024 * 1024;
///     rotation.daily = true;    // and at midnight
///     rotation.max_files = 10;  // beside the current file
///     sink->set_rotation(rotation);
struct file_rotation {
    /// The maximum size of a file in bytes (0: no limit). A line over max_bytes has its own file.
    std::size_t max_bytes = 0;

    /// If true, a new file begins once a day at the local time `hour`:`minute`. A record's own time
    /// selects the file, so the first record of a new day begins the new file.
    bool daily = false;
    int hour = 0;    ///< 0 to 23
    int minute = 0;  ///< 0 to 59

    /// Limits for rotated files, including files of earlier runs; 0 means no limit. The oldest
    /// files beyond a limit are deleted in set_rotation() and after each after_rotation call. A
    /// file's age is the time since its last write; a future write time makes a file the oldest.
    /// Links, folders and renamed files, such as compressed ones, are neither counted nor deleted.
    std::size_t max_files = 0;
    std::chrono::seconds max_age{0};
    std::uintmax_t max_total_bytes = 0;  ///< sum of rotated files' sizes; at least max_bytes

    /// The clock of `daily`. If backend_options::clock is set, use the same clock here. The sink
    /// calls `clock` under the sink's lock. File names and ages use the system clock, not `clock`.
    std::function<spdlog::log_clock::time_point()> clock = spdlog::log_clock::now;

    /// After a rotation, the sink calls this hook with the old file's new name, without a lock. A
    /// back end writes nothing until after_rotation returns, so compress files on a separate
    /// thread. Exceptions of after_rotation go to the logger's error handler.
    std::function<void(const spdlog::filename_t& rotated)> after_rotation;
};

namespace detail {

inline void check(const file_rotation& rotation) {
    const auto require = [](bool isGood, const char* setting, auto value, const char* limit) {
        if (!isGood) {
            throw spdlog::spdlog_ex(std::string("sluice::log::file_rotation: ") + setting + ": " +
                                    std::to_string(value) + ", limit " + limit);
        }
    };
    const auto age = rotation.max_age.count();
    const auto bytes = rotation.max_total_bytes;
    require(rotation.hour >= 0 && rotation.hour <= 23, "hour", rotation.hour, "0 to 23");
    require(rotation.minute >= 0 && rotation.minute <= 59, "minute", rotation.minute, "0 to 59");
    require(age >= 0, "max_age", age, "0 or more");
    require(bytes == 0 || bytes >= rotation.max_bytes, "max_total_bytes", bytes,
            "max_bytes or more");
    require(rotation.max_bytes != 0 || rotation.daily ||
                (rotation.max_files == 0 && age == 0 && bytes == 0),
            "max_bytes", rotation.max_bytes, "1 or more for limits of rotated files");
    if (!rotation.clock) {
        throw spdlog::spdlog_ex("sluice::log::file_rotation: clock: null, limit a function");
    }
}

#if defined(_WIN32)
/// Opens a file that other programs may rename or delete while it is open.
inline HANDLE openShared(const std::string& name, DWORD access, DWORD disposition) {
    return ::CreateFileA(name.c_str(), access, 7 /* all sharing */, nullptr, disposition,
                         FILE_ATTRIBUTE_NORMAL, nullptr);
}
using Status = struct ::_stat64;  // has 64-bit file sizes, unlike plain stat()
inline auto* const fstat = &::_fstat64;
inline auto* const fileno = &::_fileno;
inline auto* const ftruncate = &::_chsize_s;
inline int writeSome(int file, const char* data, std::size_t size) {
    return ::_write(file, data, static_cast<unsigned>(size));
}
#else
using Status = struct ::stat;
inline auto* const writeSome = &::write;
#endif

/// The file of a file_sink, written without stdio. Errors throw spdlog_ex.
class LogFile {
public:
    using Time = spdlog::log_clock::time_point;

    LogFile(spdlog::filename_t name, bool truncate, spdlog::file_event_handlers handlers)
        : name_(std::move(name)), handlers_(std::move(handlers)) {
        open(truncate);
    }
    ~LogFile() { close(); }

    const spdlog::filename_t& name() const { return name_; }

    std::size_t size() const noexcept { return size_; }
    Time lastWritten() const noexcept { return spdlog::log_clock::from_time_t(status().st_mtime); }

    /// Closes the file, and opens or creates a file of the same name. Does not retry.
    void open(bool truncate) {
        close();
        if (handlers_.before_open) {
            handlers_.before_open(name_);
        }
        spdlog::details::os::create_dir(spdlog::details::os::dir_name(name_));
#if defined(_WIN32)
        errno = EACCES;
        const HANDLE file = openShared(name_, GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS);
        file_ = file == INVALID_HANDLE_VALUE
                    ? nullptr
                    : ::_fdopen(::_open_osfhandle(reinterpret_cast<std::intptr_t>(file), _O_APPEND),
                                "ab");
        if (file_ == nullptr) {
#else
        if (spdlog::details::os::fopen_s(&file_, name_, SPDLOG_FILENAME_T("ab"))) {
            file_ = nullptr;
#endif
            throw spdlog::spdlog_ex("Failed opening file " + name_ + " for writing", errno);
        }
        if (truncate && ftruncate(fileno(file_), 0) != 0 && errno != EINVAL) {  // EINVAL: a device
            throw spdlog::spdlog_ex("Failed truncating file " + name_, errno);
        }
        if (handlers_.after_open) {
            handlers_.after_open(name_, file_);
            std::fflush(file_);  // after_open may have written a header
        }
        size_ = static_cast<std::size_t>(status().st_size);
    }

    /// Writes `data` from index `done` to `size`, and advances `done` even if write() throws.
    void write(const char* data, std::size_t size, std::size_t& done) {
        if (file_ == nullptr) {
            open(false);
        }
        while (done < size) {
            const auto written = writeSome(fileno(file_), data + done, size - done);
            if (written > 0) {
                done += static_cast<std::size_t>(written);
                size_ += static_cast<std::size_t>(written);
            } else if (written == 0 || errno != EINTR) {
                throw spdlog::spdlog_ex("Failed writing to file " + name_, errno);
            }
        }
    }

    /// Returns true if the file's name now belongs to another file, or to no file.
    bool isMoved() const noexcept {
#if defined(_WIN32)
        const HANDLE other = openShared(name_, FILE_READ_ATTRIBUTES, OPEN_EXISTING);
        BY_HANDLE_FILE_INFORMATION named{};
        const bool isThere = ::GetFileInformationByHandle(other, &named) != 0;
        static_cast<void>(::CloseHandle(other));
        return !isThere || named.nFileIndexLow != identity().nFileIndexLow ||
               named.nFileIndexHigh != identity().nFileIndexHigh;
#else
        Status named{};
        const Status own = status();
        return ::stat(name_.c_str(), &named) != 0 || named.st_ino != own.st_ino ||
               named.st_dev != own.st_dev;
#endif
    }

    /// Returns true if the open file was deleted, so that text written to the file is lost.
    bool isRemoved() const noexcept { return status().st_nlink == 0; }

    /// Renames the file and returns the new name. If the file was deleted, closes it and throws;
    /// the next write() opens a new file.
    spdlog::filename_t rename() {
        spdlog::filename_t rotated = nextName();
        if (std::rename(name_.c_str(), rotated.c_str()) != 0) {
            const int reason = errno;
            if (isRemoved()) {
                close();
            }
            throw spdlog::spdlog_ex("Failed renaming " + name_ + " to " + rotated, reason);
        }
        return rotated;
    }

    /// Closes the file, even if a file handler throws. The next write() opens or creates the file.
    void close() {
        if (file_ == nullptr) {
            return;
        }
        size_ = 0;
        {
            const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
                std::exchange(file_, nullptr), &std::fclose);
            if (handlers_.before_close) {
                handlers_.before_close(name_, file.get());
            }
        }
        if (handlers_.after_close) {
            handlers_.after_close(name_);
        }
    }

    /// Deletes the oldest rotated files beyond `limits`, unless isKept(name). Returns the errors.
    template <class IsKept>
    std::string deleteOld(const file_rotation& limits, IsKept isKept) const {
        std::string errors;
        const std::time_t now = spdlog::log_clock::to_time_t(spdlog::log_clock::now());
        std::vector<Rotated> files = findRotated(now, errors);
        std::sort(files.rbegin(), files.rend());
        std::size_t count = 0;
        std::uintmax_t bytes = 0;
        for (const auto& [isPast, written, length, name, size] : files) {  // the newest first
            ++count;
            bytes += size;
            const bool isOver =
                (limits.max_files != 0 && count > limits.max_files) ||
                (limits.max_total_bytes != 0 && bytes > limits.max_total_bytes) ||
                (limits.max_age.count() != 0 && now - written > limits.max_age.count());
            if (isOver && !isKept(name) && std::remove(name.c_str()) != 0 && errno != ENOENT) {
                errors += (errors.empty() ? "" : "; ");
                errors += spdlog::spdlog_ex("Failed deleting file " + name, errno).what();
            }
        }
        return errors;
    }

private:
    /// A rotated file, as a sort key: isPast (false if last written in the future), time of the
    /// last write, length of the name, name, size in bytes.
    using Rotated = std::tuple<bool, std::time_t, std::size_t, spdlog::filename_t, std::uintmax_t>;

    std::vector<Rotated> findRotated(std::time_t now, std::string& errors) const {
        const auto [stem, extension] = spdlog::details::file_helper::split_by_extension(name_);
        const std::size_t base = stem.find_last_of(SPDLOG_FOLDER_SEPS) + 1;  // 0: no folder
        const spdlog::filename_t folder = stem.substr(0, base);
        const std::string_view front = std::string_view(stem).substr(base);
        const auto isRotated = [&front, &end = extension](std::string_view name) {
            const std::size_t around = front.size() + end.size();
            return name.size() > around && name.substr(0, front.size()) == front &&
                   name.substr(name.size() - end.size()) == end &&
                   isTime(name.substr(front.size(), name.size() - around));
        };
        std::vector<Rotated> found;
        const auto add = [&](std::string_view name, std::time_t written, auto size) {
            found.emplace_back(written <= now, written, name.size(), folder + std::string(name),
                               size);
        };
#if defined(_WIN32)
        struct ::__finddata64_t entry {};
        const std::intptr_t search = ::_findfirst64((folder + "*").c_str(), &entry);
        for (bool isThere = search != -1; isThere; isThere = ::_findnext64(search, &entry) == 0) {
            if (isRotated(entry.name) && (entry.attrib & (_A_SUBDIR | 0x400 /* link */)) == 0) {
                add(entry.name, entry.time_write, entry.size);
            }
        }
        const bool isRead = search != -1 && ::_findclose(search) == 0;
#else
        const std::unique_ptr<::DIR, int (*)(::DIR*)> entries(
            ::opendir(base == 0 ? "." : folder.c_str()), &::closedir);
        const bool isRead = entries != nullptr;
        // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread reads these entries
        while (const ::dirent* const entry = entries ? ::readdir(entries.get()) : nullptr) {
            Status status{};
            if (isRotated(entry->d_name) &&
                ::lstat((folder + entry->d_name).c_str(), &status) == 0 &&
                S_ISREG(status.st_mode)) {
                add(entry->d_name, status.st_mtime, status.st_size);
            }
        }
#endif
        if (!isRead) {
            errors = spdlog::spdlog_ex("Failed reading the folder of " + name_, errno).what();
        }
        return found;
    }

    /// Returns true if nextName() could have added `text` to a name, as in ".20261123-180000-0000".
    static bool isTime(std::string_view text) {
        const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
        return text.size() >= 21 && text[0] == '.' && text[9] == '-' && text[16] == '-' &&
               std::count_if(text.begin() + 1, text.end(), isDigit) + 3 ==
                   static_cast<std::ptrdiff_t>(text.size());
    }

    /// The status of the open file; all members are 0 for a closed file.
    Status status() const noexcept {
        Status own{};
        if (file_ != nullptr) {
            static_cast<void>(fstat(fileno(file_), &own));
        }
        return own;
    }
#if defined(_WIN32)
    BY_HANDLE_FILE_INFORMATION identity() const noexcept {
        BY_HANDLE_FILE_INFORMATION own{};
        static_cast<void>(file_ != nullptr &&
                          ::GetFileInformationByHandle(
                              reinterpret_cast<HANDLE>(::_get_osfhandle(::_fileno(file_))), &own));
        return own;
    }
#endif

    /// Returns a name with a new number. With the time alone, the name of a moved or deleted file
    /// could be used again in the same second, or after the local time was set back.
    spdlog::filename_t nextName() {
        const std::tm local = spdlog::details::os::localtime();
        char second[32];
        std::strftime(second, sizeof second, ".%Y%m%d-%H%M%S-", &local);
        const auto [stem, extension] = spdlog::details::file_helper::split_by_extension(name_);
        spdlog::filename_t name;
        do {
            const std::string digits = std::to_string(number_++);
            name = stem + second + std::string(4 - std::min<std::size_t>(digits.size(), 4), '0') +
                   digits + extension;
        } while (spdlog::details::os::path_exists(name));
        return name;
    }

    const spdlog::filename_t name_;
    const spdlog::file_event_handlers handlers_;
    std::FILE* file_ = nullptr;  ///< null: closed
    std::size_t size_ = 0;
    unsigned number_ = 0;  ///< number of the next rotated file
};

/// Returns the next local time `hour`:`minute` after `time`.
inline LogFile::Time nextDailyTime(LogFile::Time time, int hour, int minute) {
    for (int days = 0;; ++days) {
        std::tm day = spdlog::details::os::localtime(spdlog::log_clock::to_time_t(time));
        day.tm_mday += days;
        day.tm_hour = hour;
        day.tm_min = minute;
        day.tm_sec = 0;
        day.tm_isdst = -1;
        const LogFile::Time next = spdlog::log_clock::from_time_t(std::mktime(&day));
        if (next > time) {
            return next;
        }
    }
}

}  // namespace detail

/// Writes lines to a file like spdlog's basic_file_sink, but many records at a time.
///
///     auto io = sluice::log::file_logger_mt<sluice::log::async_factory>("io", "io.log");
///
///     // With several loggers, or with rotation:
///     auto sink = std::make_shared<sluice::log::file_sink_mt>("core.log");
///     auto core = std::make_shared<sluice::log::async_logger>("core", sink,
///                                                             sluice::log::default_backend());
///
/// A back end makes the sink write after a batch, at most once per backend_options::write_interval.
/// Without a back end, the sink writes after 4096 bytes, in flush(), and in its destructor.
///
/// Thread safety: any thread may call any member of a file_sink_mt; a thread that writes blocks
/// other callers. A file_sink_st is for one thread at a time.
///
/// Errors: the constructor throws spdlog_ex if the file cannot be opened. If the file cannot be
/// written or reopened, log(), flush() or end_batch() throws spdlog_ex. After an error, a later
/// call continues without losing, doubling or tearing a line. While over 1 MiB is unwritten, the
/// sink refuses records with spdlog_ex and retries every 100 ms. A later line "N records dropped"
/// replaces the refused records. The destructor reports unwritten data on stderr.
///
/// Performance: the buffer takes 68 KiB, and grows for larger records and while writes fail.
template <class Mutex>
class file_sink final : public batch_sink {
public:
    /// Opens the file and creates its folder. Takes the arguments of spdlog's basic_file_sink.
    explicit file_sink(const spdlog::filename_t& filename, bool truncate = false,
                       const spdlog::file_event_handlers& handlers = {})
        : file_(filename, truncate, handlers), formatter_(std::make_unique<pattern_formatter>()) {
        buffer_.reserve(batchBytes + roomForALine);
    }

    ~file_sink() override {
        try {
            write(Guard(mutex_));
        } catch (...) {
            detail::reportCaught([this](const char* what) {
                std::fprintf(
                    stderr, "[*** LOG ERROR ***] file_sink: %zu bytes lost, %llu records %s: %s\n",
                    buffer_.size() - begun_, static_cast<unsigned long long>(lost_ - reported_),
                    "before them dropped", what);
            });
        }
    }

    void log(const spdlog::details::log_msg& message) override {
        {
            const Guard guard(mutex_);
            add(guard, message);
            if (hasGrownBy(aloneBytes)) {
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
                if (hasGrownBy(batchBytes)) {
                    tryWrite(guard);
                }
            }
        }
    }

    void end_batch() override { flush(); }
    bool has_much() const override {
        const Guard guard(mutex_);
        return hasGrownBy(aloneBytes);
    }

    /// Writes the buffer to the file, without fsync().
    void flush() override {
        {
            const Guard guard(mutex_);
            write(guard);
        }
        callHooks();
    }

    /// Writes the buffer to the open file, and then opens a file of the same name. Use reopen()
    /// after another program, such as logrotate, has renamed or removed the file. If writing to the
    /// old file fails, the buffered lines go to the new file.
    void reopen() {
        const Guard guard(mutex_);
        tryWrite(guard);
        begun_ = file_.isMoved() ? 0 : begun_;  // a new file needs a partly written line in full
        file_.open(false);
        write(guard);
    }

    /// Makes each write check, with up to three system calls, whether the file was renamed or
    /// removed. If so, the sink opens a new file, and repeats a write that went to a removed file.
    void watch_file(bool isWatched = true) {
        const Guard guard(mutex_);
        isWatched_ = isWatched;
    }

    /// Call set_rotation() before the first record. Throws spdlog_ex if a setting is out of range.
    void set_rotation(file_rotation rotation) {
        detail::check(rotation);
        {
            const Guard guard(mutex_);
            rotation_ = std::move(rotation);
            rotates_ = true;
            setNextDay(file_.size() == 0 ? rotation_.clock() : file_.lastWritten());
        }
        deleteOld();
    }

    void set_pattern(const std::string& pattern) override {
        set_formatter(std::make_unique<pattern_formatter>(pattern));
    }

    /// The new formatter takes effect after the records that a back end has queued.
    void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
        if (!detail::BackendRegistry::instance().setFormatter(*this, formatter)) {
            const Guard guard(mutex_);
            formatter_ = std::move(formatter);
        }
    }

    const spdlog::filename_t& filename() const { return file_.name(); }

    /// Empties the file and the buffer.
    void truncate() {
        const Guard guard(mutex_);
        keepFrom(guard, buffer_.size());
        begun_ = 0;
        file_.open(true);
    }

    std::size_t unwritten_bytes() const {
        const Guard guard(mutex_);
        return buffer_.size() - begun_;
    }

private:
    using Guard = std::lock_guard<Mutex>;
    using Clock = std::chrono::steady_clock;
    using Time = spdlog::log_clock::time_point;

    /// log() writes when aloneBytes are buffered, like stdio; log_batch() waits for batchBytes.
    static constexpr std::size_t aloneBytes = 4096;
    static constexpr std::size_t batchBytes = std::size_t{1} << 16U;
    static constexpr std::size_t roomForALine = 4096;
    /// With this many unwritten bytes, the sink refuses records.
    static constexpr std::size_t mostUnwritten = std::size_t{1} << 20U;
    /// The time between retries after an error; a retry for each record would slow all loggers.
    static constexpr std::chrono::milliseconds retryInterval{100};

    /// Returns true if the buffer has grown by `bytes` or more since the last attempt to write.
    bool hasGrownBy(std::size_t bytes) const noexcept {
        return buffer_.size() + (batchBytes - bytes) >= batchDue_;
    }

    /// Formats a record into the buffer. If add() throws, the record is lost.
    void add(const Guard& guard, const spdlog::details::log_msg& message) {
        if (SLUICE_UNLIKELY(buffer_.size() >= mostUnwritten)) {
            makeRoom(guard, message);
        }
        if (rotates_ && isNextDay(message.time)) {
            rotate(guard, message.time, buffer_.size());
        }
        const std::size_t size = buffer_.size();
        try {
            formatter_->format(message, buffer_);
        } catch (...) {
            buffer_.resize(size);
            throw;
        }
        if (rotates_ && rotation_.max_bytes != 0 && bytesWith(size) != 0 &&
            bytesWith(buffer_.size()) > rotation_.max_bytes) {
            rotate(guard, message.time, size);
        }
    }

    /// Writes a full buffer. If writing fails, or failed recently (retryInterval), `message` is
    /// lost.
    void makeRoom(const Guard& guard, const spdlog::details::log_msg& message) {
        try {
            if (Clock::now() < retryAt_) {
                throw spdlog::spdlog_ex("1 MiB is unwritten for file " + filename());
            }
            writeBuffer(guard, buffer_.size());
            addNotice();
        } catch (...) {
            ++lost_;
            lostTime_ = message.time;
            lostName_.assign(message.logger_name.data(), message.logger_name.size());
            throw;
        }
    }

    /// Returns the file's size after the first `count` bytes of the buffer are written.
    std::size_t bytesWith(std::size_t count) const noexcept {
        return file_.size() + count - begun_;
    }

    /// Returns true if `time` and rotation_.clock() have both reached nextDay_, because a record's
    /// time may be in the future. Computes nextDay_ again if rotation_.clock() was set back.
    bool isNextDay(Time time) {
        constexpr std::chrono::hours longestDay{25};
        if (!rotation_.daily) {
            return false;
        }
        if (time < nextDay_ - longestDay && rotation_.clock() < nextDay_ - longestDay) {
            setNextDay(rotation_.clock());
        }
        return time >= nextDay_ && rotation_.clock() >= nextDay_;
    }
    void setNextDay(Time now) {
        if (rotation_.daily) {
            nextDay_ = detail::nextDailyTime(now, rotation_.hour, rotation_.minute);
        }
    }

    /// Writes the first `count` bytes of the buffer, renames the file and closes it. A later write
    /// opens a new file. If writing or renaming fails, the next write() throws the error. After a
    /// failure, the old file stays in use unless it was removed.
    void rotate(const Guard& guard, Time time, std::size_t count) {
        if (Clock::now() < retryAt_) {
            return;
        }
        try {
            retryAt_ = Clock::now() + retryInterval;  // cleared after the file is renamed
            writeBuffer(guard, count);
            rotated_.push_back(file_.rename());
            if (isNextDay(time)) {
                setNextDay(std::min(time, rotation_.clock()));
            }
            retryAt_ = {};
            file_.close();  // closes the file even if a file handler throws
        } catch (...) {
            detail::reportCaught([this](const char* what) { complaint_ = what; });
        }
    }

    /// Calls after_rotation for rotated files, without a lock, and then deletes old files. Throws
    /// the first exception. If another thread is in after_rotation, that thread handles the files.
    void callHooks() {
        if (SLUICE_LIKELY(!rotates_)) {
            return;
        }
        std::exception_ptr first;
        const auto attempt = [&first](const auto& action) {
            try {
                action();
            } catch (...) {
                first = first ? first : std::current_exception();
            }
        };
        std::unique_lock<Mutex> lock(mutex_);
        if (rotated_.empty() || hookProcess_ == spdlog::details::os::pid()) {
            return;
        }
        while (!rotated_.empty()) {
            hookProcess_ = spdlog::details::os::pid();
            const std::vector<spdlog::filename_t> names = std::exchange(rotated_, {});
            lock.unlock();
            for (const spdlog::filename_t& name : names) {
                if (rotation_.after_rotation) {
                    attempt([&] { rotation_.after_rotation(name); });
                }
            }
            attempt([this] { deleteOld(); });
            lock.lock();
        }
        hookProcess_ = 0;
        lock.unlock();
        if (first) {
            std::rethrow_exception(first);
        }
    }

    /// Deletes old files, except files that wait for after_rotation. Sets complaint_ if that fails.
    void deleteOld() {
        if (rotation_.max_files == 0 && rotation_.max_age.count() == 0 &&
            rotation_.max_total_bytes == 0) {
            return;
        }
        const std::string errors = file_.deleteOld(rotation_, [this](const auto& name) {
            const Guard guard(mutex_);
            return std::find(rotated_.begin(), rotated_.end(), name) != rotated_.end();
        });
        const Guard guard(mutex_);
        complaint_ += (complaint_.empty() || errors.empty() ? "" : "; ") + errors;
    }

    /// Writes the buffer. After an error, the lines stay in the buffer, and a later write() throws.
    void tryWrite(const Guard& guard) {
        try {
            writeBuffer(guard, buffer_.size());
        } catch (const spdlog::spdlog_ex&) {
            return;
        }
    }

    void write(const Guard& guard) {
        writeBuffer(guard, buffer_.size());
        if (SLUICE_UNLIKELY(lost_ != reported_)) {
            addNotice();
            writeBuffer(guard, buffer_.size());
        }
        if (SLUICE_UNLIKELY(!complaint_.empty())) {
            throw spdlog::spdlog_ex(std::exchange(complaint_, {}));
        }
    }

    /// Adds the line "N records dropped" if records were lost since the last such line.
    void addNotice() {
        if (lost_ != reported_) {
            const std::string text = detail::droppedText(lost_ - reported_);
            formatter_->format({lostTime_, {}, lostName_, spdlog::level::warn, text}, buffer_);
            reported_ = lost_;
        }
    }

    /// Writes the first `count` bytes of the buffer and keeps the rest. After an error, keeps a
    /// partly written line as a whole, because another file may need the line from its beginning.
    void writeBuffer(const Guard& guard, std::size_t count) {
        std::size_t done = begun_;
        try {
            if (isWatched_ && count != 0 && file_.isMoved()) {
                done = 0;
                file_.open(false);
            }
            file_.write(buffer_.data(), count, done);
            if (isWatched_ && count != 0 && file_.isRemoved()) {
                done = 0;
                file_.open(false);
                file_.write(buffer_.data(), count, done);
            }
        } catch (...) {
            const auto end = std::make_reverse_iterator(buffer_.data() + done);
            const auto line = std::find(end, std::make_reverse_iterator(buffer_.data()), '\n');
            begun_ = static_cast<std::size_t>(line - end);
            keepFrom(guard, done - begun_);
            retryAt_ = Clock::now() + retryInterval;
            throw;
        }
        begun_ = 0;
        keepFrom(guard, count);
        if (buffer_.size() == 0 && buffer_.capacity() > mostUnwritten) {
            buffer_ = spdlog::memory_buf_t{};
            buffer_.reserve(batchBytes + roomForALine);
        }
    }

    void keepFrom(const Guard& /*guard*/, std::size_t begin) {
        const std::size_t size = buffer_.size() - begin;
        if (size != 0) {
            std::memmove(buffer_.data(), buffer_.data() + begin, size);
        }
        buffer_.resize(size);
        batchDue_ = size + batchBytes;
    }

    mutable Mutex mutex_;  ///< guards the fields below
    detail::LogFile file_;
    bool isWatched_ = false;
    bool rotates_ = false;
    file_rotation rotation_;  ///< constant after the first record
    Time nextDay_ = Time::max();
    std::vector<spdlog::filename_t> rotated_;  ///< files to pass to after_rotation
    int hookProcess_ = 0;    ///< id of the process in after_rotation; fork() copies it; 0: none
    std::string complaint_;  ///< errors of rotations and deletions; thrown by the next write()
    std::unique_ptr<spdlog::formatter> formatter_;
    spdlog::memory_buf_t buffer_;
    std::size_t begun_ = 0;  ///< bytes of buffer_'s first line that the file already has
    std::size_t batchDue_ = batchBytes;  ///< buffer size at which log_batch() writes
    Clock::time_point retryAt_;          ///< earliest time of the next attempt after an error
    std::uint64_t lost_ = 0;             ///< number of refused records
    std::uint64_t reported_ = 0;         ///< number of refused records that notices have reported
    Time lostTime_;                      ///< time of the last refused record
    std::string lostName_;
};

using file_sink_mt = file_sink<std::mutex>;
using file_sink_st = file_sink<spdlog::details::null_mutex>;

/// Creates a logger with a file_sink, like spdlog::basic_logger_mt(). `Factory` is a spdlog
/// factory, such as async_factory.
template <class Factory = spdlog::synchronous_factory>
std::shared_ptr<spdlog::logger>
file_logger_mt(const std::string& name, const spdlog::filename_t& filename, bool truncate = false,
               const spdlog::file_event_handlers& handlers = {}) {
    return Factory::template create<file_sink_mt>(name, filename, truncate, handlers);
}

}  // namespace sluice::log
