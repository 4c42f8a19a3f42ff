#pragma once

// OutboxFile: the messages of one priority on a disk, until the server has stored them.
//
// Threads: any thread calls append. The lane's thread calls freeOldest. The owner calls replay
// before both.
//
// The folder has segments, which are numbered files: "1.outbox", "2.outbox". append writes a
// message to the newest segment, and pushes it when it is on the disk. Several threads that append
// at once share one fdatasync, and the thread that has called it pushes the messages of all.
// freeOldest writes the number of done messages into the segment. It removes a segment when all of
// its messages are done. Files with other names are left alone.
//
// A segment ends at 4 MiB. A flush that fails ends it too: the disk may lack the messages behind
// the last good flush. They are cut off and refused, and the next message begins a segment. Without
// a segment, because the disk is full, each message tries to begin one.
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
// Invariants: messages are appended in the order in which `push` is called, and freed in that
// order. The folder has the messages that are not done, and at most a segment more.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>

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
    /// Throws std::runtime_error with one line if a file cannot be read, or if no file can be
    /// written for another reason than a full disk.
    using Visitor =
        std::function<void(const char* subject, const unsigned char* bytes, std::size_t size)>;
    void replay(const Visitor& visit);

    /// The path of a file that is no segment, if replay has found one.
    [[nodiscard]] const std::string& foreignFile() const noexcept { return foreignFile_; }
    /// False after replay if the disk is full.
    [[nodiscard]] bool hasSegment() const noexcept { return hasSegment_; }

    /// Writes a message, waits for the disk, and has push() called: by this thread or by another
    /// one. False if the disk refuses the message: then nobody calls push().
    template <class Push>
    [[nodiscard]] bool append(std::string_view subject, const unsigned char* bytes,
                              std::size_t size, Push&& push) noexcept {
        Waiting message;
        message.closure = &push;
        message.push = [](void* closure) {
            (*static_cast<std::remove_reference_t<Push>*>(closure))();
        };
        Guard guard(mutex_);
        if (!write(guard, subject, bytes, size)) {
            return false;
        }
        waitForDisk(guard, message);
        return message.isOnDisk;
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

    /// A message that has been written and is not known to be on the disk. Its thread owns it.
    struct Waiting {
        void (*push)(void* closure) = nullptr;
        void* closure = nullptr;
        Waiting* next = nullptr;
        bool isAnswered = false;
        bool isOnDisk = false;  ///< the answer
    };

    void load(const Guard& guard, std::uint64_t number, const Visitor& visit);
    /// Begins a segment. Returns 0 or an error of the system.
    [[nodiscard]] int begin(const Guard& guard) noexcept;
    /// Waits for a flush before it begins a segment.
    [[nodiscard]] bool write(Guard& guard, std::string_view subject, const unsigned char* bytes,
                             std::size_t size) noexcept;
    /// Unlocks during fdatasync.
    void waitForDisk(Guard& guard, Waiting& message) noexcept;
    /// The answer of the oldest messages, up to the last one or, without it, of all.
    void answer(const Guard& guard, const Waiting* last, bool isOnDisk) noexcept;
    /// The flush has failed.
    void endSegment(const Guard& guard) noexcept;
    void removeDone(const Guard& guard) noexcept;
    void remove(Segment& segment) const noexcept;

    const std::string folder_;
    int folderFile_ = -1;               ///< locked as long as the process uses the folder
    std::deque<std::string> subjects_;  ///< of the messages that replay has visited
    std::string foreignFile_;           ///< written by replay
    std::mutex mutex_;                  ///< guards the following
    std::condition_variable flushed_;
    std::deque<Segment> segments_;  ///< ascending
    std::uint64_t nextNumber_ = 1;  ///< of the next segment
    bool hasSegment_ = false;       ///< append writes to the last segment
    std::size_t onDisk_ = 0;        ///< bytes of that segment that have been flushed
    Waiting* oldest_ = nullptr;     ///< the messages behind them, in the order of the file
    Waiting* newest_ = nullptr;     ///< the last of these
    bool isFlushing_ = false;       ///< a thread is inside fdatasync
};

}  // namespace sluice::nats::detail
