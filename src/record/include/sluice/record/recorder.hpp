#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/ring_storage.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/record/detail/record_type.hpp>
#include <sluice/wire/buffer.hpp>
#include <sluice/wire/message_pack.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
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
};

/// The counts of a Recorder, in messages. After close(), accepted = written + failed. When some
/// were lost, a message of this type is recorded with the topic "recorder/RecorderStatistics".
struct RecorderStatistics {
    std::uint64_t accepted = 0;
    std::uint64_t lost = 0;         ///< not accepted: the disk did not keep up
    std::uint64_t unencodable = 0;  ///< not accepted: wire::encode() refused the message
    std::uint64_t written = 0;      ///< in the file
    std::uint64_t failed = 0;  ///< accepted, but the disk refused them, or the recorder was closed
};
constexpr auto describe(wire::Type<RecorderStatistics>) {
    using Counts = RecorderStatistics;
    using wire::field;
    return wire::fields(field("accepted", &Counts::accepted), field("lost", &Counts::lost),
                        field("unencodable", &Counts::unencodable),
                        field("written", &Counts::written), field("failed", &Counts::failed));
}

namespace detail {

template <class TimePoint>
std::uint64_t nanosecondsOf(TimePoint time) noexcept {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(time.time_since_epoch()).count());
}

/// A bounded queue of encoded messages, from one thread at a time to the recorder's thread. In it,
/// a message is followed by its data, and has times of the steady clock.
class RecordLane {
public:
    static constexpr std::size_t most = std::size_t{1} << 27U;

    /// A message is not larger than the lane, so it fits into a chunk.
    explicit RecordLane(std::size_t atLeast)
        : mask_(roundUpToPowerOfTwo(std::max(atLeast, std::size_t{4096})) - 1),
          bytes_(new unsigned char[2 * (mask_ + 1)]) {}  // its pages are used when written

    /// Appends a message whose data encode(buffer) writes, and counts it.
    template <class Encode>
    void write(mcap::Message message, const Encode& encode) {
        const std::size_t end = end_.load(std::memory_order_relaxed);           // its own
        const std::size_t used = end - begin_.load(std::memory_order_acquire);  // E2 reuse
        unsigned char* const to = &bytes_[end & mask_];
        wire::Buffer buffer(to, mask_ + 1 - used);
        if (buffer.extend(sizeof message) != nullptr && encode(buffer)) {
            message.data = {reinterpret_cast<const char*>(to) + sizeof message,
                            buffer.size() - sizeof message};
            std::memcpy(to, &message, sizeof message);
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
        std::memcpy(&message, &bytes_[at & mask_], sizeof message);
        return true;
    }
    /// Removes the oldest message, whose data has this size.
    void pop(std::size_t size) noexcept {
        const std::size_t at = begin_.load(std::memory_order_relaxed) + sizeof(mcap::Message);
        begin_.store(at + size, std::memory_order_release);  // E2 reuse
    }

    SingleWriterCounter<> accepted, lost, unencodable;

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
/// Its Recorder must outlive its last call. Messages after Recorder::close() count as failed. One
/// thread at a time may call a channel and its copies. A call never waits and allocates no memory.
template <class T>
class RecordChannel {
public:
    template <class Header = MessageHeader<BareBusTraits>>
    void operator()(const T& message, [[maybe_unused]] const Header& header = {}) const {
        detail::mcap::Message record;
        auto priority = Priority::medium;
        if constexpr (Header::hasPriority) {
            priority = header.priority;
        }
        record.channel = static_cast<std::uint16_t>(channels_ + detail::indexOf(priority));
        record.logTime = detail::nanosecondsOf(std::chrono::steady_clock::now());
        record.publishTime = record.logTime;
        if constexpr (Header::hasTimeStamp) {
            if constexpr (std::is_same_v<decltype(header.timeStamp),
                                         std::chrono::steady_clock::time_point>) {
                record.publishTime = detail::nanosecondsOf(header.timeStamp);
            }
        }
        if constexpr (Header::hasId) {
            record.sequence = static_cast<std::uint32_t>(header.id & ~std::uint32_t{0});
        }
        lane_->write(record, [&](wire::Buffer& buffer) { return wire::encode(message, buffer); });
    }

private:
    friend class Recorder;
    RecordChannel(detail::RecordLane& lane, std::size_t channels) noexcept
        : lane_(&lane), channels_(channels) {}

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
/// keep up, messages are lost; statistics() and the file count them. The buses must outlive the
/// recorder, or its close().
///
/// Thread safety: one thread at a time may call record(), channel() and close(); any thread may
/// call statistics(). A handler must not call close().
///
/// Errors: the constructor throws std::runtime_error if the file exists or cannot be created; the
/// file has mode 0600. Calls setupError() for sizes beyond their limits, for more than 21,845
/// types, and if a type has Traits::maxHandlers handlers; the types before it are recorded.
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

    /// Ends all subscriptions, and writes what is left. Takes up to 10 ms more. Idempotent.
    void close();

private:
    template <class AnyBus, class... Ts>
    void recordEach(AnyBus& bus, const std::string& name, const Messages<Ts...>* /*types*/) {
        detail::RecordLane& lane = addLane();
        (recordOne<Ts>(bus, name, lane), ...);
    }
    template <class T, class AnyBus>
    void recordOne(AnyBus& bus, const std::string& name, detail::RecordLane& lane) {
        constexpr const typename AnyBus::MessageTypes* all = nullptr;
        auto type = detail::recordTypeOf<T>(all);
        const RecordChannel<T> channel(lane, add(name + "/" + type.name, std::move(type)));
        Subscription subscription = bus.template trySubscribe<T>(channel);
        if (const std::size_t most = bus.template subscriptionCount<T>();
            !subscription && !bus.isClosed()) {
            setupError("handlers of a recorded message type", most + 1, most);
        }
        subscriptions_.push_back(std::move(subscription));
    }

    detail::RecordLane& addLane();
    std::size_t add(const std::string& topic, detail::RecordType&& type);
    void run();
    void collect(bool isLast);
    void endChunk();

    const RecorderOptions options_;
    const std::uint64_t systemMinusSteady_;  // in nanoseconds, when the recorder began
    SingleWriterCounter<> written_;          // these two are written by the thread
    SingleWriterCounter<> failed_;

    std::atomic<bool> isClosing_{false};
    std::atomic<bool> isClosed_{false};  // the thread has ended

    mutable std::mutex mutex_;  // for the two below; never held while the disk is in use
    std::deque<detail::RecordLane> lanes_;
    std::vector<std::pair<std::string, detail::RecordType>> types_;  // with their topics

    // Used by the thread alone.
    const std::unique_ptr<detail::mcap::Writer> file_;
    std::vector<detail::RecordLane*> known_;  // lanes_, whose messages' channels are in file_
    std::uint64_t pending_ = 0;               // messages in its chunk
    std::chrono::steady_clock::time_point chunkBegin_;  // when the oldest of them was collected
    std::uint64_t reported_ = 0;                        // missing messages that the file counts

    std::vector<Subscription> subscriptions_;  // their handlers use lanes_
    std::thread thread_;
};

}  // namespace sluice
