#include "adapters/event_subjects.hpp"

#include <sigc++/sigc++.h>

namespace sluice::bench {

namespace {

class SigcSignal {
    using Signal = sigc::signal<void, std::uint64_t, Tally&>;

public:
    template <class Slot>
    sigc::connection add(Slot slot) {
        return signal_.connect(Signal::slot_type(slot));
    }
    static void remove(sigc::connection connection) { connection.disconnect(); }
    void call(std::uint64_t value, Tally& tally) { signal_.emit(value, tally); }

private:
    Signal signal_;
};

}  // namespace

void addSigcSignals(EventSubjects& subjects) {
    Subject info;
    info.id = "sigc++";
    info.library = "libsigc++";
    info.prebuilt = true;
    info.version = std::to_string(SIGCXX_MAJOR_VERSION) + "." +
                   std::to_string(SIGCXX_MINOR_VERSION) + "." +
                   std::to_string(SIGCXX_MICRO_VERSION);
    info.use = "connect(), disconnect(), emit()";
    info.features.topology = topologyOf(Threads::one);
    EventSubject subject{std::move(info), {}};
    addCalls<SigcSignal>(subject.rounds, Threads::one);
    addChanges<SigcSignal>(subject.rounds, Threads::one);
    subjects.push_back(std::move(subject));
}

}  // namespace sluice::bench
