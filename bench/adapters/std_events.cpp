/// \file
/// Events with the standard library alone: a vector of functions, which cannot change while it is
/// called, as the floor; and the queue that programs write by hand.

#include "adapters/event_subjects.hpp"

#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice::bench {

namespace {

template <class... Arguments>
using Functions = std::vector<std::function<void(Arguments...)>>;

class FunctionVector {
public:
    template <class Function>
    void add(Function function) {
        functions_.emplace_back(function);
    }
    void call(std::uint64_t value, Tally& tally) {
        for (const auto& function : functions_) {
            function(value, tally);
        }
    }

private:
    Functions<std::uint64_t, Tally&> functions_;
};

class FunctionMap {
public:
    template <class Function>
    void add(int event, Function function) {
        lists_[event].add(function);
    }
    void dispatch(int event, std::uint64_t value, Tally& tally) {
        const auto found = lists_.find(event);
        if (found != lists_.end()) {
            found->second.call(value, tally);
        }
    }

private:
    std::unordered_map<int, FunctionVector> lists_;
};

/// Two vectors that are exchanged under a mutex.
template <class Type>
class VectorQueue {
public:
    using Argument = Type;

    template <class Function>
    void add(int event, Function function) {
        listeners_[event].emplace_back(function);
    }
    void enqueue(int event, const Argument& argument) {
        const std::lock_guard<std::mutex> guard(mutex_);
        waiting_.emplace_back(event, argument);
    }
    void process() {
        visit([this](int event, const Argument& argument) {
            const auto found = listeners_.find(event);
            if (found != listeners_.end()) {
                for (const auto& listener : found->second) {
                    listener(argument);
                }
            }
        });
    }
    template <class Visitor>
    void visit(Visitor visitor) {
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            taken_.swap(waiting_);
        }
        for (const auto& [event, argument] : taken_) {
            visitor(event, argument);
        }
        taken_.clear();
    }

private:
    std::unordered_map<int, Functions<const Argument&>> listeners_;
    std::mutex mutex_;
    std::vector<std::pair<int, Argument>> waiting_;
    std::vector<std::pair<int, Argument>> taken_;
};

}  // namespace

void addStdEvents(EventSubjects& subjects) {
    Subject info;
    info.library = "C++ standard library";
    info.features.topology = topologyOf(Threads::any);
    info.id = floorPrefix + "vector of functions";
    info.use = "for (const auto& f : functions) f(...), in std::unordered_map for events; it may "
               "not change meanwhile";
    EventSubject vector{info, {}};
    addCalls<FunctionVector>(vector.rounds, Threads::any);
    addDispatches<FunctionMap>(vector.rounds, Threads::any);
    vector.rounds["add-10000"] = &growRound<FunctionVector>;
    subjects.push_back(std::move(vector));

    info.id = "std/two vectors, mutex";
    info.use = "vector.push_back() under a mutex, the consumer swaps; listeners in "
               "std::unordered_map, which may not change meanwhile";
    EventSubject queue{info, {}};
    addBatches<VectorQueue>(queue.rounds);
    addVisits<VectorQueue>(queue.rounds);
    addCrossings<VectorQueue>(subjects, std::move(queue));
}

}  // namespace sluice::bench
