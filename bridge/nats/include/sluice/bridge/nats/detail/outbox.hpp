#pragma once

#include <sluice/bridge/nats/detail/link.hpp>
#include <sluice/bridge/nats/options.hpp>
#include <sluice/bridge/nats/statistics.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/memory/buffer_pool.hpp>
#include <sluice/wait/park.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::nats::detail {

/// Returns the origin of the process that uses the folder: a random number, which later processes
/// read from the file "origin". Without a folder, or if the file cannot be written, each process
/// has another number. Never 0. The caller must have locked the folder.
std::uint64_t originOf(const std::string& outboxFolder);

/// The deleter of a Confirmation, which is the promise of Outlet::confirm() or null. A Confirmation
/// that is destroyed without an answer answers `closed`.
struct AnswerClosed {
    void operator()(std::promise<OutletResult>* promise) const noexcept {
        promise->set_value(OutletResult::closed);
        delete promise;
    }
};
using Confirmation = std::unique_ptr<std::promise<OutletResult>, AnswerClosed>;

inline void answer(Confirmation& confirmation, OutletResult result) noexcept {
    const std::unique_ptr<std::promise<OutletResult>> promise(confirmation.release());
    if (promise) {
        promise->set_value(result);
    }
}

class OutboxFolder;
class OutboxSender;

struct OutboxCounts {
    explicit OutboxCounts(std::size_t outboxMessages) noexcept
        : step(std::max<std::size_t>(1, outboxMessages / 8)) {}

    /// Waiting threads are woken once per `step` messages, because a wake-up costs more than a
    /// message.
    const std::size_t step;
    std::atomic<std::uint64_t> held{0};  ///< reservations and messages in the outbox
    std::atomic<std::uint64_t> accepted{0};
    std::atomic<std::uint64_t> acknowledged{0};
    std::atomic<std::uint64_t> undeliverable{0};
    std::atomic<std::uint64_t> resent{0};
    std::atomic<std::uint64_t> replayed{0};
    std::atomic<std::uint64_t> damaged{0};
    Park freed;  ///< notified when `held` falls to a multiple of `step`
    Park done;   ///< notified when messages are done, or when a link is closed
};

/// Keeps messages until JetStream has stored them. NatsBridge owns one.
///
///     Outbox::Reservation reservation;
///     if (outbox.reserve(Priority::high, reservation) == OutletResult::ok) {
///         ... write at most reservation.capacity() bytes to reservation.data() ...
///         result = outbox.commit(std::move(reservation), size, message);
///     }
///
/// Threads: any thread may call reserve(), reserveUntil(), commit(), fits(), roomOf() and fill().
/// Only the owner may call the other functions. Each priority has an outbox thread that sends, and
/// a libnats thread that receives acknowledgements.
///
/// Quotas: all priorities share a capacity of `outboxMessages` messages. Low-priority messages are
/// refused when 60 % of it is in use, medium-priority messages when 80 % is in use.
///
/// Order: each priority sends in the order of commit(). A message that is sent again may arrive
/// after at most `inFlight` later messages.
///
/// Shutdown: a reservation made before close() may still be committed afterwards. If the server
/// does not acknowledge its message in time, the message counts as abandoned.
///
/// Invariant: accepted = acknowledged + undeliverable + abandoned + held.
class Outbox {
public:
    /// The parts that identify a message for the server. `subject` must live until the outbox is
    /// destroyed.
    struct Message {
        Priority priority;
        const char* subject;
        std::uint64_t origin;
        std::uint32_t incarnation;
        std::uint32_t type;
        std::uint64_t sequence;
    };

    /// The reserved place of one message. The destructor frees the place if the message was not
    /// committed.
    class [[nodiscard]] Reservation {
    public:
        Reservation() noexcept = default;
        /// For a message of an earlier process, which is admitted even if the outbox is full.
        Reservation(OutboxCounts& counts, const unsigned char* bytes, std::size_t size)
            : copy_(bytes, bytes + size), counts_(&counts) {
            counts.held.fetch_add(1);
        }
        Reservation(Reservation&& other) noexcept
            : copy_(std::move(other.copy_)),
              counts_(std::exchange(other.counts_, nullptr)),
              buffer_(std::move(other.buffer_)) {}
        Reservation& operator=(Reservation&& other) noexcept {
            Reservation old(std::move(*this));
            copy_ = std::move(other.copy_);
            counts_ = std::exchange(other.counts_, nullptr);
            buffer_ = std::move(other.buffer_);
            return *this;
        }
        Reservation(const Reservation&) = delete;
        Reservation& operator=(const Reservation&) = delete;
        ~Reservation() {
            if (counts_ != nullptr) {
                buffer_.reset();
                giveBack(*counts_);
            }
        }

