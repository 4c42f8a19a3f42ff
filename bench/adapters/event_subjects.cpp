#include "adapters/event_subjects.hpp"

#include <string>

namespace sluice::bench {

namespace {

using Add = void (*)(EventSubjects& subjects);

// Null where it was not compiled in.
#if defined(SLUICE_BENCH_EVENTPP_NAMES)
constexpr Add names = &addEventppNames;
#else
constexpr Add names = nullptr;
#endif
#if defined(SLUICE_PEER_EVENTPP)
constexpr Add original = &addEventpp;
#else
constexpr Add original = nullptr;
#endif
#if defined(SLUICE_PEER_EVENTPP_FORK)
constexpr Add fork = &addEventppFork;
#else
constexpr Add fork = nullptr;
#endif

void addOptional(EventSubjects& subjects, Add add, const std::string& id,
                 const std::string& absentBecause) {
    if (add != nullptr) {
        add(subjects);
        return;
    }
    Subject info;
    info.id = info.library = id;
    info.absentBecause = absentBecause;
    subjects.push_back({info, {}});
}

}  // namespace

EventSubjects eventSubjects() {
    EventSubjects subjects;
    addSluiceEvents(subjects);
    addOptional(subjects, names, "sluice/eventpp",
                notCompiledIn("SLUICE_BENCH_EVENTPP_NAMES", "ON"));
    addOptional(subjects, original, "eventpp", notCompiledIn("SLUICE_PEER_EVENTPP_INCLUDE"));
    addOptional(subjects, fork, "eventpp-fork", notCompiledIn("SLUICE_PEER_EVENTPP_FORK_INCLUDE"));
    for (const Add add : {addBoostSignals, addSigcSignals, addStdEvents}) {
        add(subjects);
    }
    return subjects;
}

}  // namespace sluice::bench
