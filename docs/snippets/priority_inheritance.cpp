// The code of docs/how-to/priority-inheritance.md.
#include <sluice/event.hpp>

#include <pthread.h>
#include <thread>

/// A mutex whose holder runs with the priority of the highest waiter.
class InheritingMutex {
public:
    InheritingMutex() noexcept {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        pthread_mutex_init(&mutex_, &attributes);
        pthread_mutexattr_destroy(&attributes);
    }
    ~InheritingMutex() { pthread_mutex_destroy(&mutex_); }
    InheritingMutex(const InheritingMutex&) = delete;
    InheritingMutex& operator=(const InheritingMutex&) = delete;

    void lock() noexcept { pthread_mutex_lock(&mutex_); }
    bool try_lock() noexcept { return pthread_mutex_trylock(&mutex_) == 0; }
    void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

private:
    pthread_mutex_t mutex_{};
};

struct RealTimePolicies {
    using Threading = sluice::GeneralThreading<InheritingMutex>;
};
using Commands = sluice::EventQueue<int, void(int), RealTimePolicies>;

int main() {
    Commands commands;
    int sum = 0;
    commands.appendListener(1, [&sum](int value) { sum += value; });

    std::thread ordinary([&commands] { commands.enqueue(1, 20); });
    commands.enqueue(1, 22);  // a real-time thread
    ordinary.join();
    commands.process();
    return sum == 42 ? 0 : 1;
}
