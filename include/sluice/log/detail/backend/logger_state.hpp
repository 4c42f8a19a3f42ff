#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/overflow.hpp>
#include <sluice/log/batch_sink.hpp>
#include <sluice/log/detail/backend/error_channel.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <spdlog/sinks/sink.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// Returns the text of the line about missing records.
inline std::string droppedText(std::uint64_t dropped) {
    return std::to_string(dropped) + (dropped == 1 ? " record dropped" : " records dropped");
}

/// A sink, and the same sink as a batch_sink. Null if it is not one.
struct SinkEntry {
    explicit SinkEntry(spdlog::sink_ptr taken)
        : sink(std::move(taken)), batch(dynamic_cast<batch_sink*>(sink.get())) {}

    spdlog::sink_ptr sink;
    batch_sink* batch;
};

/// A logger as the back end knows it. The records in the lanes point to it. The back end deletes it
/// after it has written each record with a stamp before the end of the logger. So it lives longer
/// than the logger, and records need no reference counts.
///
/// Name, sinks, policy and error channel never change.
class LoggerState {
public:
    LoggerState(std::string loggerName, const std::vector<spdlog::sink_ptr>& sinkList,
                Overflow itsPolicy, std::shared_ptr<ErrorChannel> channel)
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
    const Overflow policy;
    std::vector<SinkEntry> sinks;
    const std::shared_ptr<ErrorChannel> errors;

    /// Records of this logger that found no room. Any thread adds, relaxed: no other data depends
    /// on a count. It has a cache line of its own, because each log call reads the fields above.
    alignas(cacheLineSize) std::atomic<std::uint64_t> rejected{0};
    /// How many of the discarded records the lines in the log have reported. Written by the back
    /// end.
    std::uint64_t told = 0;

    /// The stamp of the requested flush: it follows all records with smaller stamps. 0: no request.
    /// Any thread raises it, and the back end sets it to 0.
    std::atomic<Stamp> flushWanted{0};
    /// The stamp of the flush that the back end has taken and not carried out yet. 0: none. Written
    /// by the back end.
    Stamp flushTaken = 0;
};

}  // namespace sluice::log::detail
