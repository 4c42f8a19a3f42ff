#include "mcap.hpp"

#include <thread>

namespace sluice {

namespace {

using Time = std::chrono::nanoseconds;

Time timeOf(const detail::mcap::Message& message) noexcept {
    constexpr auto most = static_cast<std::uint64_t>(Time::max().count());
    return Time(static_cast<Time::rep>(std::min(message.logTime, most)));
}

std::string valueOf(const detail::mcap::Channel& channel, const std::string& key) {
    const auto found = channel.metadata.find(key);
    return found == channel.metadata.end() ? std::string() : found->second;
}

}  // namespace

Replay::Replay(const std::string& path, const ReplayOptions& options)
    : options_(options), file_(std::make_unique<detail::mcap::Reader>(path)) {
}
Replay::~Replay() = default;

RecordingEnd Replay::end() const noexcept {
    return file_->end();
}

ReplayStep Replay::step() {
    while (load()) {
        const std::string name = valueOf(file_->channels().at(message_.channel), "priority");
        const Priority priority = name == "high"  ? Priority::high
                                  : name == "low" ? Priority::low
                                                  : Priority::medium;
        Receiver* const receiver = std::exchange(receiver_, nullptr);
        ++counts_.refused;  // unless the handler returns
        const std::optional<SendResult> result = receiver->deliver(message_.data, priority);
        --counts_.refused;
        if (result == SendResult::full) {
            receiver_ = receiver;
            return ReplayStep::full;
        }
        lastTime_ = timeOf(message_);
        if (result == SendResult::ok) {
            ++counts_.delivered;
            return ReplayStep::delivered;
        }
        ++(result ? counts_.refused : counts_.undecodable);
    }
    return ReplayStep::end;
}

std::chrono::nanoseconds Replay::delay() {
    return load() && lastTime_ ? std::max(timeOf(message_) - *lastTime_, Time(0)) : Time(0);
}

bool Replay::run() {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    std::optional<Time> first;
    while (!isStopped_ && load()) {
        first = first.value_or(timeOf(message_));
        const auto distance = static_cast<double>((timeOf(message_) - *first).count());
        constexpr double year = 3.2e16;
        const double wait = options_.speed > 0 ? distance / options_.speed : 0;
        const auto due = begin + Time(static_cast<Time::rep>(std::clamp(wait, 0.0, year)));
        for (auto now = Clock::now(); now < due && !isStopped_; now = Clock::now()) {
            std::this_thread::sleep_until(std::min(due, now + std::chrono::milliseconds(10)));
        }
        if (!isStopped_ && step() == ReplayStep::full) {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    }
    return !isStopped_.exchange(false);
}

/// Reads the next message that has a receiver, unless one is loaded already.
bool Replay::load() {
    while (receiver_ == nullptr && file_->next(message_)) {
        firstTime_ = firstTime_.value_or(timeOf(message_));
        const Time time = timeOf(message_) - *firstTime_;
        // The first message of a file need not be the oldest.
        if ((options_.from > Time(0) && time < options_.from) || time > options_.to) {
            continue;
        }
        const detail::mcap::Channel& channel = file_->channels().at(message_.channel);
        const auto isOf = [&](const Receiver& each) {
            const bool isName = each.topic.empty() ? each.type.name == channel.schemaName ||
                                                         each.type.fullName == channel.schemaName
                                                   : each.topic == channel.topic;
            return isName && channel.encoding == "msgpack" &&
                   (!each.type.needsSameHash ||
                    valueOf(channel, "schema_hash") == std::to_string(each.type.hash));
        };
        const auto found = std::find_if(receivers_.begin(), receivers_.end(), isOf);
        receiver_ = found == receivers_.end() ? nullptr : &*found;
        counts_.unmatched += receiver_ == nullptr ? 1 : 0;
    }
    return receiver_ != nullptr;
}

const char* toString(RecordingEnd end) noexcept {
    constexpr const char* texts[] = {"not read to the end", "complete",
                                     "cut: the end of the recording is missing",
                                     "damaged: parts of the recording were skipped"};
    return texts[static_cast<std::size_t>(end)];
}

}  // namespace sluice
