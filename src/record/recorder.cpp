#include "mcap.hpp"

#include <sluice/base/blocked_signals.hpp>
#include <sluice/record/recorder.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>
#include <pthread.h>

namespace sluice {

namespace {

using Nanoseconds = std::chrono::nanoseconds;

/// Of a chunk: its record has a head, too.
constexpr std::size_t maxChunk = detail::mcap::Reader::maxContent - (std::size_t{1} << 20U);

RecorderOptions checked(const RecorderOptions& options) {
    if (options.chunkSize > maxChunk) {
        throw std::runtime_error("record: chunkSize is " + std::to_string(options.chunkSize) +
                                 ", the most is " + std::to_string(maxChunk));
    }
    return options;
}

std::int64_t systemMinusSteady() noexcept {
    const Nanoseconds steady = std::chrono::steady_clock::now().time_since_epoch();
    const Nanoseconds system = std::chrono::system_clock::now().time_since_epoch();
    return (system - steady).count();
}

}  // namespace

class Recorder::Impl {
public:
    Impl(const std::string& path, const RecorderOptions& options)
        : options_(checked(options)),
          offset_(systemMinusSteady()),
          file_(path, options.compressionLevel) {
        const detail::BlockedSignals inherited;
        thread_ = std::thread([this] { run(); });
    }

    detail::RecordLane& addLane() {
        const std::lock_guard lock(mutex_);
        return lanes_.emplace_back(options_.laneSize);
    }

    detail::RecordedType& add(detail::RecordLane& lane, const std::string& topic,
                              const detail::RecordType& type, bool hasPriorities) {
        detail::mcap::Channel channel;
        channel.topic = topic;
        channel.schemaName = type.name;
        channel.schemaEncoding = "jsonschema";
        channel.schema = type.jsonSchema;
        channel.encoding = options_.encoding == RecordEncoding::json ? "json" : "msgpack";
        channel.metadata = {{"schema_hash", std::to_string(type.hash)}};
        const std::lock_guard lock(mutex_);
        if (channels_ + priorityCount > std::numeric_limits<std::uint16_t>::max()) {
            throw std::runtime_error("record: a file has at most 65,535 channels");
        }
        Source& source = sources_.emplace_back();
        source.topic = topic;
        source.type.lane = &lane;
        source.type.systemMinusSteady = offset_;
        for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
            if (hasPriorities) {
                channel.metadata.resize(1);
                channel.metadata.emplace_back("priority", toString(priority));
            }
            if (hasPriorities || priority == Priority::medium) {
                source.type.channels[detail::indexOf(priority)] = channels_++;
                added_.push_back(channel);
            }
        }
        return source.type;
    }

    RecorderStatistics statistics() {
        const std::lock_guard lock(mutex_);
        RecorderStatistics result;
        result.written = written_.get();
        result.failed = failed_.get();
        result.fileSize = fileSize_.get();
        for (const Source& each : sources_) {
            result.accepted += each.type.accepted.get();
            result.lost += each.type.lost.get();
            result.unencodable += each.type.unencodable.get();
        }
        // A call counts its message after the thread may have written it.
        result.accepted = std::max(result.accepted, result.written + result.failed);
        if (isClosed_) {  // later calls, too, left their messages in the lanes
            result.failed = result.accepted - result.written;
        }
        return result;
    }

    void close() {
        {
            const std::lock_guard lock(mutex_);
            isClosing_ = true;
        }
        wake_.notify_one();
        if (thread_.joinable()) {
            thread_.join();
        }
        const std::lock_guard lock(mutex_);
        isClosed_ = true;
    }

private:
    static constexpr std::chrono::milliseconds interval{10};

    struct Source {
        std::string topic;
        detail::RecordedType type;
    };

