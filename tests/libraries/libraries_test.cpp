#include "libraries/parts.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace sluice::test {
namespace {

TEST(LibrariesTest, CallbackOutlivesItsRemovalByAnotherLibraryWhileItRuns) {
    List list;
    List::Handle handle;
    const auto captured = std::make_shared<int>(1);
    long ownersWhileRunning = 0;
    handle = list.append([&, kept = captured] {
        EXPECT_TRUE(removeInAnother(list, handle));
        ownersWhileRunning = captured.use_count();
    });
    callInOneLibrary(list);
    EXPECT_EQ(ownersWhileRunning, 2);
    EXPECT_EQ(captured.use_count(), 1);
}

}  // namespace
}  // namespace sluice::test
