#include <sluice/base/blocked_signals.hpp>
#include <sluice/record/recorder.hpp>

#include <exception>
#include <stdexcept>
#include <utility>

#include <pthread.h>

namespace sluice {

namespace {

using Steady = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;

std::uint64_t systemMinusSteady() noexcept {
    const Nanoseconds steady = Steady::now().time_since_epoch();
    const Nanoseconds system = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>((system - steady).count());
}

/// Returns the options, or throws if one of them is beyond its limit.
const RecorderOptions& checked(const RecorderOptions& options) {
    const auto check = [](const std::string& name, std::size_t value, std::size_t most) {
        if (value > most) {
            throw std::runtime_error("record: " + name + " is " + std::to_string(value) +
                                     ", and at most " + std::to_string(most));
        }
    };
    check("chunkSize", options.chunkSize, std::size_t{16} << 20U);
    check("laneSize", options.laneSize, detail::RecordLane::most);
    return options;
}

}  // namespace

Recorder::Recorder(const std::string& path, const RecorderOptions& options)
    : options_(checked(options)),
      systemMinusSteady_(systemMinusSteady()),
      file_(path, options.compressionLevel) {
    add("recorder/RecorderStatistics", detail::recordTypeOf<RecorderStatistics>());  // channel 0
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
    result.written = written_.get();  // before `accepted`, which is never smaller
    result.failed = failed_.get();
    result.fileSize = fileSize_.get();
    for (const detail::RecordLane& lane : lanes_) {
        result.accepted += lane.accepted.get();
        result.lost += lane.lost.get();
        result.unencodable += lane.unencodable.get();
    }
    if (isClosed_) {  // later calls, too, left their messages in the lanes
        result.failed = result.accepted - result.written;
    }
    return result;
}

detail::RecordLane& Recorder::addLane() {
    const std::lock_guard lock(mutex_);
    return lanes_.emplace_back(options_.laneSize);
}

/// Adds three channels. Returns the number of the first.
std::size_t Recorder::add(const std::string& topic, const detail::RecordType& type) {
    const std::lock_guard lock(mutex_);
    const std::size_t first = channels_.size();
    if (first + priorityCount > std::size_t{1} << 16U) {
        throw std::runtime_error("record: a file has at most 21,845 types");
    }
    for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
        channels_.push_back(
            {topic,
             type.name,
             "jsonschema",
             type.jsonSchema,
             "msgpack",
             {{"schema_hash", std::to_string(type.hash)}, {"priority", toString(priority)}}});
    }
    return first;
}

void Recorder::add(Subscription&& subscription, bool isActive) {
    if (!isActive) {
        throw std::runtime_error("record: a type of message has too many handlers: raise "
                                 "maxHandlers of the traits");
    }
    subscriptions_.push_back(std::move(subscription));
}

// ---- The thread

void Recorder::run() {
    // A thread inherits the scheduling of its creator, which may be a real-time one.
    const sched_param ordinary{};
    (void)::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &ordinary);
    for (bool isLast = false; !isLast;) {
        try {
            {
                constexpr std::chrono::milliseconds interval{10};
                std::unique_lock lock(mutex_);
                isLast = wake_.wait_for(lock, interval, [this] { return isClosing_; });
                while (file_.channels() < channels_.size()) {
                    file_.add(channels_[file_.channels()], file_.channels() % priorityCount == 0);
                }
                known_.clear();
                for (detail::RecordLane& each : lanes_) {
                    known_.push_back(&each);
                }
            }
            collect(isLast);
            if (isLast) {
                endChunk();  // the counts, if the last chunk failed
                (void)file_.finish();
            }
        } catch (const std::exception&) {  // no memory: the lanes keep the next messages
            file_.dropChunk();
            failed_.add(std::exchange(pending_, 0));
        }
    }
    fileSize_.set(file_.fileSize());
}

/// Moves the messages of the lanes to the file, the oldest first.
void Recorder::collect(bool isLast) {
    const Steady::time_point now = Steady::now();
    const auto stamp = static_cast<std::uint64_t>(Nanoseconds(now.time_since_epoch()).count());
    for (;;) {
        detail::RecordLane* from = nullptr;
        detail::mcap::Message message;
        for (detail::RecordLane* lane : known_) {
            detail::mcap::Message each;
            // Later messages wait, because another lane may receive an older one. At the end, they
            // are those of callers that continue after close(), which may never stop.
            if (lane->peek(each) && each.logTime <= stamp && each.channel < file_.channels() &&
                (from == nullptr || each.logTime < message.logTime)) {
                from = lane;
                message = each;
            }
        }
        if (from == nullptr) {
            break;
        }
        message.logTime += systemMinusSteady_;
        message.publishTime += systemMinusSteady_;
        file_.write(message);
        chunkBegin_ = pending_++ == 0 ? now : chunkBegin_;
        from->pop(message.data.size());
        if (file_.chunkSize() >= options_.chunkSize) {
            endChunk();
        }
    }
    // In milliseconds, since chunkAge may be too long for nanoseconds.
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - chunkBegin_);
    if (pending_ != 0 && (isLast || age >= options_.chunkAge)) {
        endChunk();
    }
}

/// Writes the messages, and the counts if more messages are missing than the file says.
void Recorder::endChunk() {
    const RecorderStatistics counts = statistics();
    const std::uint64_t missing = counts.lost + counts.unencodable + counts.failed;
    if (missing != reported_) {
        unsigned char bytes[256];
        wire::Buffer buffer(bytes, sizeof bytes);
        (void)wire::encode(counts, buffer);
        const Nanoseconds now = Steady::now().time_since_epoch();
        const std::uint64_t time = static_cast<std::uint64_t>(now.count()) + systemMinusSteady_;
        const auto* const data = reinterpret_cast<const char*>(buffer.data());
        file_.write({0, 0, time, time, {data, buffer.size()}});
    }
    const bool isWritten = file_.endChunk();
    reported_ = isWritten ? missing : reported_;
    (isWritten ? written_ : failed_).add(std::exchange(pending_, 0));
    fileSize_.set(file_.fileSize());
}

}  // namespace sluice
