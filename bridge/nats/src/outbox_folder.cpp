#include "outbox_folder.hpp"

#include <sluice/bridge/nats/detail/subject.hpp>
#include <sluice/wire/envelope.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace sluice::nats::detail {
namespace {

using wire::detail::getLittle;
using wire::detail::putLittle;

constexpr std::string_view magic = "SLUICEO1";
constexpr std::size_t headSize = 16;
constexpr std::size_t recordHead = 12;
/// Bytes. After this many, append() begins a new segment.
constexpr std::size_t segmentSize = std::size_t{4} * 1024 * 1024;

[[noreturn]] void fail(const std::string& what, const std::string& path) {
    throw std::runtime_error("nats: the outbox cannot " + what + " " + path + ": " +
                             std::system_category().message(errno));
}

/// Reads the number of done messages. It is stored twice, the second time inverted. A damaged
/// number counts as 0: then the messages are sent again, and the server drops them.
std::uint64_t getDone(const unsigned char* from) noexcept {
    const std::uint64_t done = getLittle<4>(from);
    return getLittle<4>(from + 4) == (done ^ 0xFFFFFFFFU) ? done : 0;
}

void putDone(unsigned char* to, std::uint64_t done) noexcept {
    putLittle<4>(to, done);
    putLittle<4>(to + 4, done ^ 0xFFFFFFFFU);
}

/// Reads the whole file. False if it cannot be read; errno says why.
bool readAll(int file, std::vector<char>& content) {
    struct stat status {};
    if (fstat(file, &status) != 0) {
        return false;
    }
    content.resize(static_cast<std::size_t>(status.st_size));
    std::size_t at = 0;
    while (at < content.size()) {
        const ssize_t count =
            pread(file, content.data() + at, content.size() - at, static_cast<off_t>(at));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            content.resize(count == 0 ? at : 0);
            return count == 0;
        }
        at += static_cast<std::size_t>(count);
    }
    return true;
}

std::uint32_t checksum(const unsigned char* lengths, std::string_view subject,
                       const unsigned char* bytes, std::size_t size) noexcept {
    std::uint32_t crc = wire::detail::crc32c(lengths, 8);
    crc = wire::detail::crc32c(reinterpret_cast<const unsigned char*>(subject.data()),
                               subject.size(), crc);
    return wire::detail::crc32c(bytes, size, crc);
}

struct Record {
    std::string_view subject;
    const unsigned char* bytes;
    std::size_t size;
};

/// Returns the record at `from`, where the file has `left` more bytes. Empty if there is no whole,
/// undamaged record.
std::optional<Record> recordAt(const unsigned char* from, std::size_t left) noexcept {
    if (left < recordHead) {
        return std::nullopt;
    }
    left -= recordHead;
    const std::size_t subjectSize = getLittle<4>(from);
    const std::size_t size = getLittle<4>(from + 4);
    // The limit of the subject saves checksums of bytes that are no record.
    if (subjectSize > std::min(left, longestSubject) || size > left - subjectSize) {
        return std::nullopt;
    }
    const auto* const subject = reinterpret_cast<const char*>(from + recordHead);
    const Record record{{subject, subjectSize}, from + recordHead + subjectSize, size};
    const bool isWhole =
        getLittle<4>(from + 8) == checksum(from, record.subject, record.bytes, size);
    return isWhole ? std::optional(record) : std::nullopt;
}

/// The file name of a segment, in place because append() must not allocate for it.
struct SegmentName {
    explicit SegmentName(std::uint64_t number) noexcept {
        (void)std::snprintf(text.data(), text.size(), "%" PRIu64 ".outbox", number);
    }
    std::array<char, 32> text{};
};

/// Returns the number of the segment with this file name. 0 if no segment has such a name.
std::uint64_t numberOf(const std::string& name) noexcept {
    std::uint64_t number = 0;
    (void)std::from_chars(name.data(), name.data() + name.size(), number);
    const bool isExact = name == SegmentName(number).text.data();
    return isExact && number != std::numeric_limits<std::uint64_t>::max() ? number : 0;
}

}  // namespace

OutboxFolder::OutboxFolder(std::string folder) : folder_(std::move(folder)) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    folderFile_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folderFile_ < 0) {
        fail("open", folder_);
    }
    if (flock(folderFile_, LOCK_EX | LOCK_NB) != 0) {
        close(folderFile_);
        throw std::runtime_error("nats: another process uses the outbox folder " + folder_);
    }
}

