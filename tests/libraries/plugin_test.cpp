#include "libraries/plugin.hpp"
#include "support/crew.hpp"
#include "support/sanitizers.hpp"
#include "support/watchdog.hpp"

#include <sluice/actor/thread_pool.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

namespace sluice::test {
namespace {

/// One plugin for all tests: the sanitizers lose the names of functions that were unloaded.
const PluginFunctions& plugin() {
    static const PluginFunctions& functions = [] {
        void* const library = ::dlopen(SLUICE_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            std::fprintf(stderr, "%s\n", ::dlerror());
            std::abort();
        }
        using Entry = const PluginFunctions* (*)();
        return *reinterpret_cast<Entry>(::dlsym(library, "pluginFunctions"))();
    }();
    return functions;
}

TEST(PluginTest, RemovalByThePluginSparesTheRunningCallback) {
    PluginList list;
    PluginList::Handle handle;
    const auto captured = std::make_shared<int>(1);
    long ownersWhileRunning = 0;
    handle = list.append([&, kept = captured] {
        EXPECT_TRUE(plugin().remove(list, handle));
        ownersWhileRunning = captured.use_count();
    });
    list();
    EXPECT_EQ(ownersWhileRunning, 2);
    EXPECT_EQ(captured.use_count(), 1);
}

TEST(PluginTest, CallsOfBothNestInEachOther) {
    PluginList list;
    PluginList::Handle handle;
    const auto captured = std::make_shared<int>(1);
    int depth = 0;
    handle = list.append([&, kept = captured] {
        if (++depth == 4) {
            EXPECT_TRUE(list.removeAndWait(handle)) << "not for this thread's own calls";
        } else if (depth % 2 == 1) {
            plugin().call(list);
        } else {
            list();
        }
        EXPECT_EQ(captured.use_count(), 2);
    });
    list();
    EXPECT_EQ(captured.use_count(), 1);
}

TEST(PluginTest, WaitOfThePluginEndsWithTheCallOfTheProgram) {
    const Watchdog watchdog([](std::FILE*) {});
    PluginList list;
    std::atomic<bool> isInside{false};
    std::atomic<bool> mayLeave{false};
    std::atomic<bool> hasLeft{false};
    const auto captured = std::make_shared<int>(1);
    const auto handle = list.append([&, kept = captured] {
        isInside = true;
        awaitThat([&] { return mayLeave.load(); });
        hasLeft = true;
    });
    std::thread caller([&] { list(); });
    awaitThat([&] { return isInside.load(); });
    std::thread helper([&] {
        awaitThat([&] { return list.empty(); });  // the plugin has begun to wait
        mayLeave = true;
    });
    EXPECT_TRUE(plugin().removeAndWait(list, handle));
    EXPECT_TRUE(hasLeft);
    EXPECT_EQ(captured.use_count(), 1);
    caller.join();
    helper.join();
}

TEST(PluginTest, ListOfThePluginIsCalledByTheProgram) {
    const Watchdog watchdog([](std::FILE*) {});
    const std::unique_ptr<PluginList> list(plugin().makeList());
    static int calls = 0;
    const auto handle = plugin().append(*list, [] { ++calls; });
    (*list)();
    plugin().call(*list);
    EXPECT_EQ(calls, 2);
    std::thread([&] { EXPECT_TRUE(list->removeAndWait(handle)); }).join();
    EXPECT_TRUE(list->empty());
}

#if !SLUICE_TEST_TSAN
// The two share the resource of the class, or the program says that the object came from another.
TEST(PluginTest, PooledObjectOfThePluginGoesBackOrTheProgramSaysWhy) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    PluginTick* const tick = plugin().makeTick();
    if (plugin().poolOfTicks() == &PluginTick::resource()) {
        delete tick;
        EXPECT_EQ(PluginTick::resource().statistics(sizeof(PluginTick)).inUse, 0U);
        return;
    }
    const auto misuse = [tick] {
        delete tick;
        PluginTick::resource().trim();
    };
    EXPECT_DEATH(misuse(), "block of");
    plugin().endTick(tick);
}
#endif

// The handler waits for an object that its own thread would run next. The pool is the program's.
TEST(PluginTest, AHandlerOfThePluginMayWaitForAnother) {
    const Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(2);
    EXPECT_EQ(plugin().ask(pool), 7);
}

}  // namespace
}  // namespace sluice::test
