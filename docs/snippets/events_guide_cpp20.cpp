// The coroutine of docs/guide/events.md.
#include <sluice/event.hpp>

#include <coroutine>
#include <exception>

namespace {

/// The least that a coroutine can return.
struct Task {
    // The names that the language wants.
    // NOLINTBEGIN(readability-identifier-naming)
    struct promise_type {
        Task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    // NOLINTEND(readability-identifier-naming)
};

Task total(sluice::EventQueue<int, void(int)>& queue, int& sum) {
    while (const auto event = co_await queue.next()) {
        sum += event->getArgument<0>();
    }
    sum = -sum;  // closed, and all has been dealt with
}

}  // namespace

int main() {
    sluice::EventQueue<int, void(int)> queue;
    int sum = 0;
    total(queue, sum);
    queue.enqueue(1, 20);  // the coroutine goes on in here
    queue.enqueue(1, 22);
    queue.close();
    return sum == -42 ? 0 : 1;
}
