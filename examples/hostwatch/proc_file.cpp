#include "proc_file.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hostwatch {
namespace {

constexpr std::size_t firstBufferSize = 4096;

Problem systemProblem(const char* what) {
    return {std::string(what) + ": " + std::generic_category().message(errno)};
}

}  // namespace

ProcFile::ProcFile(std::string path) : path_(std::move(path)), buffer_(firstBufferSize, '\0') {
}

Problem ProcFile::read() {
    size_ = 0;
    // O_NONBLOCK: opening a named pipe must not wait for somebody to write into it.
    const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        return systemProblem("cannot be opened");
    }
    Problem problem = readAll(descriptor);
    ::close(descriptor);
    if (problem) {
        size_ = 0;
    }
    return problem;
}

Problem ProcFile::readAll(int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) {
        return systemProblem("cannot be examined");
    }
    if (!S_ISREG(status.st_mode)) {
        return {"is not a regular file"};
    }
    // Files of /proc say they are empty, so read until there is nothing more.
    for (;;) {
        if (size_ > sizeLimit) {
            return {"is larger than " + std::to_string(sizeLimit) + " bytes"};
        }
        if (size_ == buffer_.size()) {
            buffer_.resize(size_ * 2);
        }
        const ssize_t count = ::read(descriptor, &buffer_[size_], buffer_.size() - size_);
        if (count == 0) {
            return {};
        }
        if (count > 0) {
            size_ += static_cast<std::size_t>(count);
        } else if (errno != EINTR) {
            return systemProblem("cannot be read");
        }
    }
}

}  // namespace hostwatch
