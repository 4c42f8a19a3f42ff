#pragma once

#include <spdlog/common.h>
#include <spdlog/details/file_helper.h>
#include <spdlog/details/os.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <string>
#include <tuple>
#include <utility>

namespace sluice::log::detail {

/// The file of a file_sink, which others may rename or remove (POSIX).
///
/// Opens a file as spdlog does, with its tries and its handlers, and writes to it without stdio.
///
/// One thread at a time. Errors are spdlog_ex with the name and the cause. A file that could not be
/// opened again is tried again by the next write.
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
    /// When the file was written before this object opened it; the present for an empty one.
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

    /// Opens the file of this name, which may be another one by now.
    void reopen(bool truncate) {
        descriptor_ = closed;
        // Not the reference that the file has: opening assigns to it.
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

    /// Whether the file has no name any more: what was written is gone with it.
    bool isRemoved() const noexcept {
        struct ::stat own {};
        return descriptor_ != closed && ::fstat(descriptor_, &own) == 0 && own.st_nlink == 0;
    }

    /// Renames the file; the next write opens a new one. Returns the name that the old one has now.
    /// When the file cannot be renamed, it stays open.
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

    // spdlog tells which file it has opened to its handlers alone.
    spdlog::file_event_handlers withDescriptor(spdlog::file_event_handlers handlers) {
        handlers.after_open = [this, told = std::move(handlers.after_open)](
                                  const spdlog::filename_t& name, std::FILE* file) {
            if (told) {
                told(name, file);
            }
            // What a handler has written comes before the first line.
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

    /// The name with date and time, and with a number when there is such a file already.
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
