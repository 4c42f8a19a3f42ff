#pragma once

// OutboxSender: sends each message of one priority until the server has answered.
//
// Threads: any thread may call push(). The owner calls start() and stop(). The sender's thread
// sends new messages, and unanswered ones again. A thread of libnats calls answered(), and sends
// the messages that have room now, because waking the sender's thread would take longer.
//
// A message waits in the ring, in the order of push(). When the window has room, a sending thread
// moves the oldest message into a slot of the window and sends it. Positions in the window are
// unbounded numbers. The slot of a position is the position modulo the size of the window.
//
// The reply subject contains the position. So an answer to any send of a message counts, and an
// answer to a message that has left the window does not.
//
// A slot becomes free when its message is done and all older slots are free. A message without an
// answer is sent again after ackWait, a refused one after retryWait.
//
// The mutex guards the window. A thread holds it while it sends. If the server reads nothing, both
// sending threads stop; the threads that push do not.
//
// Edges: E1 commit: message written -> push release .. consume acquire -> sent.

#include "link_impl.hpp"
#include "outbox_folder.hpp"

#include <sluice/bridge/nats/detail/outbox.hpp>
#include <sluice/queue/mpsc_ring.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sluice::nats::detail {

class OutboxSender final : LinkEvents {
public:
    struct Record {
        Outbox::Reservation reservation;
        std::size_t size = 0;
        Outbox::Message message{};
        Confirmation confirmation;
    };

    /// `folder` keeps the messages on a disk; it may be null. At most `room` messages are not done.
    OutboxSender(Link& link, const NatsOptions& options, OutboxFolder* folder, OutboxCounts& counts,
                 std::size_t room);
    OutboxSender(const OutboxSender&) = delete;
    OutboxSender& operator=(const OutboxSender&) = delete;
    ~OutboxSender() { stop(); }

    /// Lets the sender's thread open the stream of its priority before it sends. Called before
    /// start().
    void openLater(Priority priority) noexcept { unopened_ = priority; }
    /// Before start() no answers arrive, so the sender may be destroyed while the link is open.
    void start();
    /// Hands a message over to the sending threads. Does not wait.
    void push(Record&& record) noexcept;
    /// The number of calls of push() that have begun. Their messages have no later positions.
    [[nodiscard]] std::uint64_t pushes() const noexcept { return pushes_.load(); }
    /// The number of messages that are done, the oldest first.
    [[nodiscard]] std::uint64_t done() const noexcept { return done_.load(); }
    /// Ends the sender's thread, and answers the confirmations of the remaining messages.
    void stop() noexcept;
    /// Whether the server accepts a message of this size with its headers.
    [[nodiscard]] bool fits(std::size_t size) const noexcept {
        return size + headerSize <= link_.maxPayload.load(std::memory_order_relaxed);
    }

private:
    using Clock = Park::Clock;
    using Guard = std::unique_lock<std::mutex>;
    static constexpr std::size_t headerSize = 128;  ///< the most bytes of a message's headers

    enum class Answer : unsigned char {
        waiting,  ///< the message was sent, and has no answer yet
        again,    ///< the server refused it, or it could not be sent; it is sent again
        stored,   ///< the server has stored it; the slot may be used again
        never     ///< the server will never accept it; the slot may be used again
    };

    struct Slot {
        Answer answer = Answer::waiting;
        Clock::time_point sentAt;
        Record record;
        [[nodiscard]] bool isDone() const noexcept {
            return answer == Answer::stored || answer == Answer::never;
        }
    };

    static Answer readAnswer(natsMsg* message) noexcept;

    static void answered(natsConnection*, natsSubscription*, natsMsg* message, void* closure);
    void answer(natsMsg* message) noexcept;
    void denied(std::string_view subject) noexcept override;
    void closed() noexcept override {
        counts_.freed.notifyAll();
        counts_.done.notifyAll();
    }

    void run() noexcept;
    /// Waits for a connection, and opens the stream.
    void open(Priority priority) noexcept;
    void giveUpDenied(const Guard& guard) noexcept;
    /// Frees the oldest slots whose messages are done.
    void collect(const Guard& guard) noexcept;
    void sendAgain(const Guard& guard, Clock::time_point now) noexcept;
    void sendNew(const Guard& guard, Clock::time_point now) noexcept;
    void send(const Guard& guard, std::uint64_t position, Clock::time_point now) noexcept;
    [[nodiscard]] natsStatus transmit(Record& record, std::uint64_t position) const noexcept;

    Slot& slotAt(const Guard&, std::uint64_t position) noexcept {
        return window_[position % window_.size()];
    }
    [[nodiscard]] bool hasRoom(const Guard&) const noexcept {
        return next_ - oldest_ < window_.size();
    }

    Link::Impl& link_;
    const DurableOptions options_;
    OutboxFolder* const folder_;
    std::string inbox_;
    std::optional<Priority> unopened_;  ///< priority of the stream that the thread opens
    OutboxCounts& counts_;
    MpscRing<Record, dynamicCapacity> ring_;
    Park pushed_;  ///< the sender's thread waits for it while the window has room
    Park freed_;   ///< the sender's thread waits for it while the window is full
    std::atomic<std::uint64_t> pushes_{0};
    std::atomic<std::uint64_t> done_{0};
    std::atomic<bool> isStopped_{false};
    std::mutex deniedMutex_;             ///< guards the following; locked after `mutex_`
    std::vector<std::string> denied_;    ///< subjects that the server has denied lately
    std::atomic<bool> isDenied_{false};  ///< whether denied_ has any
    std::mutex mutex_;                   ///< guards the following
    std::vector<Slot> window_;
    std::uint64_t oldest_ = 1;  ///< position of the oldest slot in use
    std::uint64_t next_ = 1;    ///< position of the next message: one behind the newest
    std::uint64_t reconnects_ = 0;
    Clock::time_point nextLook_;  ///< the time of the next check in sendAgain
    /// Whether the window has no room; written while mutex_ is held.
    std::atomic<bool> isFull_{false};
    std::thread thread_;
};

}  // namespace sluice::nats::detail
