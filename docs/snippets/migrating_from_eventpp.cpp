// The code of docs/migrating-from-eventpp.md.
#include <eventpp/callbacklist.h>
#include <eventpp/eventqueue.h>
#include <eventpp/utilities/counterremover.h>

#include <sluice/event/event_queue.hpp>

#include <string>

namespace {

bool unchanged() {
    eventpp::CallbackList<void(const std::string&)> list;
    std::string heard;
    const auto handle = list.append([&heard](const std::string& text) { heard += text; });
    eventpp::counterRemover(list).append([&heard](const std::string&) { heard += '!'; });
    list("a");
    list("b");
    return list.remove(handle) && heard == "a!b";
}

// For callbacks that stay inside for long.
struct OwnDomain : sluice::MultipleThreading {
    static sluice::EpochDomain& epochDomain() {
        static sluice::EpochDomain domain([] {
            sluice::EpochOptions options;
            options.prompt = true;
            return options;
        }());
        return domain;
    }
};

struct MainLoopPolicies {
    using Threading = OwnDomain;
};

bool ownDomain() {
    sluice::EventQueue<int, void(int), MainLoopPolicies> queue;
    int sum = 0;
    queue.appendListener(1, [&sum](int value) { sum += value; });
    queue.enqueue(1, 5);
    return queue.process() && sum == 5;
}

}  // namespace

int main() {
    return unchanged() && ownDomain() ? 0 : 1;
}
