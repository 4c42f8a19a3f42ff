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
/// It opens a file with spdlog's attempts and handlers, and writes to it without stdio.
///
/// One thread at a time. Errors are spdlog_ex with the name and the cause. If a file cannot be
/// opened again, the next write tries again.
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

    /// Bytes of the file.
    std::size_t size() const noexcept { return size_; }
    /// The time of the last write before this object opened the file; the present for an empty
    /// file.
    Time lastWritten() const noexcept { return lastWritten_; }

    /// Writes from `done` on and moves `done` forward.
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

    /// Opens the file of this name again, which may be another file now.
    void reopen(bool truncate) {
        descriptor_ = closed;
        // A copy: opening assigns to the file's own name.
        const spdlog::filename_t name = filename();
        file_.open(name, truncate);
    }

    /// Whether the name belongs to another file or to none.
    bool isMoved() const noexcept {
        struct ::stat named {};
        struct ::stat own {};
        return descriptor_ == closed || ::stat(filename().c_str(), &named) != 0 ||
               ::fstat(descriptor_, &own) != 0 || named.st_ino != own.st_ino ||
               named.st_dev != own.st_dev;
    }

    /// Whether the file has been removed, and its text with it.
    bool isRemoved() const noexcept {
        struct ::stat own {};
        return descriptor_ != closed && ::fstat(descriptor_, &own) == 0 && own.st_nlink == 0;
    }

    /// Renames the file. The next write opens a new one. Returns the new name of the old file. If
    /// renaming fails, the file stays open.
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

    // Only spdlog's handlers get the file that spdlog has opened.
    spdlog::file_event_handlers withDescriptor(spdlog::file_event_handlers handlers) {
        handlers.after_open = [this, told = std::move(handlers.after_open)](
                                  const spdlog::filename_t& name, std::FILE* file) {
            if (told) {
                told(name, file);
            }
            // The text of a handler stands before the first line.
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

    /// The name with date and time, and with a number if there is such a file already.
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
