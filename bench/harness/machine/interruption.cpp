#include "harness/machine/interruption.hpp"

#include <csignal>

namespace sluice::bench {

namespace {

volatile std::sig_atomic_t isInterrupted = 0;

extern "C" void noteInterruption(int signal) {
    isInterrupted = 1;
    std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptionWatch::InterruptionWatch() noexcept {
    isInterrupted = 0;
    std::signal(SIGINT, noteInterruption);
    std::signal(SIGTERM, noteInterruption);
    const sigset_t signals = interruptions();
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

InterruptionWatch::~InterruptionWatch() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

sigset_t interruptions() noexcept {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    return signals;
}

bool interrupted() noexcept {
    return isInterrupted != 0;
}

}  // namespace sluice::bench
