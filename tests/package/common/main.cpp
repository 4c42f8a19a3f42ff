#include <sluice/sluice.hpp>

#include <cstdio>
#include <string_view>

int main() {
    sluice::SpscRing<sluice::FixedString<31>, 4> ring;
    if (ring.tryEmplace("carried") != sluice::PushResult::ok) {
        return 1;
    }
    const auto message = ring.tryPop();
    if (!message || std::string_view(message->c_str()) != "carried") {
        return 1;
    }
    std::puts(message->c_str());
    return 0;
}
