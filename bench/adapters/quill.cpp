/// \file
/// quill with its default front end: as it is delivered, and with the back end of its own
/// throughput benchmark.

#include "adapters/log_subjects.hpp"

#if defined(SLUICE_PEER_QUILL)
#include "adapters/quill_log.hpp"
#endif

#include <utility>

namespace sluice::bench {

namespace {

#if defined(SLUICE_PEER_QUILL)

// The processor on which it runs is the harness's business, as for all.
quill::BackendOptions forThroughput() {
    quill::BackendOptions options;
    options.sleep_duration = std::chrono::nanoseconds{0};
    options.log_timestamp_ordering_grace_period = std::chrono::microseconds{1};
    return options;
}

template <quill::BackendOptions (*BackEnd)()>
void add(LogSubjects& subjects, Subject info) {
    using Log = QuillLog<quill::FrontendOptions, BackEnd>;
    info.version = Log::version();
    addLog<Log>(subjects, std::move(info));
}

#endif

}  // namespace

void addQuill(LogSubjects& subjects) {
    Subject delivered;
    delivered.id = "quill";
    delivered.library = "quill";
    delivered.use = "LOG_INFO, default options";
    delivered.features.bound = "unbounded";
    delivered.features.blocking = true;
    Subject throughput = delivered;
    throughput.id = "quill/throughput";
    throughput.use = "LOG_INFO, a back end that never sleeps, and a grace period of 1 us for the "
                     "order of records: "
                     "the options of its throughput benchmark";
#if defined(SLUICE_PEER_QUILL)
    add<&asDelivered<quill::BackendOptions>>(subjects, std::move(delivered));
    add<&forThroughput>(subjects, std::move(throughput));
#else
    for (Subject* each : {&delivered, &throughput}) {
        each->absentBecause = notCompiledIn("SLUICE_PEER_QUILL_INCLUDE");
        subjects.push_back({std::move(*each), {}});
    }
#endif
}

}  // namespace sluice::bench
