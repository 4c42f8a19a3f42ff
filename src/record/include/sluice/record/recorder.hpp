#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/ring_storage.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/record/detail/mcap.hpp>
#include <sluice/record/detail/record_type.hpp>
#include <sluice/wire/buffer.hpp>
#include <sluice/wire/message_pack.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace sluice {

/// The form of the messages in a file.
enum class RecordEncoding : unsigned char {
    messagePack,  ///< small, and exact
    json,         ///< for viewers such as Foxglove; infinity and NaN become null
};

struct RecorderOptions {
    std::size_t laneSize = std::size_t{8} << 20U;   ///< bytes that wait for the disk, for each bus
    std::size_t chunkSize = std::size_t{1} << 20U;  ///< bytes before compression; at most 255 MiB
    std::chrono::milliseconds chunkAge{1000};       ///< how much a killed program loses at most
    int compressionLevel = 1;                       ///< of zstd; 0: none
    RecordEncoding encoding = RecordEncoding::messagePack;
};

/// The counts of a Recorder, in messages. After close(), accepted = written + failed.
struct RecorderStatistics {
    std::uint64_t accepted = 0;
    std::uint64_t lost = 0;         ///< not accepted: the disk did not keep up
    std::uint64_t unencodable = 0;  ///< not accepted: wire::encode() refused the message
    std::uint64_t written = 0;      ///< in the file
    std::uint64_t failed = 0;  ///< accepted, but the disk refused them, or the recorder was closed
    std::uint64_t fileSize = 0;  ///< in bytes
};

namespace detail {

/// A bounded queue of encoded messages, from one thread at a time to the recorder's thread.
class RecordLane {
public:
    struct Head {
        std::uint64_t logTime;
        std::uint64_t publishTime;
        std::uint32_t sequence;
        std::uint32_t size;  // of the data, which follows
        std::uint16_t channel;
    };

    explicit RecordLane(std::size_t atLeast)
        : mask_(roundUp(atLeast) - 1), bytes_(std::make_unique<unsigned char[]>(mask_ + 1)) {}

    /// Appends a message whose data encode(buffer) writes. Returns `closed` if encode() refuses it.
    template <class Encode>
    SendResult write(Head head, const Encode& encode) {
        const std::size_t end = end_.load(std::memory_order_relaxed);                 // its own
        const std::size_t used = end - readerBegin_.load(std::memory_order_acquire);  // E2 reuse
        const std::size_t room = mask_ + 1 - used;
        const std::size_t rest = mask_ + 1 - (end & mask_);
        SendResult result = place(end, std::min(room, rest), head, encode);
        if (result == SendResult::full && room > rest) {
            head.size = skip;
            std::memcpy(&bytes_[end & mask_], &head, sizeof head);
            result = place(end + rest, room - rest, head, encode);
        }
        return result;
    }

    /// Reads the oldest message without removing it. Returns false if there is none.
    bool peek(mcap::Message& message) noexcept {
        std::size_t at = readerBegin_.load(std::memory_order_relaxed);  // the reader's own
        if (at == end_.load(std::memory_order_acquire)) {               // E1 publish
            return false;
        }
        Head head;
        std::memcpy(&head, &bytes_[at & mask_], sizeof head);
        if (head.size == skip) {
            at += mask_ + 1 - (at & mask_);
            readerBegin_.store(at, std::memory_order_release);  // E2 reuse
            std::memcpy(&head, &bytes_[at & mask_], sizeof head);
        }
        const auto* const data = reinterpret_cast<const char*>(&bytes_[at & mask_]) + sizeof head;
        message = {head.channel, head.sequence, head.logTime, head.publishTime, {data, head.size}};
        return true;
    }
    /// Removes the oldest message, whose data has this size.
    void pop(std::size_t size) noexcept {
        const std::size_t at = readerBegin_.load(std::memory_order_relaxed);  // the reader's own
        readerBegin_.store(at + withHead(size), std::memory_order_release);   // E2 reuse
    }

private:
    // Positions count bytes without bound, in steps of sizeof(Head), so a head always fits before
    // the end of the ring. A message does not wrap: a head with `skip` fills the rest of the ring.
    //
    // Edges:
    //   E1 publish: a message is written, then end_ is released; peek() acquires end_.
    //   E2 reuse: a message is read, then readerBegin_ is released; write() acquires readerBegin_.

