#pragma once

#include <sluice/event/callback_list.hpp>

#include <atomic>

// The interface between the program and its plugin.

/// The program calls it for each reading.
using Readings = sluice::CallbackList<void(int reading)>;

extern "C" {
/// Adds the plugin's callback, which adds each reading to `total`.
using StartMeter = void (*)(Readings& readings, std::atomic<long>& total);
/// Removes the callback. Afterwards no thread is in the code of the plugin.
using StopMeter = void (*)(Readings& readings);
}
