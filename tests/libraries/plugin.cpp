#include "libraries/plugin.hpp"

extern "C" [[gnu::visibility("default")]] const sluice::test::PluginFunctions* pluginFunctions() {
    using sluice::test::PluginList;
    static const sluice::test::PluginFunctions functions{
        [](const PluginList& list) { list(); },
        [](PluginList& list, const PluginList::Handle& handle) { return list.remove(handle); },
        [](PluginList& list, const PluginList::Handle& handle) {
            return list.removeAndWait(handle);
        },
        [] { return new PluginList; },
        [](PluginList* list) { delete list; },
        [](PluginList& list, void (*callback)()) { return list.append(callback); }};
    return &functions;
}
