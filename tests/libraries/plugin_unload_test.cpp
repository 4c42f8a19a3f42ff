#include "libraries/plugin.hpp"
#include "libraries/version.hpp"
#include "support/sanitizers.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

// A plugin is unloaded, and threads of the program that have met its code go on. g++ marks
// variables of a library as unique in the process, and then no plugin that has them is unloaded.
// AddressSanitizer takes the registry for a leak that the plugin's threads still use.

namespace sluice::test {
namespace {

class Plugin {
public:
    Plugin() : library_(::dlopen(SLUICE_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL)) {
        using Entry = const PluginFunctions* (*)();
        functions_ = reinterpret_cast<Entry>(::dlsym(library_, "pluginFunctions"))();
    }
    const PluginFunctions* operator->() const { return functions_; }

    void unload() {
        EXPECT_EQ(::dlclose(library_), 0);
#if defined(__clang__)
        EXPECT_EQ(::dlopen(SLUICE_TEST_PLUGIN, RTLD_NOW | RTLD_NOLOAD), nullptr)
            << "it is still there, so the test shows nothing";
#endif
    }

private:
    void* library_;
    const PluginFunctions* functions_;
};

enum Stage { begun, inside, unloaded };

void await(const std::atomic<Stage>& stage, Stage awaited) {
    while (stage.load(std::memory_order_acquire) != awaited) {
        std::this_thread::yield();
    }
}

#if !SLUICE_TEST_ASAN
TEST(PluginUnloadTest, ThreadThatHasCalledAListOfThePluginEndsLater) {
    Plugin plugin;
    PluginList* const list = plugin->makeList();
    plugin->append(*list, [] {});
    std::atomic<Stage> stage{begun};
    std::thread caller([&] {
        (*list)();
        stage.store(inside, std::memory_order_release);
        await(stage, unloaded);
    });
    await(stage, inside);
    plugin->endList(list);
    plugin.unload();
    stage.store(unloaded, std::memory_order_release);
    caller.join();
}

TEST(PluginUnloadTest, CallbackThatThePluginRemovedIsDestroyedByTheProgram) {
    Plugin plugin;
    PluginList list;
    std::atomic<Stage> stage{begun};
    (void)list.append([&] {
        stage.store(inside, std::memory_order_release);
        await(stage, unloaded);
    });
    const auto captured = std::make_shared<int>(1);
    const auto handle = list.append([captured] {});
    std::thread caller([&] { list(); });
    await(stage, inside);
    EXPECT_TRUE(plugin->remove(list, handle));
    EXPECT_EQ(captured.use_count(), 2);
    plugin.unload();
    stage.store(unloaded, std::memory_order_release);
    caller.join();
    EXPECT_EQ(captured.use_count(), 1);
}

TEST(PluginUnloadTest, SecondVersionOfAPluginTakesThePlaceOfTheFirst) {
    const std::string path = testing::TempDir() + "sluice_version_plugin.so";
    VersionList list;
    int expected = 1;
    for (const char* const built : {SLUICE_TEST_VERSION_1, SLUICE_TEST_VERSION_2}) {
        std::filesystem::remove(path);
        std::filesystem::copy_file(built, path);
        void* const plugin = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(plugin, nullptr);
        reinterpret_cast<UseVersion>(::dlsym(plugin, "startVersion"))(list);
        int version = 0;
        list(version);
        EXPECT_EQ(version, expected++) << "the first one is still there: -fno-gnu-unique";
        reinterpret_cast<UseVersion>(::dlsym(plugin, "stopVersion"))(list);
        EXPECT_EQ(::dlclose(plugin), 0);
    }
    std::filesystem::remove(path);
}
#endif

}  // namespace
}  // namespace sluice::test
