#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/log/batch_sink.hpp>
#include <sluice/log/detail/backend/error_channel.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <sluice/log/overflow_policy.hpp>

#include <spdlog/sinks/sink.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// The line in a log about records that are missing there.
inline std::string droppedText(std::uint64_t dropped) {
    return std::to_string(dropped) + (dropped == 1 ? " record dropped" : " records dropped");
}

/// A sink, and the same one as a batch_sink if it is one.
struct SinkEntry {
    explicit SinkEntry(spdlog::sink_ptr taken)
        : sink(std::move(taken)), batch(dynamic_cast<batch_sink*>(sink.get())) {}

    spdlog::sink_ptr sink;
    batch_sink* batch;
};

/// What the back end knows of a logger: the records in the lanes point here. It outlives the
/// logger: the back end deletes it when every record stamped before the logger's end has been
/// written. So no record counts references.
///
/// Its name, sinks, policy and channel never change. Counters: any thread adds.
class LoggerState {
public:
    LoggerState(std::string loggerName, const std::vector<spdlog::sink_ptr>& sinkList,
                overflow_policy itsPolicy, std::shared_ptr<ErrorChannel> channel)
        : name(std::move(loggerName)), policy(itsPolicy), errors(std::move(channel)) {
        sinks.reserve(sinkList.size());
        for (const spdlog::sink_ptr& sink : sinkList) {
            sinks.emplace_back(sink);
        }
    }

    bool hasSameSinks(const LoggerState& other) const noexcept {
        bool same = sinks.size() == other.sinks.size();
        for (std::size_t i = 0; same && i < sinks.size(); ++i) {
            same = sinks[i].sink == other.sinks[i].sink;
        }
        return same;
    }

    const std::string name;
    const overflow_policy policy;
    std::vector<SinkEntry> sinks;
    const std::shared_ptr<ErrorChannel> errors;

    /// Records of this logger that found no room. Relaxed: a count, which publishes nothing. Away
    /// from what every log call reads.
    alignas(cacheLineSize) std::atomic<std::uint64_t> discarded{0};
    /// How many of them the log itself has told of. The back end's own.
    std::uint64_t told = 0;

    /// A flush is wanted of what has a smaller key; 0: none. Any thread raises it, and the back end
    /// takes it away.
    std::atomic<Key> flushWanted{0};
    /// The one that the back end has taken and not yet carried out. The back end's own.
    Key flushTaken = 0;
};

}  // namespace sluice::log::detail
