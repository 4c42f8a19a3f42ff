#include <sluice/record/replay.hpp>

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

namespace sluice {

namespace {

using Time = std::chrono::nanoseconds;

Time timeOf(std::uint64_t stamp) noexcept {
    constexpr auto most = static_cast<std::uint64_t>(Time::max().count());
    return Time(static_cast<Time::rep>(std::min(stamp, most)));
}

std::string valueOf(const detail::mcap::Pairs& pairs, std::string_view key) {
    for (const auto& [each, value] : pairs) {
        if (each == key) {
            return value;
        }
    }
    return {};
}

using Json = nlohmann::json;

/// Removes members that are null, because a field that is missing keeps its default. Returns false
/// for values that are nested more deeply than wire::decode() allows.
bool removeNulls(Json& json, int depth = 0) {
    for (auto each = json.begin(); json.is_structured() && each != json.end();) {
        if (depth > 32 || !removeNulls(*each, depth + 1)) {
            return false;
        }
        each = json.is_object() && each->is_null() ? json.erase(each) : std::next(each);
    }
    return true;
}

/// Returns a message in MessagePack, or nothing if decode() would refuse the text.
std::string packOf(std::string_view text) {
    Json json = Json::parse(text.begin(), text.end(), nullptr, false);
    std::string bytes;
    if (!json.is_discarded() && removeNulls(json)) {
        Json::to_msgpack(json, bytes);
    }
    return bytes;
}

}  // namespace

const char* toString(RecordingEnd end) noexcept {
    switch (end) {
    case RecordingEnd::unknown:
        return "not read to the end";
    case RecordingEnd::complete:
        return "complete";
    case RecordingEnd::cut:
        return "cut: the end of the recording is missing";
    case RecordingEnd::damaged:
        return "damaged: parts of the recording were skipped";
    }
    return "unknown";
}

Replay::Replay(const std::string& path, const ReplayOptions& options)
    : options_(options), file_(path) {
}

ReplayStep Replay::step() {
    while (load()) {
        SendResult result = SendResult::ok;
        const wire::DecodeError error = deliver(result);
        if (error == wire::DecodeError::none && result == SendResult::full) {
            return ReplayStep::full;
        }
        lastTime_ = timeOf(message_.logTime);
        isLoaded_ = false;
        if (error == wire::DecodeError::none && result == SendResult::ok) {
            ++counts_.delivered;
            return ReplayStep::delivered;
        }
        ++(error != wire::DecodeError::none ? counts_.undecodable : counts_.refused);
    }
    return ReplayStep::end;
}

std::chrono::nanoseconds Replay::delay() {
    return load() && hasFirst_ && lastTime_ >= Time(0)
               ? std::max(timeOf(message_.logTime) - lastTime_, Time(0))
               : Time(0);
}

bool Replay::run() {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto waitUntil = [&](Clock::time_point time) {
        std::unique_lock lock(mutex_);
        return wake_.wait_until(lock, time, [this] { return isStopped_.load(); });
    };
    Time firstOfRun(-1);
    while (!isStopped_ && load()) {
        const Time time = timeOf(message_.logTime);
        firstOfRun = firstOfRun < Time(0) ? time : firstOfRun;
        if (options_.speed > 0) {
            const double wait = static_cast<double>((time - firstOfRun).count()) / options_.speed;
            constexpr double year = 3.2e16;
            if (waitUntil(begin + Time(static_cast<Time::rep>(std::clamp(wait, 0.0, year))))) {
                break;
            }
        }
        if (step() == ReplayStep::full) {
            (void)waitUntil(Clock::now() + std::chrono::microseconds(100));
        }
    }
    return !isStopped_.exchange(false);
}

void Replay::stop() noexcept {
    const std::lock_guard lock(mutex_);
    isStopped_ = true;
    wake_.notify_all();
}

RecordingEnd detail::endOf(const mcap::Reader& file) noexcept {
    return !file.hasEnd()        ? RecordingEnd::cut
           : file.damaged() != 0 ? RecordingEnd::damaged
                                 : RecordingEnd::complete;
}

RecordingEnd Replay::end() const noexcept {
    return isAtEnd_ ? detail::endOf(file_) : RecordingEnd::unknown;
}

/// Reads the next message that has a receiver, unless one is loaded already.
bool Replay::load() {
    while (!isLoaded_ && !isAtEnd_) {
        if (!file_.next(message_)) {
            isAtEnd_ = true;
            break;
        }
        const Time time = timeOf(message_.logTime);
        firstTime_ = std::exchange(hasFirst_, true) ? firstTime_ : time;
        // The first message of a file need not be the oldest.
        const bool isIn = (options_.from <= Time(0) || time - firstTime_ >= options_.from) &&
                          time - firstTime_ <= options_.to;
        isLoaded_ = isIn && receiver() != nullptr;
        counts_.unmatched += isIn && !isLoaded_ ? 1 : 0;
    }
    return isLoaded_;
}

/// The receiver of the message, or null.
Replay::Receiver* Replay::receiver() {
    const auto [route, isNew] = routes_.try_emplace(message_.channel, nullptr);
    if (isNew) {
        const detail::mcap::Channel& channel = file_.channel(message_.channel);
        const std::string hash = valueOf(channel.metadata, "schema_hash");
        const auto isOf = [&](const Receiver& each) {
            const bool isName = each.topic.empty() ? each.type.name == channel.schemaName ||
                                                         each.type.fullName == channel.schemaName
                                                   : each.topic == channel.topic;
            return isName && (!each.type.needsSameHash || hash == std::to_string(each.type.hash));
        };
        const auto found = std::find_if(receivers_.begin(), receivers_.end(), isOf);
        route->second = found == receivers_.end() ? nullptr : &*found;
    }
    return route->second;
}

wire::DecodeError Replay::deliver(SendResult& result) {
    const detail::mcap::Channel& channel = file_.channel(message_.channel);
    std::string packed;
    std::string_view data = message_.data;
    if (channel.encoding == "json") {
        packed = packOf(data);
        data = packed;
    } else if (channel.encoding != "msgpack") {
        return wire::DecodeError::foreignForm;
    }
    const std::string name = valueOf(channel.metadata, "priority");
    const Priority priority = name == "high"  ? Priority::high
                              : name == "low" ? Priority::low
                                              : Priority::medium;
    return receiver()->deliver(reinterpret_cast<const unsigned char*>(data.data()), data.size(),
                               priority, result);
}

}  // namespace sluice