        [[nodiscard]] unsigned char* data() noexcept {
            return copy_.empty() ? reinterpret_cast<unsigned char*>(buffer_.data()) : copy_.data();
        }
        [[nodiscard]] std::size_t capacity() const noexcept { return buffer_.capacity(); }

    private:
        friend class Outbox;
        static void giveBack(OutboxCounts& counts) noexcept {
            if ((counts.held.fetch_sub(1) - 1) % counts.step == 0) {
                counts.freed.notifyAll();
            }
        }
        std::vector<unsigned char> copy_;  ///< empty if the message is in the buffer
        OutboxCounts* counts_ = nullptr;
        WritableBuffer buffer_;
    };

    /// Creates the streams. Throws std::runtime_error with one line if the server refuses, or if
    /// the folder cannot be used. Close the links before the outbox is destroyed.
    Outbox(Link& rest, Link& high, const NatsOptions& options);
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;
    ~Outbox();

    /// Reserves the place of one message. Does not wait. Returns `ok`, `congested` or `closed`.
    OutletResult reserve(Priority priority, Reservation& reservation) noexcept;
    /// Like reserve(), but waits while the outbox is full, until the deadline or close().
    OutletResult reserveUntil(Park::Clock::time_point deadline, Priority priority,
                              Reservation& reservation) noexcept;
    /// Returns true if the server answers within two seconds that it knows no importer of this
    /// subject. Returns false without asking if there is no connection, or if the server did not
    /// answer an earlier question.
    [[nodiscard]] bool lacksImporter(const std::string& subject);
    [[nodiscard]] bool fits(std::size_t size, Priority priority) const noexcept;
    /// Passes the first `size` bytes of the reservation to the sending thread. With outboxFolder,
    /// first writes them to the disk. Returns `ok` or `notOnDisk`. Takes the confirmation if the
    /// result is `ok`.
    OutletResult commit(Reservation&& reservation, std::size_t size, const Message& message,
                        Confirmation&& confirmation) noexcept;

    /// Waits until all messages committed before are done. Returns false after `timeout`.
    [[nodiscard]] bool flush(std::chrono::milliseconds timeout) noexcept;
    /// Refuses new messages, and waits until the server has stored all others. After `timeout`,
    /// returns false and abandons the remaining messages.
    bool close(std::chrono::milliseconds timeout) noexcept;

    /// A message of this priority is accepted while the outbox holds fewer messages than roomOf().
    [[nodiscard]] std::size_t roomOf(Priority priority) const noexcept {
        return rooms_[static_cast<std::size_t>(priority)];
    }
    void fill(NatsStatistics& statistics) const noexcept;

private:
    /// Creates the sender of a priority, and passes it the messages that an earlier process left in
    /// the folder. They may be more than outboxMessages, for example after a power failure.
    void addSender(Link& link, const NatsOptions& options, Priority priority);
    [[nodiscard]] bool isClosedFor(Priority priority) const noexcept;
    [[nodiscard]] bool isCutOff() const noexcept;
    void reportDisk() noexcept;

    Link::Impl& rest_;
    Link::Impl& high_;
    const DurableOptions options_;
    bool isAsking_ = true;  ///< false after a question without an answer; used by the owner
    OutboxCounts counts_;
    std::atomic<bool> isClosed_{false};
    /// True if the remaining messages are abandoned; set by close().
    std::atomic<bool> isEnded_{false};
    std::array<std::size_t, priorityCount> rooms_;
    BufferPool pool_;
    std::array<std::unique_ptr<OutboxFolder>, priorityCount> folders_;
    std::array<std::unique_ptr<OutboxSender>, priorityCount> senders_;
};

}  // namespace sluice::nats::detail
