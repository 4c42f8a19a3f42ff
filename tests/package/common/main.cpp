#include <sluice/sluice.hpp>

#include <eventpp/callbacklist.h>

#include <cstdio>
#include <string_view>

int main() {
    sluice::SpscRing<sluice::FixedString<31>, 4> ring;
    if (ring.tryEmplace("carried") != sluice::SendResult::ok) {
        return 1;
    }
    const auto message = ring.tryPop();
    if (!message || std::string_view(message->c_str()) != "carried") {
        return 1;
    }
    bool isCalled = false;
    eventpp::CallbackList<void()> list;
    list.append([&isCalled] { isCalled = true; });
    list();
    if (!isCalled) {
        return 1;
    }
    std::puts(message->c_str());
    return 0;
}
