#pragma once

#include <sluice/actor/executor.hpp>
#include <sluice/event/callback_list.hpp>
#include <sluice/memory/pooled.hpp>

// A plugin uses a list and an executor of the program that loads it. The program and the plugin are
// two shared objects, which see each other's symbols or not.

namespace sluice::test {

using PluginList = CallbackList<void()>;

struct PluginTick final : Pooled<PluginTick> {
    int number = 0;
};

/// The table that the plugin's function `pluginFunctions` returns.
struct PluginFunctions {
    void (*call)(const PluginList& list);
    bool (*remove)(PluginList& list, const PluginList::Handle& handle);
    bool (*removeAndWait)(PluginList& list, const PluginList::Handle& handle);
    PluginList* (*makeList)();
    void (*endList)(PluginList* list);
    PluginList::Handle (*append)(PluginList& list, void (*callback)());
    /// The reply of an object of the plugin to another one that waits in a handler; 0 if there is
    /// none.
    int (*ask)(Executor& executor);
    PluginTick* (*makeTick)();
    void (*endTick)(PluginTick* tick);
    const PoolResource* (*poolOfTicks)();
};

}  // namespace sluice::test
