#include "harness/run/log_lines.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace sluice::bench {

namespace {

constexpr std::string_view beforeNumber = "Hello logger: msg number ";

// "[2026-11-22 03:01:03.012345]"
constexpr std::size_t timeLength = 28;

/// A file that is mapped into memory. Its text is empty if this fails.
class Mapping {
public:
    explicit Mapping(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY)) {
        struct stat about {};
        if (descriptor_ == -1 || fstat(descriptor_, &about) != 0 || about.st_size == 0) {
            return;
        }
        const auto size = static_cast<std::size_t>(about.st_size);
        void* const place = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor_, 0);
        if (place != MAP_FAILED) {
            text_ = {static_cast<const char*>(place), size};
        }
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() {
        if (!text_.empty()) {
            munmap(const_cast<char*>(text_.data()), text_.size());
        }
        if (descriptor_ != -1) {
            close(descriptor_);
        }
    }

    std::string_view text() const noexcept { return text_; }

private:
    int descriptor_;
    std::string_view text_;
};

}  // namespace

void LogLines::take(std::string_view line) noexcept {
    const std::size_t at = line.rfind(beforeNumber);
    std::uint64_t number = 0;
    bool isRecord = at != std::string_view::npos && at >= timeLength && line[timeLength - 1] == ']';
    if (isRecord) {
        const char* const begin = line.data() + at + beforeNumber.size();
        const char* const end = line.data() + line.size();
        const auto [rest, error] = std::from_chars(begin, end, number);
        isRecord =
            error == std::errc() && rest == end && number / mostRecordsOfAThread < expected_.size();
    }
    if (!isRecord) {
        strange_ = strange_.empty() ? std::string(line.substr(0, 100)) : strange_;
        return;
    }
    ++delivered_;
    sum_ += number;
    std::uint64_t& expected = expected_[number / mostRecordsOfAThread];
    disorder_ += number % mostRecordsOfAThread != expected;
    expected = number % mostRecordsOfAThread + 1;
    const std::string_view time = line.substr(0, timeLength);
    backInTime_ += time < time_;
    time_ = time;
}

void LogLines::enter(Counts& counts) const noexcept {
    counts.delivered += delivered_;
    counts.receivedSum += sum_;
    counts.disorder += disorder_;
    counts.backInTime += backInTime_;
}

LogFile::LogFile()
    : path_((std::filesystem::temp_directory_path() / "sluice-bench-log-XXXXXX").string()) {
    const int descriptor = mkstemp(path_.data());
    if (descriptor == -1) {
        throw std::runtime_error("cannot make the file " + path_);
    }
    close(descriptor);
}

LogFile::~LogFile() {
    unlink(path_.c_str());
}

std::string LogFile::read(std::size_t threads, Counts& counts) const {
    const Mapping file(path_);
    LogLines lines(threads);
    std::string_view rest = file.text();
    while (!rest.empty()) {
        const std::size_t size = rest.find('\n');
        lines.take(rest.substr(0, size));
        rest.remove_prefix(size == std::string_view::npos ? rest.size() : size + 1);
    }
    lines.enter(counts);
    return lines.strange().empty() ? "" : "a line that is no record: " + lines.strange();
}

}  // namespace sluice::bench
