#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/ring_storage.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/record/detail/mcap.hpp>
#include <sluice/record/detail/record_type.hpp>
#include <sluice/wire/buffer.hpp>
#include <sluice/wire/message_pack.hpp>

#include <algorithm>
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
#include <utility>
#include <vector>

namespace sluice {

struct RecorderOptions {
    std::size_t laneSize = std::size_t{8} << 20U;   ///< bytes that wait; at most 128 MiB
    std::size_t chunkSize = std::size_t{1} << 20U;  ///< bytes before compression; at most 16 MiB
    std::chrono::milliseconds chunkAge{1000};       ///< how much a killed program loses at most
    int compressionLevel = 1;                       ///< of zstd
};

/// The counts of a Recorder, in messages. After close(), accepted = written + failed. When some
/// were lost, a message of this type is recorded with the topic "recorder/RecorderStatistics".
struct RecorderStatistics {
    std::uint64_t accepted = 0;
    std::uint64_t lost = 0;         ///< not accepted: the disk did not keep up
    std::uint64_t unencodable = 0;  ///< not accepted: wire::encode() refused the message
    std::uint64_t written = 0;      ///< in the file
    std::uint64_t failed = 0;  ///< accepted, but the disk refused them, or the recorder was closed
    std::uint64_t fileSize = 0;  ///< in bytes
};
constexpr auto describe(wire::Type<RecorderStatistics>) {
    using Counts = RecorderStatistics;
    using wire::field;
    return wire::fields(field("accepted", &Counts::accepted), field("lost", &Counts::lost),
                        field("unencodable", &Counts::unencodable),
                        field("written", &Counts::written), field("failed", &Counts::failed),
                        field("fileSize", &Counts::fileSize));
}

namespace detail {

/// A bounded queue of encoded messages, from one thread at a time to the recorder's thread.
class RecordLane {
public:
    struct Head {
        std::uint64_t logTime;  // both by the steady clock
        std::uint64_t publishTime;
        std::uint32_t sequence;
        std::uint32_t size;  // of the data, which follows
        std::uint16_t channel;
    };

    static constexpr std::size_t most = std::size_t{1} << 27U;

    /// A message is not larger than the lane, so it fits into a chunk.
    explicit RecordLane(std::size_t atLeast)
        : mask_(roundUpToPowerOfTwo(std::max(atLeast, std::size_t{4096})) - 1),
          bytes_(new unsigned char[2 * (mask_ + 1)]) {}  // its pages are used when written

    /// Appends a message whose data encode(buffer) writes, and counts it.
    template <class Encode>
    void write(Head head, const Encode& encode) {
        const std::size_t end = end_.load(std::memory_order_relaxed);           // its own
        const std::size_t used = end - begin_.load(std::memory_order_acquire);  // E2 reuse
        unsigned char* const to = &bytes_[end & mask_];
        wire::Buffer buffer(to, mask_ + 1 - used);
        if (buffer.extend(sizeof head) != nullptr && encode(buffer)) {
            head.size = static_cast<std::uint32_t>(buffer.size() - sizeof head);
            std::memcpy(to, &head, sizeof head);
            accepted.add(1);
            end_.store(end + buffer.size(), std::memory_order_release);  // E1 publish
        } else {
            (buffer.hasOverflowed() ? lost : unencodable).add(1);
        }
    }

    /// Reads the oldest message without removing it. Returns false if there is none.
    bool peek(mcap::Message& message) const noexcept {
        const std::size_t at = begin_.load(std::memory_order_relaxed);  // the reader's own
        if (at == end_.load(std::memory_order_acquire)) {               // E1 publish
            return false;
        }
        Head head;
        std::memcpy(&head, &bytes_[at & mask_], sizeof head);
        const auto* const data = reinterpret_cast<const char*>(&bytes_[at & mask_]) + sizeof head;
        message = {head.channel, head.sequence, head.logTime, head.publishTime, {data, head.size}};
        return true;
    }
    /// Removes the oldest message, whose data has this size.
    void pop(std::size_t size) noexcept {
        const std::size_t at = begin_.load(std::memory_order_relaxed);      // the reader's own
        begin_.store(at + sizeof(Head) + size, std::memory_order_release);  // E2 reuse
    }

    SingleWriterCounter<> accepted;
    SingleWriterCounter<> lost;
    SingleWriterCounter<> unencodable;

private:
    // Positions count bytes without bound. A message begins in the first half of the memory and
    // does not wrap: the second half is for the rest of a message that begins near its end.
    //
    // Edges:
    //   E1 publish: a message is written, then end_ is released; peek() acquires end_.
    //   E2 reuse: a message is read, then begin_ is released; write() acquires begin_.

