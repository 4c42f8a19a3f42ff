#include <windows.h>

#include <sluice/actor/detail/own_thread.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace sluice::detail {
namespace {

struct Seen {
    std::wstring name;
    int priority = -99;
    DWORD processor = 99;
};

Seen seenWith(const ThreadOptions& options) {
    Seen seen;
    OwnThread thread;
    thread.start(
        options,
        [](void* object) noexcept {
            Seen& mine = *static_cast<Seen*>(object);
            PWSTR name = nullptr;
            if (SUCCEEDED(GetThreadDescription(GetCurrentThread(), &name))) {
                mine.name = name;
                LocalFree(name);
            }
            mine.priority = GetThreadPriority(GetCurrentThread());
            mine.processor = GetCurrentProcessorNumber();
        },
        &seen);
    thread.join();
    return seen;
}

TEST(OwnThreadTest, OptionsReachTheThread) {
    const Seen seen = seenWith({"fifteen letters", 0, SchedulingPolicy::roundRobin, 1});
    EXPECT_EQ(seen.name, L"fifteen letters");
    EXPECT_EQ(seen.priority, THREAD_PRIORITY_ABOVE_NORMAL);
    EXPECT_EQ(seen.processor, 0U);
    EXPECT_EQ(seenWith({"\xC3\xA9t\xC3\xA9 \xF0\x9F\x8C\x8A"}).name, L"\u00E9t\u00E9 \xD83C\xDF0A");
    EXPECT_EQ(seenWith({"", {}, SchedulingPolicy::other}).priority, THREAD_PRIORITY_NORMAL);
    ASSERT_TRUE(SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL));
    EXPECT_EQ(seenWith({}).priority, THREAD_PRIORITY_BELOW_NORMAL);
    ASSERT_TRUE(SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_NORMAL));
}

TEST(OwnThreadTest, RefusalNamesTheValueAndTheLimit) {
    const auto refusal = [](const ThreadOptions& options) -> std::string {
        try {
            (void)seenWith(options);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal({"sixteen letters!"}),
              "length of the name of an object's thread: 16, limit 15");
    for (const unsigned processor : {63U, 64U}) {
        EXPECT_EQ(refusal({"", processor}).find("processor of an object's thread"), 0U);
    }
    for (const ThreadOptions& options : {ThreadOptions{"", {}, SchedulingPolicy::fifo, 1},
                                         ThreadOptions{"", {}, SchedulingPolicy::roundRobin, 0},
                                         ThreadOptions{"", {}, SchedulingPolicy::roundRobin, 7},
                                         ThreadOptions{"", {}, SchedulingPolicy::other, 1}}) {
        EXPECT_EQ(refusal(options).find("priority of an object's thread"), 0U);
    }
}

}  // namespace
}  // namespace sluice::detail
