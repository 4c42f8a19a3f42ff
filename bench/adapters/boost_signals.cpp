#include "adapters/event_subjects.hpp"

// g++ 12 takes the storage of a small boost::function for uninitialised when it is moved.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <boost/signals2.hpp>
#include <boost/signals2/dummy_mutex.hpp>
#include <boost/signals2/signal_type.hpp>
#include <boost/version.hpp>
#pragma GCC diagnostic pop

namespace sluice::bench {

namespace {

using Shared = void(std::uint64_t, Tally&);

template <class Signal>
class BoostSignal {
public:
    template <class Slot>
    auto add(Slot slot) {
        return signal_.connect(slot);
    }
    static void remove(const boost::signals2::connection& connection) { connection.disconnect(); }
    void call(std::uint64_t value, Tally& tally) { signal_(value, tally); }

private:
    Signal signal_;
};

template <class Signal>
void addSignal(EventSubjects& subjects, const std::string& id, Threads threads) {
    Subject info;
    info.id = id;
    info.library = "Boost.Signals2";
    info.version = BOOST_LIB_VERSION;
    info.use = "connect(), disconnect()";
    info.features.topology = topologyOf(threads);
    EventSubject subject{std::move(info), {}};
    addCalls<BoostSignal<Signal>>(subject.rounds, threads);
    addChanges<BoostSignal<Signal>>(subject.rounds, threads);
    subjects.push_back(std::move(subject));
}

}  // namespace

void addBoostSignals(EventSubjects& subjects) {
    namespace signals = boost::signals2;
    namespace keywords = signals::keywords;
    using Unlocked = signals::signal_type<Shared, keywords::mutex_type<signals::dummy_mutex>>::type;
    addSignal<signals::signal<Shared>>(subjects, "boost/signals2", Threads::any);
    addSignal<Unlocked>(subjects, "boost/signals2:single", Threads::one);
}

}  // namespace sluice::bench
