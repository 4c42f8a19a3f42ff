#pragma once

#include <spdlog/common.h>
#include <spdlog/details/file_helper.h>
#include <spdlog/details/os.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <string>
#include <tuple>
#include <utility>

namespace sluice::log::detail {

/// The file of a file_sink (POSIX). Another program may rename or remove it.
///
/// It opens the file as spdlog does, with spdlog's number of attempts and handlers. It writes
/// without stdio.
///
/// Threads: one thread at a time. Errors: spdlog_ex with the name and the cause. If the file cannot
/// be opened again, the next write tries again.
///
/// Tests: tests/unit/log/log_file_test.cpp, tests/unit/log/file_rotation_test.cpp.
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

    /// Number of bytes in the file.
    std::size_t size() const noexcept { return size_; }
    /// The time of the last write before this object opened the file. For an empty file, the time
    /// at which it was opened.
    Time lastWritten() const noexcept { return lastWritten_; }

    /// Writes the bytes from `done` to `size`. It moves `done` forward, also if it throws.
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

    /// Opens the file of this name again. It may be another file now.
    void reopen(bool truncate) {
        descriptor_ = closed;
        // A copy, because open() assigns to the string that filename() refers to.
        const spdlog::filename_t name = filename();
        file_.open(name, truncate);
    }

    /// Whether the name now belongs to another file, or to none.
    bool isMoved() const noexcept {
        struct ::stat named {};
        struct ::stat own {};
        return descriptor_ == closed || ::stat(filename().c_str(), &named) != 0 ||
               ::fstat(descriptor_, &own) != 0 || named.st_ino != own.st_ino ||
               named.st_dev != own.st_dev;
    }

    /// Whether the open file has been removed, so that its text is lost.
    bool isRemoved() const noexcept {
        struct ::stat own {};
        return descriptor_ != closed && ::fstat(descriptor_, &own) == 0 && own.st_nlink == 0;
    }

    /// Renames the file and returns its new name. The next write opens a new file. If renaming
    /// fails, the file stays open and is used further.
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

    // Adds the step that learns the file descriptor, because spdlog shows its open file only to
    // handlers.
    spdlog::file_event_handlers withDescriptor(spdlog::file_event_handlers handlers) {
        handlers.after_open = [this, told = std::move(handlers.after_open)](
                                  const spdlog::filename_t& name, std::FILE* file) {
            if (told) {
                told(name, file);
            }
            // A handler may have written to the file: its text must come before the first line.
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

    /// Returns the name with date and time. If such a file exists, it adds a number.
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

}  // namespace sluice::log::detail