    void run() {
        // A thread inherits the scheduling of its creator, which may be a real-time one.
        const sched_param ordinary{};
        (void)::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &ordinary);
        for (bool isLast = false; !isLast;) {
            std::vector<detail::RecordLane*> lanes;
            std::vector<detail::mcap::Channel> added;
            {
                std::unique_lock lock(mutex_);
                isLast = wake_.wait_for(lock, interval, [this] { return isClosing_; });
                added.swap(added_);
                for (detail::RecordLane& each : lanes_) {
                    lanes.push_back(&each);
                }
            }
            try {
                for (const auto& each : added) {
                    known_ = file_.add(each) + std::size_t{1};
                }
                collect(lanes, isLast);
            } catch (const std::exception&) {  // no memory: the lanes keep the next messages
                file_.dropChunk();
                failed_.add(std::exchange(pending_, 0));
            }
        }
        (void)writeCounts();
        (void)file_.finish();
        fileSize_.set(file_.fileSize());
    }

    /// Moves what is in the lanes to the file, the oldest message first.
    void collect(const std::vector<detail::RecordLane*>& lanes, bool isLast) {
        const std::uint64_t now = systemNow();
        for (;;) {
            detail::RecordLane* from = nullptr;
            detail::RecordLane::Head head{};
            detail::mcap::Message message;
            for (detail::RecordLane* lane : lanes) {
                detail::RecordLane::Head each{};
                std::string_view data;
                // Later messages wait, because another lane may receive an older one.
                if (lane->peek(each, data) && (isLast || each.logTime <= now) &&
                    each.channel < known_ && (from == nullptr || each.logTime < head.logTime)) {
                    from = lane;
                    head = each;
                    message.data = data;
                }
            }
            if (from == nullptr) {
                break;
            }
            message.channel = head.channel;
            message.sequence = head.sequence;
            message.logTime = head.logTime;
            message.publishTime = head.publishTime;
            const std::string json = jsonOf(message.data);
            if (!json.empty()) {
                message.data = json;
            }
            if (file_.chunkSize() + message.data.size() > maxChunk) {
                endChunk();
            }
            chunkBegin_ = pending_ == 0 ? now : chunkBegin_;
            if (message.data.size() > maxChunk) {
                failed_.add(1);
            } else {
                file_.write(message);
                ++pending_;
            }
            from->pop(head);
            if (file_.chunkSize() >= options_.chunkSize) {
                endChunk();
            }
        }
        const auto age = static_cast<std::uint64_t>(Nanoseconds(options_.chunkAge).count());
        if (pending_ != 0 && (isLast || now - chunkBegin_ >= age)) {
            endChunk();
        }
    }

    std::string jsonOf(std::string_view data) const {
        if (options_.encoding != RecordEncoding::json) {
            return {};
        }
        using Json = nlohmann::ordered_json;
        return Json::from_msgpack(data.begin(), data.end()).dump();
    }

    void endChunk() {
        (file_.endChunk() ? written_ : failed_).add(std::exchange(pending_, 0));
        fileSize_.set(file_.fileSize());
        (void)writeCounts();
    }

    /// Writes what is not in the file, if that has changed.
    bool writeCounts() {
        detail::mcap::Pairs counts{{"failed", std::to_string(failed_.get())}};
        {
            const std::lock_guard lock(mutex_);
            for (const Source& each : sources_) {
                const std::uint64_t lost = each.type.lost.get() + each.type.unencodable.get();
                if (lost != 0) {
                    counts.emplace_back("lost " + each.topic, std::to_string(lost));
                }
            }
        }
        if (counts == counts_) {
            return true;
        }
        const bool isWritten = file_.addMetadata("sluice.lost", counts);
        if (isWritten) {
            counts_ = std::move(counts);
        }
        return isWritten;
    }

    [[nodiscard]] std::uint64_t systemNow() const noexcept {
        const Nanoseconds steady = std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(steady.count() + offset_);
    }

    const RecorderOptions options_;
    const std::int64_t offset_;
    SingleWriterCounter<> written_;  // these three are written by the thread
    SingleWriterCounter<> failed_;
    SingleWriterNumber<> fileSize_;

    std::mutex mutex_;  // for the members below; never held while the disk is in use
    std::condition_variable wake_;
    bool isClosing_ = false;
    bool isClosed_ = false;  // the thread has ended
    std::deque<detail::RecordLane> lanes_;
    std::deque<Source> sources_;
    std::vector<detail::mcap::Channel> added_;  // that the thread has not seen yet
    std::uint16_t channels_ = 0;

    // Used by the thread alone.
    detail::mcap::Writer file_;
    std::size_t known_ = 0;                        // channels in file_
    std::uint64_t pending_ = 0;                    // messages in its chunk
    std::uint64_t chunkBegin_ = 0;                 // when the oldest of them was collected
    detail::mcap::Pairs counts_{{"failed", "0"}};  // that the file has

    std::thread thread_;
};

Recorder::Recorder(const std::string& path, const RecorderOptions& options)
    : impl_(std::make_unique<Impl>(path, options)) {
}

Recorder::~Recorder() {
    close();
}

void Recorder::close() {
    subscriptions_.clear();
    impl_->close();
}

RecorderStatistics Recorder::statistics() const {
    return impl_->statistics();
}

detail::RecordLane& Recorder::addLane() {
    return impl_->addLane();
}

detail::RecordedType& Recorder::add(detail::RecordLane& lane, const std::string& topic,
                                    const detail::RecordType& type, bool hasPriorities) {
    return impl_->add(lane, topic, type, hasPriorities);
}

}  // namespace sluice
