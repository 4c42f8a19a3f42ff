#include "support/real_time.hpp"
#include "support/watchdog.hpp"

#include <sluice/bridge/nats/detail/trouble_reporter.hpp>

#include <gtest/gtest.h>

#include <cstdio>

namespace sluice::nats::detail {
namespace {

using namespace test;

struct Listener : BridgeObserver {
    void changed(const char*, LinkState) noexcept override {}
    void trouble(const char*) noexcept override {}
};

// Each refused send tells its line. A thread of low priority may be preempted while it tells.
TEST(TroubleReporterTest, ALineThatWasToldDelaysNoThreadOfHighPriority) {
    const Watchdog watchdog([](std::FILE*) {});
    Listener listener;
    TroubleReporter reporter(&listener);
    if (!callAtThreePriorities(scaled(2'000), [&] { reporter.tell({"messages are refused"}); })) {
        GTEST_SKIP() << "no real-time priorities here";
    }
}

}  // namespace
}  // namespace sluice::nats::detail
