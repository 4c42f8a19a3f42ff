/// \file
/// quill with a bounded queue, in a copy of the library: see quill_log.hpp.

#define quill quill_bounded  // NOLINT(readability-identifier-naming): quill's namespace

#include "adapters/log_subjects.hpp"

#if defined(SLUICE_PEER_QUILL)
#include "adapters/quill_log.hpp"
#endif

#include <utility>

namespace sluice::bench {

#if defined(SLUICE_PEER_QUILL)
namespace {

// Its capacity is one of bytes: 8192 records of a cache line, as many as the other logs hold.
struct Bounded : quill::FrontendOptions {
    static constexpr quill::QueueType queue_type = quill::QueueType::BoundedBlocking;
    static constexpr std::size_t initial_queue_capacity = 8192 * 64;
};

}  // namespace
#endif

void addQuillBounded(LogSubjects& subjects) {
    Subject info;
    info.id = "quill/bounded";
    info.library = "quill";
    info.use = "LOG_INFO, BoundedBlocking of 512 KiB for each thread";
    info.features.bound = "exact, bytes";
    info.features.blocking = true;
#if defined(SLUICE_PEER_QUILL)
    using Log = QuillLog<Bounded, &asDelivered<quill::BackendOptions>>;
    info.version = Log::version();
    addLog<Log>(subjects, std::move(info));
#else
    info.absentBecause = notCompiledIn("SLUICE_PEER_QUILL_INCLUDE");
    subjects.push_back({std::move(info), {}});
#endif
}

}  // namespace sluice::bench