OutboxFolder::~OutboxFolder() {
    for (Segment& segment : segments_) {
        if (segment.done == segment.messages) {
            remove(segment);
        } else {
            close(segment.file);
        }
    }
    close(folderFile_);
}

void OutboxFolder::replay(const Visitor& visit) {
    const Guard guard(mutex_);
    std::vector<std::uint64_t> numbers;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
        const std::uint64_t number = numberOf(entry.path().filename().string());
        nextNumber_ = std::max(nextNumber_, number + 1);
        if (number != 0 && entry.is_regular_file()) {
            numbers.push_back(number);
        } else if (foreignFile_.empty()) {
            foreignFile_ = entry.path().string();
        }
    }
    std::sort(numbers.begin(), numbers.end());
    for (const std::uint64_t number : numbers) {
        load(guard, number, visit);
    }
    // It begins a new segment, because the tail of a former one may be damaged.
    const int error = begin(guard);
    if (error != 0 && error != ENOSPC && error != EDQUOT) {
        errno = error;
        fail("write into", folder_);
    }
}

void OutboxFolder::load(const Guard& /*guard*/, std::uint64_t number, const Visitor& visit) {
    const std::string path = folder_ + "/" + SegmentName(number).text.data();
    segments_.emplace_back();  // first, so that the destructor closes the file
    Segment& segment = segments_.back();
    segment.number = number;
    segment.messages = 1;  // until they are counted: the destructor keeps the file
    segment.file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (segment.file < 0) {
        fail("open", path);
    }
    std::vector<char> content;
    if (!readAll(segment.file, content)) {
        fail("read", path);
    }
    const auto* const bytes = reinterpret_cast<const unsigned char*>(content.data());
    std::vector<Record> found;
    std::size_t at = headSize;
    // Otherwise the process was killed before it wrote the head.
    const bool isBegun = content.size() >= headSize;
    if (isBegun && !std::equal(magic.begin(), magic.end(), content.begin())) {
        throw std::runtime_error("nats: the outbox cannot read " + path +
                                 ": it is damaged, or of another version. Move it away");
    }
    segment.done = isBegun ? getDone(bytes + magic.size()) : 0;
    bool isDamaged = false;
    for (bool isSkipping = false; isBegun && at < content.size();) {
        const auto record = recordAt(bytes + at, content.size() - at);
        if (!record) {
            isSkipping = true;
            ++at;  // one byte, because the lengths may be damaged
            continue;
        }
        if (std::exchange(isSkipping, false)) {
            isDamaged = true;
            damagedFiles_.push_back(path);
        }
        found.push_back(*record);
        at += recordHead + record->subject.size() + record->size;
    }
    segment.messages = found.size();
    if (isDamaged || segment.done > segment.messages) {
        segment.done = 0;  // unknown: all are sent again, and the server drops duplicates
    }
    if (segment.done == segment.messages) {
        remove(segment);
        segments_.pop_back();
        return;
    }
    for (std::size_t i = segment.done; i < found.size(); ++i) {
        auto subject = std::find(subjects_.begin(), subjects_.end(), found[i].subject);
        if (subject == subjects_.end()) {
            subject = subjects_.insert(subject, std::string(found[i].subject));
        }
        visit(subject->c_str(), found[i].bytes, found[i].size);
    }
}

int OutboxFolder::begin(const Guard& /*guard*/) noexcept {
    Segment segment;
    segment.number = nextNumber_;
    const int flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC;
    segment.file =
        openat(folderFile_, SegmentName(segment.number).text.data(), flags, S_IRUSR | S_IWUSR);
    if (segment.file < 0) {
        return errno;
    }
    std::array<unsigned char, headSize> head{};
    std::memcpy(head.data(), magic.data(), magic.size());
    putDone(head.data() + magic.size(), 0);
    const ssize_t written = pwrite(segment.file, head.data(), head.size(), 0);
    int error = written == headSize ? 0 : written < 0 ? errno : ENOSPC;
    if (error == 0 && (fdatasync(segment.file) != 0 || fsync(folderFile_) != 0)) {
        error = errno;
    }
    segment.size = headSize;
    if (error == 0) {
        try {
            segments_.push_back(segment);
        } catch (const std::bad_alloc&) {
            error = ENOMEM;
        }
    }
    if (error != 0) {
        remove(segment);
        return error;
    }
    ++nextNumber_;
    hasSegment_ = true;
    onDisk_ = headSize;
    return 0;
}

