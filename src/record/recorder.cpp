#include "mcap.hpp"

#include <sluice/base/blocked_signals.hpp>

#include <exception>
#include <utility>

#include <pthread.h>

namespace sluice {

namespace {

using Steady = std::chrono::steady_clock;
using detail::nanosecondsOf;

const RecorderOptions& checked(const RecorderOptions& options) {
    detail::requireAtMost("chunkSize of a recorder", options.chunkSize, std::size_t{16} << 20U);
    detail::requireAtMost("laneSize of a recorder", options.laneSize, detail::RecordLane::most);
    return options;
}

}  // namespace

Recorder::Recorder(const std::string& path, const RecorderOptions& options)
    : options_(checked(options)),
      systemMinusSteady_(nanosecondsOf(std::chrono::system_clock::now()) -
                         nanosecondsOf(Steady::now())),
      file_(std::make_unique<detail::mcap::Writer>(path)) {
    add("recorder/RecorderStatistics", detail::recordTypeOf<RecorderStatistics>());
    const detail::BlockedSignals inherited;
    thread_ = std::thread([this] { run(); });
}

Recorder::~Recorder() {
    close();
}

void Recorder::close() {
    subscriptions_.clear();
    isClosing_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
    isClosed_ = true;
}

RecorderStatistics Recorder::statistics() const {
    const std::lock_guard lock(mutex_);
    const bool isClosed = isClosed_;  // before the counts, which change no more
    RecorderStatistics result;
    result.written = written_.get();  // before `accepted`, which is never smaller
    result.failed = failed_.get();
    for (const detail::RecordLane& lane : lanes_) {
        result.accepted += lane.accepted.get();
        result.lost += lane.lost.get();
        result.unencodable += lane.unencodable.get();
    }
    if (isClosed) {  // later calls, too, left their messages in the lanes
        result.failed = result.accepted - result.written;
    }
    return result;
}

detail::RecordLane& Recorder::addLane() {
    const std::lock_guard lock(mutex_);
    return lanes_.emplace_back(options_.laneSize);
}

/// Returns the number of the first of three channels.
std::size_t Recorder::add(const std::string& topic, detail::RecordType&& type) {
    const std::lock_guard lock(mutex_);
    const std::size_t first = priorityCount * types_.size();
    detail::requireAtMost("channels of a recording", first + priorityCount, 1U << 16U);
    types_.emplace_back(topic, std::move(type));
    return first;
}

void Recorder::run() {
    // A thread inherits the scheduling of its creator, which may be a real-time one.
    const sched_param ordinary{};
    (void)::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &ordinary);
    for (bool isLast = false; !isLast;) {
        try {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            isLast = isClosing_;
            {
                const std::lock_guard lock(mutex_);
                while (file_->channels() < priorityCount * types_.size()) {
                    const auto& [topic, type] = types_[file_->channels() / priorityCount];
                    file_->add(topic, type);
                }
                known_.clear();
                for (detail::RecordLane& each : lanes_) {
                    known_.push_back(&each);
                }
            }
            collect(isLast);
            if (isLast) {
                endChunk();  // the counts, if the last chunk failed
                (void)file_->finish();
            }
        } catch (const std::exception&) {  // no memory: the lanes keep the next messages
            file_->dropChunk();
            failed_.add(std::exchange(pending_, 0));
        }
    }
}

/// Moves the messages of the lanes to the file, the oldest first.
void Recorder::collect(bool isLast) {
    const Steady::time_point now = Steady::now();
    for (;;) {
        detail::RecordLane* from = nullptr;
        detail::mcap::Message message;
        for (detail::RecordLane* lane : known_) {
            detail::mcap::Message each;
            // Later messages wait, because another lane may receive an older one. At the end, they
            // are those of callers that continue after close(), which may never stop.
            if (lane->peek(each) && each.logTime <= nanosecondsOf(now) &&
                each.channel < file_->channels() &&
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
        file_->write(message);
        chunkBegin_ = pending_++ == 0 ? now : chunkBegin_;
        from->pop(message.data.size());
        if (file_->chunkSize() >= options_.chunkSize) {
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
        const std::uint64_t time = nanosecondsOf(Steady::now()) + systemMinusSteady_;
        const auto* const data = reinterpret_cast<const char*>(buffer.data());
        file_->write({0, 0, time, time, {data, buffer.size()}});
    }
    const bool isWritten = file_->endChunk();
    reported_ = isWritten ? missing : reported_;
    (isWritten ? written_ : failed_).add(std::exchange(pending_, 0));
}

}  // namespace sluice
