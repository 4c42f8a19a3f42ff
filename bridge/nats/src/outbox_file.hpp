#pragma once

// OutboxFile: the messages of one priority on a disk, until the server has stored them.
//
// Who may call what: append by anybody; freeOldest by the lane's thread; replay before both.
//
// The folder has segments, numbered files. A message is appended to the newest one and is on the
// disk when append returns. Several threads that append at once share one fdatasync. freeOldest
// notes in the segment how many of its messages are done, and removes a segment whose messages all
// are.
//
// Segment: "SLUICEO1", the number of done messages in 8 bytes, then records. Record: length of the
// subject and of the message, 4 bytes each; CRC32C of all other bytes of the record, 4 bytes; the
// subject; the message. All little-endian. A damaged record ends its segment: the tail of a segment
// is damaged when the process was killed while it wrote.
//
// The count of done messages is not flushed: after a power cut done messages are sent again.
//
// Invariant: messages are appended in the order in which `push` is called, and freed in that order.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace sluice::nats::detail {

class OutboxFile {
public:
    /// Creates the folder. Throws std::runtime_error with one line, also when another process uses
    /// the folder.
    explicit OutboxFile(std::string folder);
    OutboxFile(const OutboxFile&) = delete;
    OutboxFile& operator=(const OutboxFile&) = delete;
    ~OutboxFile();

    /// Hands over the messages that a former process left, oldest first. The subject stays valid.
    using Visitor =
        std::function<void(const char* subject, const unsigned char* bytes, std::size_t size)>;
    void replay(const Visitor& visit);

    /// Writes a message, calls push() and waits for the disk. False when the disk takes nothing:
    /// then push has not been called. Also false when flushing failed: then nothing is taken again.
    template <class Push>
    [[nodiscard]] bool append(std::string_view subject, const unsigned char* bytes,
                              std::size_t size, Push&& push) noexcept {
        std::unique_lock lock(mutex_);
        if (!write(subject, bytes, size)) {
            return false;
        }
        push();
        waitForDisk(lock);
        return !isBroken_;
    }

    /// The oldest message is done.
    void freeOldest() noexcept;

private:
    struct Segment {
        std::uint64_t number = 0;
        int file = -1;
        std::uint64_t messages = 0;
        std::uint64_t done = 0;
        std::size_t size = 0;
    };

    [[nodiscard]] std::string pathOf(std::uint64_t number) const;
    void load(std::uint64_t number, const Visitor& visit);
    [[nodiscard]] bool begin(std::uint64_t number) noexcept;
    [[nodiscard]] bool write(std::string_view subject, const unsigned char* bytes,
                             std::size_t size) noexcept;
    void waitForDisk(std::unique_lock<std::mutex>& lock) noexcept;
    void removeDone() noexcept;
    void remove(Segment& segment) noexcept;

    const std::string folder_;
    int folderFile_ = -1;  ///< locked as long as the process uses the folder
    std::deque<std::string> subjects_;
    std::mutex mutex_;  ///< of the following
    std::condition_variable flushed_;
    std::deque<Segment> segments_;  ///< ascending; the last one is written to
    std::uint64_t written_ = 0;     ///< messages
    std::uint64_t onDisk_ = 0;      ///< messages; those up to here are on the disk
    bool isBroken_ = false;         ///< flushing has failed: the disk may lack messages
    bool isFlushing_ = false;       ///< a thread is inside fdatasync
};

}  // namespace sluice::nats::detail
