#pragma once

// OutboxFile: the messages of one priority on a disk, until the server has stored them.
//
// Threads: any thread calls append. The lane's thread calls freeOldest. The owner calls replay
// before both.
//
// The folder has segments, which are numbered files. append writes a message to the newest segment,
// and returns when the message is on the disk. Several threads that append at once share one
// fdatasync. freeOldest writes the number of done messages into the segment. It removes a segment
// when all of its messages are done.
//
// Segment: "SLUICEO1", the number of done messages in 8 bytes, then records. Record: length of the
// subject and of the message, 4 bytes each; CRC32C of all other bytes of the record, 4 bytes; the
// subject; the message. All little-endian. A damaged record ends its segment: the tail of a segment
// is damaged when the process was killed while it wrote. A segment that begins otherwise is refused
// and kept.
//
// The count of done messages is not flushed: after a power cut done messages are sent again.
//
// Allocation: append may allocate for a new segment, and refuses the message if there is no memory.
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

    /// Visits the messages that a former process left, oldest first. The subject stays valid.
    /// Throws std::runtime_error with one line if a file cannot be read.
    using Visitor =
        std::function<void(const char* subject, const unsigned char* bytes, std::size_t size)>;
    void replay(const Visitor& visit);

    /// Writes a message, calls push() and waits for the disk. False if the disk refuses the
    /// message: then it does not call push(). False if flushing failed: then each later call
    /// returns false.
    template <class Push>
    [[nodiscard]] bool append(std::string_view subject, const unsigned char* bytes,
                              std::size_t size, Push&& push) noexcept {
        Guard guard(mutex_);
        if (!write(guard, subject, bytes, size)) {
            return false;
        }
        push();
        waitForDisk(guard);
        return !isBroken_;
    }

    /// The oldest message is done.
    void freeOldest() noexcept;

private:
    using Guard = std::unique_lock<std::mutex>;

    struct Segment {
        std::uint64_t number = 0;  ///< the name of the file
        int file = -1;
        std::uint64_t messages = 0;
        std::uint64_t done = 0;  ///< of the messages
        std::size_t size = 0;    ///< bytes of the file
    };

    void load(const Guard& guard, std::uint64_t number, const Visitor& visit);
    [[nodiscard]] bool begin(const Guard& guard, std::uint64_t number) noexcept;
    [[nodiscard]] bool write(const Guard& guard, std::string_view subject,
                             const unsigned char* bytes, std::size_t size) noexcept;
    /// Unlocks during fdatasync.
    void waitForDisk(Guard& guard) noexcept;
    void removeDone(const Guard& guard) noexcept;
    void remove(Segment& segment) const noexcept;

    const std::string folder_;
    int folderFile_ = -1;               ///< locked as long as the process uses the folder
    std::deque<std::string> subjects_;  ///< of the messages that replay has visited
    std::mutex mutex_;                  ///< guards the following
    std::condition_variable flushed_;
    std::deque<Segment> segments_;  ///< ascending; append writes to the last one
    std::uint64_t written_ = 0;     ///< messages that append has written
    std::uint64_t onDisk_ = 0;      ///< messages that are on the disk
    bool isBroken_ = false;         ///< flushing has failed: the disk may lack messages
    bool isFlushing_ = false;       ///< a thread is inside fdatasync
};

}  // namespace sluice::nats::detail
