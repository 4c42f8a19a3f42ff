#include "support/model/expectations.hpp"

#include <sluice/actor/thread_pool.hpp>
#include <sluice/base/spin_lock.hpp>

#include "support/testing.hpp"

// The task that a worker runs next, and an idle thread that takes the task of a long handler, under
// the model checker.

namespace sluice::model {
namespace {

struct Task {
    Plain<int> posted;  ///< written by the handler that posts
    Plain<int> runs;

    void run() {
        check(posted.get() == 1, "the runner sees the writes of the handler");
        runs.set(runs.get() + 1);
    }
};

/// A pool with one worker, whose handler posts, and an idle thread that watches.
struct Pool {
    using Guard = std::lock_guard<BasicSpinLock<ModelPlatform>>;
    struct Worker {
        detail::NextTask<ModelPlatform, Task> next;
    };

    Pool() { watch.begin(); }

    void post() {
        task.posted.set(1);
        workers[0].next.set(task);
        if (watch.isMissing()) {
            const Guard guard(lock);
            watch.begin();
            isArmed.set(1);
        }
    }
    void check() {
        const Guard guard(lock);
        isArmed.set(watch.check(workers, [](Task& each) { each.run(); }) ? 1 : 0);
    }

    BasicSpinLock<ModelPlatform> lock;
    std::array<Worker, 1> workers;
    detail::NextTaskWatch<ModelPlatform> watch;
    Task task;
    Plain<int> isArmed;  ///< whether the idle thread checks again
};

/// While the handler goes on, an idle thread will check the task again.
void aPostIsWatched() {
    Pool pool;
    parallel([&] { pool.post(); }, [&] { pool.check(); });
    model::check(pool.isArmed.get() == 1, "the task is watched");
    pool.check();
    pool.check();
    model::check(pool.task.runs.get() == 1, "an idle thread takes the task");
}

/// The handler returns while the idle thread takes the task.
void aTaskRunsOnce() {
    Pool pool;
    parallel(
        [&] {
            pool.post();
            if (Task* const task = pool.workers[0].next.take()) {
                task->run();
            }
        },
        [&] { pool.check(), pool.check(); });
    model::check(pool.task.runs.get() == 1, "the task runs once");
}

TEST(ThreadPoolModelTest, ALongHandlerKeepsNoTask) {
    EXPECT_TRUE(holds(aPostIsWatched));
    EXPECT_TRUE(holds(aTaskRunsOnce));
}

// take() acquires only what its own thread has released.
TEST(ThreadPoolModelTest, EveryOrderOfAnotherThreadIsNeeded) {
    EXPECT_TRUE(survive({"take: update acquire -> relaxed"},
                        ordersOf("thread_pool.hpp", {}, {aPostIsWatched, aTaskRunsOnce})));
}

}  // namespace
}  // namespace sluice::model
