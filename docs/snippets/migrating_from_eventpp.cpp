// The code of docs/migrating-from-eventpp.md.
#include <eventpp/callbacklist.h>
#include <eventpp/eventqueue.h>
#include <eventpp/utilities/counterremover.h>
#include <sluice/event/scoped_connection.hpp>

#include <string>
#include <vector>

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

bool keepsHandles() {
    using List = eventpp::CallbackList<void()>;
    using Queue = eventpp::EventQueue<int, void(int)>;
    List list;
    Queue queue;
    int calls = 0;

    List::Handle handle = list.append([&calls] { ++calls; });  // not: std::weak_ptr<void> handle
    if (const auto locked = handle.lock()) {                   // not: std::shared_ptr<void> locked
        list.remove(locked);
    }

    std::vector<sluice::AnyScopedConnection> all;  // not: std::vector<std::weak_ptr<void>> all
    all.emplace_back(list.append([&calls] { ++calls; }));
    all.emplace_back(queue.appendListener(3, [&calls](int) { ++calls; }));
    all.clear();  // removes both callbacks

    list();
    queue.dispatch(3, 4);
    return calls == 0 && handle.expired();
}

}  // namespace

int main() {
    return unchanged() && keepsHandles() ? 0 : 1;
}