    const std::size_t mask_;
    const std::unique_ptr<unsigned char[]> bytes_;
    alignas(cacheLineSize) std::atomic<std::size_t> end_{0};
    alignas(cacheLineSize) std::atomic<std::size_t> begin_{0};
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
    void operator()(const T& message) const { (*this)(message, MessageHeader<BareBusTraits>()); }
    template <class Header>
    void operator()(const T& message, [[maybe_unused]] const Header& header) const {
        detail::RecordLane::Head head{};
        auto priority = Priority::medium;
        if constexpr (Header::hasPriority) {
            priority = header.priority;
        }
        head.channel = static_cast<std::uint16_t>(channels_ + detail::indexOf(priority));
        head.logTime = stamp(std::chrono::steady_clock::now());
        head.publishTime = head.logTime;
        if constexpr (Header::hasTimeStamp) {
            if constexpr (std::is_same_v<decltype(header.timeStamp),
                                         std::chrono::steady_clock::time_point>) {
                head.publishTime = stamp(header.timeStamp);
            }
        }
        if constexpr (Header::hasId) {
            head.sequence = static_cast<std::uint32_t>(header.id & ~std::uint32_t{0});
        }
        lane_->write(head, [&](wire::Buffer& buffer) { return wire::encode(message, buffer); });
    }

private:
    friend class Recorder;
    RecordChannel(detail::RecordLane& lane, std::size_t channels) noexcept
        : lane_(&lane), channels_(channels) {}

    static std::uint64_t stamp(std::chrono::steady_clock::time_point time) noexcept {
        const std::chrono::nanoseconds sinceBoot = time.time_since_epoch();
        return static_cast<std::uint64_t>(sinceBoot.count());
    }

    detail::RecordLane* lane_;
    std::size_t channels_;  // the number of the first of three, one for each priority
};

/// Records the messages of a bus in an MCAP file, which Replay and the MCAP tools read.
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
/// Errors: the constructor throws std::runtime_error if the file exists or cannot be created; the
/// file has mode 0600. record() and channel() throw it if the file has 21,845 types, and record()
/// if a type has Traits::maxHandlers handlers; the types before it are recorded.
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
                                         Messages<Only...>>;
        recordEach(bus, name, static_cast<const Types*>(nullptr));
    }

    /// Returns a channel of its own lane.
    template <class T>
    [[nodiscard]] RecordChannel<T> channel(const std::string& topic) {
        detail::RecordLane& lane = addLane();
        return RecordChannel<T>(lane, add(topic, detail::recordTypeOf<T>()));
    }

    [[nodiscard]] RecorderStatistics statistics() const;

    /// Ends all subscriptions, and writes what is left. Idempotent.
    void close();

private:
    template <class AnyBus, class... Ts>
    void recordEach(AnyBus& bus, const std::string& name, const Messages<Ts...>* /*types*/) {
        constexpr const typename AnyBus::MessageTypes* all = nullptr;
        detail::RecordLane& lane = addLane();
        const auto addType = [&](const detail::RecordType& type) {
            return add(name + "/" + type.name, type);
        };
        const auto keep = [&](Subscription&& subscription) {
            const bool isActive = subscription || bus.isClosed();
            add(std::move(subscription), isActive);
        };
        (keep(bus.template trySubscribe<Ts>(RecordChannel<Ts>(
             lane, addType(detail::recordTypeOf<Ts>(detail::nameAmong<Ts>(all)))))),
         ...);
    }

    detail::RecordLane& addLane();
    std::size_t add(const std::string& topic, const detail::RecordType& type);
    void add(Subscription&& subscription, bool isActive);
    void run();
    void collect(bool isLast);
    void endChunk();

    const RecorderOptions options_;
    const std::uint64_t systemMinusSteady_;  // in nanoseconds, when the recorder began
    SingleWriterCounter<> written_;          // these three are written by the thread
    SingleWriterCounter<> failed_;
    SingleWriterNumber<> fileSize_;

    mutable std::mutex mutex_;  // for the members below; never held while the disk is in use
    std::condition_variable wake_;
    bool isClosing_ = false;
    bool isClosed_ = false;  // the thread has ended
    std::deque<detail::RecordLane> lanes_;
    std::vector<detail::mcap::Channel> channels_;

    // Used by the thread alone.
    detail::mcap::Writer file_;
    std::vector<detail::RecordLane*> known_;  // lanes_, whose messages' channels are in file_
    std::uint64_t pending_ = 0;               // messages in its chunk
    std::chrono::steady_clock::time_point chunkBegin_;  // when the oldest of them was collected
    std::uint64_t reported_ = 0;                        // missing messages that the file counts

    std::vector<Subscription> subscriptions_;  // their handlers use lanes_
    std::thread thread_;
};

}  // namespace sluice