    static constexpr std::uint32_t skip = ~std::uint32_t{0};

    static std::size_t roundUp(std::size_t atLeast) noexcept {
        constexpr std::size_t most = ~std::size_t{0} / 4 + 1;
        return roundUpToPowerOfTwo(std::clamp<std::size_t>(atLeast, 4096, most));
    }
    static std::size_t withHead(std::size_t size) noexcept {
        return (2 * sizeof(Head) - 1 + size) / sizeof(Head) * sizeof(Head);
    }

    template <class Encode>
    SendResult place(std::size_t at, std::size_t room, Head& head, const Encode& encode) {
        if (room == 0) {
            return SendResult::full;
        }
        unsigned char* const to = &bytes_[at & mask_];
        wire::Buffer buffer(to + sizeof head, std::min<std::size_t>(room, skip) - sizeof head);
        if (!encode(buffer)) {
            return buffer.hasOverflowed() ? SendResult::full : SendResult::closed;
        }
        head.size = static_cast<std::uint32_t>(buffer.size());
        std::memcpy(to, &head, sizeof head);
        end_.store(at + withHead(head.size), std::memory_order_release);  // E1 publish
        return SendResult::ok;
    }

    const std::size_t mask_;
    const std::unique_ptr<unsigned char[]> bytes_;
    alignas(cacheLineSize) std::atomic<std::size_t> end_{0};
    alignas(cacheLineSize) std::atomic<std::size_t> readerBegin_{0};
};

/// One type of message from one source. Its MCAP channels differ by priority.
struct RecordedType {
    std::string topic;
    RecordLane* lane = nullptr;
    std::array<std::uint16_t, priorityCount> channels{};
    std::array<std::uint32_t, priorityCount> sequences{};
    std::int64_t systemMinusSteady = 0;  ///< in nanoseconds, when the recorder began
    SingleWriterCounter<> accepted;
    SingleWriterCounter<> lost;
    SingleWriterCounter<> unencodable;

    [[nodiscard]] std::uint64_t stamp(std::chrono::steady_clock::time_point time) const noexcept {
        const auto sinceStart = std::chrono::nanoseconds(time.time_since_epoch()).count();
        return static_cast<std::uint64_t>(sinceStart + systemMinusSteady);
    }
};

}  // namespace detail

/// Records messages of one type: a handler for a bus, or to be called by any other code.
///
///     const auto distances = recorder.channel<Distance>("fusion/Distance");
///     distances(Distance{0.4});
///
/// Its Recorder must outlive its last call. Messages after Recorder::close() count as failed.
///
/// Thread safety: one thread at a time may call a channel and its copies.
///
/// Performance: a call never waits and allocates no memory.
template <class T>
class RecordChannel {
public:
    void operator()(const T& message) const { write(message, NoHeader()); }
    template <class Header>
    void operator()(const T& message, const Header& header) const {
        write(message, header);
    }

private:
    friend class Recorder;
    struct NoHeader {
        static constexpr bool hasId = false;
        static constexpr bool hasTimeStamp = false;
        static constexpr bool hasPriority = false;
    };

    explicit RecordChannel(detail::RecordedType& type) noexcept : type_(&type) {}

    template <class Header>
    void write(const T& message, [[maybe_unused]] const Header& header) const {
        auto priority = Priority::medium;
        if constexpr (Header::hasPriority) {
            priority = header.priority;
        }
        const std::size_t index = detail::indexOf(priority);
        detail::RecordLane::Head head{};
        head.channel = type_->channels[index];
        head.logTime = type_->stamp(std::chrono::steady_clock::now());
        head.publishTime = head.logTime;
        if constexpr (Header::hasTimeStamp) {
            if constexpr (std::is_same_v<decltype(header.timeStamp),
                                         std::chrono::steady_clock::time_point>) {
                head.publishTime = type_->stamp(header.timeStamp);
            }
        }
        head.sequence = type_->sequences[index]++;
        if constexpr (Header::hasId) {
            head.sequence = static_cast<std::uint32_t>(header.id & ~std::uint32_t{0});
        }
        const SendResult result = type_->lane->write(
            head, [&](wire::Buffer& buffer) { return wire::encode(message, buffer); });
        (result == SendResult::ok     ? type_->accepted
         : result == SendResult::full ? type_->lost
                                      : type_->unencodable)
            .add(1);
    }

