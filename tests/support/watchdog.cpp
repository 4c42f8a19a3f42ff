#include "support/watchdog.hpp"

#include "support/testing.hpp"

namespace sluice::test {

namespace {

void printRunningTest(std::FILE* out, std::chrono::seconds limit) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::fprintf(out, "watchdog: %s.%s did not end within %lld s\n",
                 test != nullptr ? test->test_suite_name() : "(no suite)",
                 test != nullptr ? test->name() : "(no test)",
                 static_cast<long long>(limit.count()));
}

}  // namespace

Watchdog::Watchdog(PrintState printState, std::chrono::seconds limit)
    : printState_(std::move(printState)), thread_([this, limit] { watch(limit); }) {
}

Watchdog::~Watchdog() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        isEnded_ = true;
    }
    ended_.notify_one();
    thread_.join();
}

void Watchdog::watch(std::chrono::seconds limit) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (ended_.wait_for(lock, limit, [this] { return isEnded_; })) {
        return;
    }
    printRunningTest(stderr, limit);
    printState_(stderr);
    std::fflush(stderr);
    std::abort();
}

}  // namespace sluice::test
