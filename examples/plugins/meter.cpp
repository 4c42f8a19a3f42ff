#include "meter.hpp"

// A plugin of examples/unload_plugin.cpp.

namespace {
Readings::Handle handle;
}

extern "C" [[gnu::visibility("default")]] void startMeter(Readings& readings,
                                                          std::atomic<long>& total) {
    handle = readings.append([&total](int reading) { total += reading; });
}

extern "C" [[gnu::visibility("default")]] void stopMeter(Readings& readings) {
    // It returns when no thread is inside the callback.
    (void)readings.removeAndWait(handle);
}
