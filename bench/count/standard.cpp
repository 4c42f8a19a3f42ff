/// \file
/// The paths of the C and C++ libraries: a vector of functions, a map of these, a queue behind a
/// mutex, and malloc().

#include "event_rows.hpp"
#include "pool_rows.hpp"
#include "rows.hpp"

#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice::count {

namespace {

template <class Argument>
class FunctionVector {
public:
    template <class Function>
    void add(Function function) {
        functions_.emplace_back(function);
    }
    void call(Argument argument) const {
        for (const auto& function : functions_) {
            function(argument);
        }
    }

private:
    std::vector<std::function<void(Argument)>> functions_;
};

class FunctionMap {
public:
    template <class Function>
    void add(int event, Function function) {
        lists_[event].add(function);
    }
    void dispatch(int event, const Message& message) const {
        const auto found = lists_.find(event);
        if (found != lists_.end()) {
            found->second.call(message);
        }
    }

private:
    std::unordered_map<int, FunctionVector<const Message&>> lists_;
};

/// Two vectors that are exchanged under a mutex.
class VectorQueue {
public:
    template <class Function>
    void add(int event, Function function) {
        listeners_.add(event, function);
    }
    void enqueue(int event, const Message& message) {
        const std::lock_guard<std::mutex> guard(mutex_);
        waiting_.emplace_back(event, message);
    }
    void process() {
        visit([this](int event, const Message& message) { listeners_.dispatch(event, message); });
    }
    template <class Visitor>
    void visit(Visitor visitor) {
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            taken_.swap(waiting_);
        }
        for (const auto& [event, message] : taken_) {
            visitor(event, message);
        }
        taken_.clear();
    }

private:
    FunctionMap listeners_;
    std::mutex mutex_;
    std::vector<std::pair<int, Message>> waiting_;
    std::vector<std::pair<int, Message>> taken_;
};

struct Malloc {
    static void* allocate() { return std::malloc(sizeof(Message)); }
    static void deallocate(void* block) { std::free(block); }
};

}  // namespace

void addStandardLibrary(Rows& rows) {
    addList<FunctionVector<std::uint64_t>>(rows, "std/function");
    addDispatcher<FunctionMap>(rows, "std/function");
    addProcess<VectorQueue>(rows, "std/vector+mutex");
    addProcessQueueWith<VectorQueue>(rows, "std/vector+mutex");
    addPool<Malloc>(rows, "glibc/malloc", {"BlockPool", "ObjectPool"});
}

}  // namespace sluice::count
