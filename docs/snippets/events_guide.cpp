// The code of docs/guide/events.md.
#include <sluice/event.hpp>
#include <sluice/wait.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

bool callbacks() {
    sluice::CallbackList<void(int)> onChange;

    int last = 0;
    const auto handle = onChange.append([&last](int value) { last = value; });
    onChange.prepend([](int value) { std::printf("changing to %d\n", value); });

    onChange(42);             // calls both, the prepended one first
    onChange.remove(handle);  // or: handle.remove()
    onChange(43);
    return last == 42;
}

bool listeners() {
    enum class Topic { temperature, door };

    sluice::EventDispatcher<Topic, void(const std::string&)> dispatcher;
    std::string heard;
    dispatcher.appendListener(Topic::door, [&heard](const std::string& text) { heard = text; });

    dispatcher.dispatch(Topic::door, "open");
    dispatcher.dispatch(Topic::temperature, "21");  // nobody listens

    const auto handle = dispatcher.appendListener(Topic::door, [](const std::string&) {});
    dispatcher.removeListener(Topic::door, handle);  // or: handle.remove()
    return heard == "open";
}

struct Click {
    bool isHandled = false;
};
struct UntilHandled {
    static bool canContinueInvoking(const Click& click) { return !click.isHandled; }
};

bool propagation() {
    int calls = 0;
    sluice::EventDispatcher<int, void(Click&), UntilHandled> clicks;
    clicks.appendListener(1, [](Click& click) { click.isHandled = true; });
    clicks.appendListener(1, [&calls](Click&) { ++calls; });  // not called

    Click click;
    clicks.dispatch(1, click);
    return calls == 0;
}

bool queues() {
    sluice::EventQueue<int, void(const std::string&)> queue;
    std::vector<std::string> seen;
    queue.appendListener(3, [&seen](const std::string& text) { seen.push_back(text); });

    std::thread consumer([&queue] {
        while (!queue.isClosed() || !queue.emptyQueue()) {
            queue.wait();     // until there is an event, or the queue is closed
            queue.process();  // calls the listeners on this thread
        }
    });

    queue.enqueue(3, "hello");  // from any thread
    queue.enqueue(3, "again");
    queue.close();
    consumer.join();
    return seen == std::vector<std::string>{"hello", "again"};
}

bool visitors() {
    sluice::EventQueue<int, void(int)> queue;
    queue.enqueue(1, 20);
    queue.enqueue(2, 22);

    int sum = 0;
    queue.processQueueWith([&sum](int event, int value) {
        switch (event) {
        case 1:
        case 2:
            sum += value;
            break;
        default:
            break;
        }
    });
    return sum == 42;
}

bool manyConsumers() {
    sluice::EventQueue<int, void(int)> jobs;  // without a limit
    std::atomic<int> sum{0};
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 2; ++worker) {
        workers.emplace_back([&] {
            while (!jobs.isClosed() || jobs.sizeApprox() != 0) {
                jobs.wait();
                jobs.processOneWith([&sum](int, int value) { sum += value; });
            }
        });
    }

    jobs.enqueue(1, 20);
    jobs.enqueue(1, 22);
    jobs.drain();
    for (auto& worker : workers) {
        worker.join();
    }
    return sum == 42;
}

bool bounded() {
    sluice::EventQueueOptions options;
    options.limit = 2;
    options.overflow = sluice::Overflow::dropOldest;
    sluice::EventQueue<int, void(int)> queue(options);

    queue.enqueue(1, 1);
    queue.enqueue(1, 2);
    queue.enqueue(1, 3);
    return queue.sizeApprox() == 2 && queue.statistics().discarded == 1;
}

struct Display {
    void show(int value) { shown = value; }
    int shown = 0;
};

bool lifetimes() {
    sluice::CallbackList<void(int)> onChange;
    auto display = std::make_shared<Display>();

    // Does nothing once the display has gone.
    onChange.append([weak = std::weak_ptr<Display>(display)](int value) {
        if (const auto alive = weak.lock()) {
            alive->show(value);
        }
    });

    {
        // Removed at the end of the scope.
        const sluice::ScopedConnection connection(onChange.append([](int) {}));
        onChange(5);
    }

    // Removed, and no longer running on any thread.
    const auto handle = onChange.append([](int) {});
    onChange.removeAndWait(handle);
    return display->shown == 5;
}

struct SingleThreaded {
    using Threading = sluice::SingleThreading;
    static bool canContinueInvoking(int value) { return value < 3; }
};

bool policies() {
    sluice::CallbackList<void(int), SingleThreaded> list;
    int calls = 0;
    list.append([&calls](int) { ++calls; });
    list.append([&calls](int) { ++calls; });
    list(1);
    list(3);  // stops after the first callback
    return calls == 3;
}

}  // namespace

int main() {
    return callbacks() && listeners() && propagation() && queues() && visitors() &&
                   manyConsumers() && bounded() && lifetimes() && policies()
               ? 0
               : 1;
}
