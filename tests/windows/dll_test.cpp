#include "support/crew.hpp"
#include "windows/dlfcn.h"

#include <sluice/base/role_check.hpp>
#include <sluice/memory/block_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

// A program and a DLL have separate copies of all variables.

// As docs/platforms.md describes.
extern "C" __declspec(dllexport) bool* sluiceHandlerMark() {
    static thread_local bool mark = false;
    return &mark;
}

namespace sluice::test {
namespace {

template <class Function>
Function* find(void* dll, const char* name) {
    return reinterpret_cast<Function*>(dlsym(dll, name));
}

void* load() {
    void* const dll = dlopen(SLUICE_TEST_PLUGIN, RTLD_NOW);
    EXPECT_NE(dll, nullptr) << dlerror();
    return dll;
}

TEST(DllTest, ThreadReturnsItsCacheAlthoughTheDllWasFreedBefore) {
    BlockPoolOptions options;
    options.blockSize = 64;
    BlockPool pool(options);
    std::atomic<bool> isCached{false};
    std::atomic<bool> isFreed{false};
    void* const dll = load();
    std::thread user([&] {
        find<void(BlockPool&)>(dll, "cacheInDll")(pool);
        isCached = true;
        awaitThat([&] { return isFreed.load(); });
    });
    awaitThat([&] { return isCached.load(); });
    EXPECT_EQ(dlclose(dll), 0);
    isFreed = true;
    user.join();
    EXPECT_GT(pool.trim(), 0U);
}

TEST(DllTest, HandlerOfTheProgramIsAHandlerInADll) {
    auto* const isHandler = find<bool()>(load(), "isHandlerInDll");
    EXPECT_FALSE(isHandler());
    const HandlerThread<StdPlatform> handler;
    EXPECT_TRUE(isHandler());
    std::thread([&] { EXPECT_FALSE(isHandler()); }).join();
}

TEST(DllTest, ProgramEndsAndTheLogOfADllIsWritten) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const std::string file = testing::TempDir() + "sluice_dll_test.log";
    EXPECT_EXIT(
        {
            find<void(const std::string&)>(load(), "logInDll")(file);
            std::exit(0);
        },
        testing::ExitedWithCode(0), "");
    std::ifstream text(file);
    const std::string all(std::istreambuf_iterator<char>(text), {});
    EXPECT_NE(all.find("written"), std::string::npos) << all;
}

}  // namespace
}  // namespace sluice::test