bool OutboxFolder::write(Guard& guard, std::string_view subject, const unsigned char* bytes,
                         std::size_t size) noexcept {
    const auto isFull = [this] { return hasSegment_ && segments_.back().size >= segmentSize; };
    // Some thread that waits for the disk calls fdatasync, and then notifies.
    flushed_.wait(guard, [&] { return oldest_ == nullptr || !isFull(); });
    if ((isFull() || !hasSegment_) && begin(guard) != 0) {
        return false;
    }
    Segment& segment = segments_.back();
    std::array<unsigned char, recordHead> head{};
    putLittle<4>(head.data(), subject.size());
    putLittle<4>(head.data() + 4, size);
    putLittle<4>(head.data() + 8, checksum(head.data(), subject, bytes, size));
    const std::array<iovec, 3> parts{{{head.data(), head.size()},
                                      {const_cast<char*>(subject.data()), subject.size()},
                                      {const_cast<unsigned char*>(bytes), size}}};
    const std::size_t total = head.size() + subject.size() + size;
    const ssize_t done = pwritev(segment.file, parts.data(), static_cast<int>(parts.size()),
                                 static_cast<off_t>(segment.size));
    if (done < 0 || static_cast<std::size_t>(done) != total) {
        // Removes the part that was written. If that fails, the next message overwrites it, or it
        // is a damaged tail.
        (void)!ftruncate(segment.file, static_cast<off_t>(segment.size));
        return false;
    }
    segment.size += total;
    ++segment.messages;
    return true;
}

void OutboxFolder::waitForDisk(Guard& guard, Waiting& message) noexcept {
    (oldest_ == nullptr ? oldest_ : newest_->next) = &message;
    newest_ = &message;
    while (!message.isAnswered) {
        if (isFlushing_) {
            flushed_.wait(guard);
            continue;
        }
        isFlushing_ = true;
        const Waiting* const last = newest_;
        const std::size_t size = segments_.back().size;
        const int file = segments_.back().file;
        guard.unlock();
        const bool isFlushed = fdatasync(file) == 0;
        guard.lock();
        isFlushing_ = false;
        if (isFlushed) {
            onDisk_ = size;
            answer(guard, last, true);
        } else {
            endSegment(guard);
        }
        flushed_.notify_all();
    }
}

void OutboxFolder::answer(const Guard& /*guard*/, const Waiting* last, bool isOnDisk) noexcept {
    for (bool isLast = false; !isLast && oldest_ != nullptr;) {
        Waiting& message = *oldest_;
        isLast = &message == last;
        oldest_ = message.next;
        if (isOnDisk) {
            message.push(message.closure);
        }
        segments_.back().messages -= isOnDisk ? 0 : 1;
        message.isOnDisk = isOnDisk;
        message.isAnswered = true;
    }
}

void OutboxFolder::endSegment(const Guard& guard) noexcept {
    Segment& segment = segments_.back();
    (void)!ftruncate(segment.file, static_cast<off_t>(onDisk_));
    segment.size = onDisk_;
    answer(guard, nullptr, false);
    hasSegment_ = false;
}

void OutboxFolder::freeOldest() noexcept {
    const Guard guard(mutex_);
    removeDone(guard);
    Segment& oldest = segments_.front();
    ++oldest.done;
    std::array<unsigned char, 8> done{};
    putDone(done.data(), oldest.done);
    (void)!pwrite(oldest.file, done.data(), done.size(), magic.size());
    removeDone(guard);
}

void OutboxFolder::removeDone(const Guard& /*guard*/) noexcept {
    while (segments_.size() > 1 && segments_.front().done == segments_.front().messages) {
        remove(segments_.front());
        segments_.pop_front();
    }
}

void OutboxFolder::remove(Segment& segment) const noexcept {
    (void)unlinkat(folderFile_, SegmentName(segment.number).text.data(), 0);
    close(segment.file);
}

}  // namespace sluice::nats::detail
