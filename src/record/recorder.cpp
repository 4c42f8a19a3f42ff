#include <sluice/base/blocked_signals.hpp>
#include <sluice/record/recorder.hpp>

#include <exception>
#include <limits>
#include <stdexcept>
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

Recorder::Recorder(const std::string& path, const RecorderOptions& options)
    : options_(checked(options)),
      systemMinusSteady_(systemMinusSteady()),
      file_(path, options.compressionLevel) {
    const detail::BlockedSignals inherited;
    thread_ = std::thread([this] { run(); });
}

Recorder::~Recorder() {
    close();
}

void Recorder::close() {
    subscriptions_.clear();
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

RecorderStatistics Recorder::statistics() const {
    const std::lock_guard lock(mutex_);
    RecorderStatistics result;
    result.written = written_.get();
    result.failed = failed_.get();
    result.fileSize = fileSize_.get();
    for (const detail::RecordedType& each : types_) {
        result.accepted += each.accepted.get();
        result.lost += each.lost.get();
        result.unencodable += each.unencodable.get();
    }
    // A call counts its message after the thread may have written it.
    result.accepted = std::max(result.accepted, result.written + result.failed);
    if (isClosed_) {  // later calls, too, left their messages in the lanes
        result.failed = result.accepted - result.written;
    }
    return result;
}

detail::RecordLane& Recorder::addLane() {
    const std::lock_guard lock(mutex_);
    return lanes_.emplace_back(options_.laneSize);
}

detail::RecordedType& Recorder::add(detail::RecordLane& lane, const std::string& topic,
                                    const detail::RecordType& type, bool hasPriorities) {
    const char* const encoding = options_.encoding == RecordEncoding::json ? "json" : "msgpack";
    detail::mcap::Channel channel{topic,        type.name,
                                  "jsonschema", type.jsonSchema,
                                  encoding,     {{"schema_hash", std::to_string(type.hash)}}};
    const std::lock_guard lock(mutex_);
    if (channels_ + priorityCount > std::numeric_limits<std::uint16_t>::max()) {
        throw std::runtime_error("record: a file has at most 65,535 channels");
    }
    detail::RecordedType& added = types_.emplace_back();
    added.topic = topic;
    added.lane = &lane;
    added.systemMinusSteady = systemMinusSteady_;
    for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
        if (hasPriorities) {
            channel.metadata.resize(1);
            channel.metadata.emplace_back("priority", toString(priority));
        }
        if (hasPriorities || priority == Priority::medium) {
            added.channels[detail::indexOf(priority)] = channels_++;
            added_.push_back(channel);
        }
    }
    return added;
}

// ---- The thread

void Recorder::run() {
    // A thread inherits the scheduling of its creator, which may be a real-time one.
    const sched_param ordinary{};
    (void)::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &ordinary);
    for (bool isLast = false; !isLast;) {
        std::vector<detail::RecordLane*> lanes;
        std::vector<detail::mcap::Channel> added;
        {
            constexpr std::chrono::milliseconds interval{10};
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
    writeCounts();
    (void)file_.finish();
    fileSize_.set(file_.fileSize());
}

/// Moves the messages of the lanes to the file, the oldest first.
void Recorder::collect(const std::vector<detail::RecordLane*>& lanes, bool isLast) {
    const Nanoseconds steady = std::chrono::steady_clock::now().time_since_epoch();
    const auto now = static_cast<std::uint64_t>(steady.count() + systemMinusSteady_);
    for (;;) {
        detail::RecordLane* from = nullptr;
        detail::mcap::Message message;
        for (detail::RecordLane* lane : lanes) {
            detail::mcap::Message each;
            // Later messages wait, because another lane may receive an older one.
            if (lane->peek(each) && (isLast || each.logTime <= now) && each.channel < known_ &&
                (from == nullptr || each.logTime < message.logTime)) {
                from = lane;
                message = each;
            }
        }
        if (from == nullptr) {
            break;
        }
        const std::size_t size = message.data.size();
        std::string json;
        if (options_.encoding == RecordEncoding::json) {
            json = nlohmann::ordered_json::from_msgpack(message.data).dump();
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
        from->pop(size);
        if (file_.chunkSize() >= options_.chunkSize) {
            endChunk();
        }
    }
    const auto age = static_cast<std::uint64_t>(Nanoseconds(options_.chunkAge).count());
    if (pending_ != 0 && (isLast || now - chunkBegin_ >= age)) {
        endChunk();
    }
}

void Recorder::endChunk() {
    (file_.endChunk() ? written_ : failed_).add(std::exchange(pending_, 0));
    fileSize_.set(file_.fileSize());
    writeCounts();
}

/// Writes the numbers of lost and failed messages, if they have changed.
void Recorder::writeCounts() {
    detail::mcap::Pairs counts{{"failed", std::to_string(failed_.get())}};
    {
        const std::lock_guard lock(mutex_);
        for (const detail::RecordedType& each : types_) {
            const std::uint64_t lost = each.lost.get() + each.unencodable.get();
            if (lost != 0) {
                counts.emplace_back("lost " + each.topic, std::to_string(lost));
            }
        }
    }
    if (counts != counts_ && file_.addMetadata("sluice.lost", counts)) {
        counts_ = std::move(counts);
    }
}

}  // namespace sluice
