// The code of docs/migrating-from-eventpp.md.
#include <eventpp/callbacklist.h>
#include <eventpp/eventqueue.h>
#include <eventpp/utilities/counterremover.h>

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

}  // namespace

int main() {
    return unchanged() ? 0 : 1;
}
