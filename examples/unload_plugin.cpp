#include "plugins/meter.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <thread>

// The program loads a plugin, which adds a callback to a list. The program unloads the plugin while
// a thread calls the list.

namespace {

void awaitMoreThan(const std::atomic<long>& value, long least) {
    while (value <= least) {
        std::this_thread::yield();
    }
}

}  // namespace

int main() {
    void* const plugin = ::dlopen(METER_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
        std::fprintf(stderr, "%s cannot be loaded\n", METER_PLUGIN);
        return 1;
    }
    const auto start = reinterpret_cast<StartMeter>(::dlsym(plugin, "startMeter"));
    const auto stop = reinterpret_cast<StopMeter>(::dlsym(plugin, "stopMeter"));

    Readings readings;
    std::atomic<bool> isRunning{true};
    std::atomic<long> calls{0};
    std::thread sensor([&] {
        while (isRunning) {
            readings(1);
            ++calls;
        }
    });

    std::atomic<long> total{0};
    start(readings, total);
    awaitMoreThan(total, 1000);
    stop(readings);
    const bool isUnloaded = ::dlclose(plugin) == 0;

    const long counted = total;
    awaitMoreThan(calls, calls + 1000);  // the thread goes on without the plugin
    isRunning = false;
    sensor.join();
    std::printf("the plugin counted %ld readings, and was unloaded\n", counted);
    return isUnloaded && total == counted && readings.empty() ? 0 : 1;
}
