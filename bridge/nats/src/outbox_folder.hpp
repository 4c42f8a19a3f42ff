#pragma once

// OutboxFolder: the messages of one priority on a disk, until the server has stored them.
//
// Threads: any thread may call append(). The sender's thread calls freeOldest(). The owner calls
// replay() before both.
//
// The folder has segments, which are numbered files: "1.outbox", "2.outbox". append() writes a
// message to the newest segment, and pushes it when it is on the disk. Threads that append
// simultaneously share one fdatasync, and the thread that calls it pushes the messages of all.
// freeOldest() writes the number of done messages into the segment, and removes a segment whose
// messages are all done. Files with other names are never changed.
//
// A segment ends at 4 MiB, or when a flush fails, because the disk may lack the messages behind the
// last good flush. These are cut off and refused, and the next message begins a new segment. If the
// disk is full, there is no segment, and each message tries to begin one.
//
// Form of a segment: "SLUICEO1", the number of done messages in 8 bytes, then records. Form of a
// record: 4 bytes length of the subject; 4 bytes length of the message; 4 bytes CRC32C of all other
// bytes of the record; the subject; the message. All numbers are little-endian. If the process is
// killed while it writes, the tail of the segment is damaged; the tail was never accepted. Damaged
// bytes before a whole record are skipped and noted. A segment that begins with other bytes is
// refused and kept.
//
// The number of done messages is not flushed, so after a power cut some are sent again. Without
// memory for a new segment, append() refuses the message. Messages are pushed and freed in the
// order in which they were appended.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sluice::nats::detail {

class OutboxFolder {
public:
    /// Creates the folder. Throws std::runtime_error with one line if the folder cannot be used, or
    /// if another process uses it.
    explicit OutboxFolder(std::string folder);
    OutboxFolder(const OutboxFolder&) = delete;
    OutboxFolder& operator=(const OutboxFolder&) = delete;
    ~OutboxFolder();

    /// Calls the visitor for each message that a former process left, the oldest first. The subject
    /// stays valid as long as this object. Throws std::runtime_error with one line if a file cannot
    /// be read. It also throws if no file can be written, except if the disk is full.
    using Visitor =
        std::function<void(const char* subject, const unsigned char* bytes, std::size_t size)>;
    void replay(const Visitor& visit);

    /// The path of a file that is no segment. Empty if replay() has found none.
    [[nodiscard]] const std::string& foreignFile() const noexcept { return foreignFile_; }
    /// The path of a segment for each place where replay() has found damage before a whole record.
    [[nodiscard]] const std::vector<std::string>& damagedFiles() const noexcept {
        return damagedFiles_;
    }
    /// Whether append() has a segment. False after replay() if the disk is full.
    [[nodiscard]] bool hasSegment() const noexcept { return hasSegment_; }

    /// Writes a message and waits until it is on the disk. Then this thread or another one calls
    /// push(). False if the disk refuses the message: then push() is not called.
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

    /// Called when the oldest message is done: stored by the server, or undeliverable.
    void freeOldest() noexcept;

private:
    using Guard = std::unique_lock<std::mutex>;

    struct Segment {
        std::uint64_t number = 0;  ///< number in the name of the file
        int file = -1;
        std::uint64_t messages = 0;
        std::uint64_t done = 0;  ///< how many of the messages are done
        std::size_t size = 0;    ///< bytes of the file
    };

    /// A message that may not be on the disk yet, on the stack of its thread.
    struct Waiting {
        void (*push)(void* closure) = nullptr;
        void* closure = nullptr;
        Waiting* next = nullptr;
        bool isAnswered = false;
        bool isOnDisk = false;  ///< the answer: whether it is on the disk
    };

    /// Reads a segment of a former process, and visits the messages that are not done.
    void load(const Guard& guard, std::uint64_t number, const Visitor& visit);
    /// Begins a segment. Returns 0, or the errno of the failure.
    [[nodiscard]] int begin(const Guard& guard) noexcept;
    /// Writes a message to the newest segment. Before it begins one, it waits for the running
    /// flush.
    [[nodiscard]] bool write(Guard& guard, std::string_view subject, const unsigned char* bytes,
                             std::size_t size) noexcept;
    /// Waits until the message is answered. Unlocks during fdatasync.
    void waitForDisk(Guard& guard, Waiting& message) noexcept;
    /// Answers the oldest messages, up to `last`. If `last` is null, answers all.
    void answer(const Guard& guard, const Waiting* last, bool isOnDisk) noexcept;
    /// Called after a failed flush: ends the segment, refuses the messages that were not flushed.
    void endSegment(const Guard& guard) noexcept;
    /// Removes the oldest segments whose messages are all done, except the newest segment.
    void removeDone(const Guard& guard) noexcept;
    void remove(Segment& segment) const noexcept;

    const std::string folder_;
    int folderFile_ = -1;  ///< descriptor of the folder, with a lock as long as the process uses it
    std::deque<std::string> subjects_;       ///< subjects of the messages that replay() has visited
    std::string foreignFile_;                ///< see foreignFile(); written by replay()
    std::vector<std::string> damagedFiles_;  ///< see damagedFiles(); written by replay()
    std::mutex mutex_;                       ///< guards the following
    std::condition_variable flushed_;
    std::deque<Segment> segments_;  ///< in ascending order of their numbers
    std::uint64_t nextNumber_ = 1;  ///< number of the next segment
    bool hasSegment_ = false;       ///< whether append() writes to the last segment
    std::size_t onDisk_ = 0;        ///< bytes of the last segment that have been flushed
    /// Oldest message that is not flushed; a list in the order of the file.
    Waiting* oldest_ = nullptr;
    Waiting* newest_ = nullptr;  ///< newest message of that list
    bool isFlushing_ = false;    ///< whether a thread is inside fdatasync
};

}  // namespace sluice::nats::detail