    detail::RecordedType* type_;
};

/// Records the messages of a bus in an MCAP file, which Replay, the MCAP tools and, with
/// RecordEncoding::json, Foxglove read.
///
///     sluice::Recorder recorder("run.mcap");
///     recorder.record(bus, "control");          // or record<Scan, Stop>(bus, "control")
///
/// A handler copies each message into a lane of bounded size, from which a thread of the recorder
/// compresses and writes it. Publishers and handlers never wait for the disk. If the disk does not
/// keep up, messages are lost; statistics() and the file count them.
///
/// Each message type and priority is an MCAP channel. The topic is "<name>/<type>", with the type's
/// namespaces if the bus has another type of its name.
///
/// The buses must outlive the recorder, or its close().
///
/// Thread safety: one thread at a time may call record(), channel() and close(); any thread may
/// call statistics(). A handler must not call close().
///
/// Errors: the constructor throws std::runtime_error if the file exists or cannot be created, or
/// if the chunk size is too large. The file has mode 0600.
class Recorder {
public:
    explicit Recorder(const std::string& path, const RecorderOptions& options = {});
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    ~Recorder();

    /// Records all types of messages of the bus, or only those that are named. Messages that a
    /// visitor takes, see Bus::processWith(), are not recorded: call a channel() in the visitor.
    template <class... Only, class AnyBus>
    void record(AnyBus& bus, const std::string& name = "bus") {
        using Types = std::conditional_t<sizeof...(Only) == 0, typename AnyBus::MessageTypes,
                                         ListOf<Only...>>;
        recordEach(bus, name, Types());
    }

    /// Returns a channel of its own lane.
    template <class T>
    [[nodiscard]] RecordChannel<T> channel(const std::string& topic) {
        return RecordChannel<T>(add(addLane(), topic, detail::recordTypeOf<T>(), false));
    }

    [[nodiscard]] RecorderStatistics statistics() const;

    /// Ends all subscriptions, and writes what is left. Idempotent.
    void close();

private:
    template <class... Ts>
    struct ListOf {};

    template <class AnyBus, template <class...> class List, class... Ts>
    void recordEach(AnyBus& bus, const std::string& name, List<Ts...> /*types*/) {
        constexpr const typename AnyBus::MessageTypes* all = nullptr;
        detail::RecordLane& lane = addLane();
        const auto addType = [&](const detail::RecordType& type) -> detail::RecordedType& {
            return add(lane, name + "/" + type.name, type, AnyBus::Header::hasPriority);
        };
        (subscriptions_.push_back(bus.template subscribe<Ts>(
             RecordChannel<Ts>(addType(detail::recordTypeOf<Ts>(detail::nameAmong<Ts>(all)))))),
         ...);
    }

    detail::RecordLane& addLane();
    detail::RecordedType& add(detail::RecordLane& lane, const std::string& topic,
                              const detail::RecordType& type, bool hasPriorities);
    void run();
    void collect(const std::vector<detail::RecordLane*>& lanes, bool isLast);
    void endChunk();
    void writeCounts();

    const RecorderOptions options_;
    const std::int64_t systemMinusSteady_;
    SingleWriterCounter<> written_;  // these three are written by the thread
    SingleWriterCounter<> failed_;
    SingleWriterNumber<> fileSize_;

    mutable std::mutex mutex_;  // for the members below; never held while the disk is in use
    std::condition_variable wake_;
    bool isClosing_ = false;
    bool isClosed_ = false;  // the thread has ended
    std::deque<detail::RecordLane> lanes_;
    std::deque<detail::RecordedType> types_;
    std::vector<detail::mcap::Channel> added_;  // that the thread has not seen yet
    std::uint16_t channels_ = 0;

    // Used by the thread alone.
    detail::mcap::Writer file_;
    std::size_t known_ = 0;                        // channels in file_
    std::uint64_t pending_ = 0;                    // messages in its chunk
    std::uint64_t chunkBegin_ = 0;                 // when the oldest of them was collected
    detail::mcap::Pairs counts_{{"failed", "0"}};  // that the file has

    std::vector<Subscription> subscriptions_;  // their handlers use lanes_ and types_
    std::thread thread_;
};

}  // namespace sluice
