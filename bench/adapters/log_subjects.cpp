#include "adapters/log_subjects.hpp"

namespace sluice::bench {

#if !defined(SLUICE_PEER_SPDLOG)
void addSpdlogPeer(LogSubjects& subjects) {
    for (const char* const id : {"spdlog-peer/sync", "spdlog-peer/async"}) {
        Subject info;
        info.id = id;
        info.library = "spdlog";
        info.absentBecause = notCompiledIn("SLUICE_PEER_SPDLOG_INCLUDE");
        subjects.push_back({info, {}});
    }
}
#endif

LogSubjects logSubjects() {
    LogSubjects subjects;
    for (const auto add :
         {addSluiceLogs, addSpdlog, addSpdlogPeer, addQuill, addQuillBounded, addNoLog}) {
        add(subjects);
    }
    return subjects;
}

}  // namespace sluice::bench
