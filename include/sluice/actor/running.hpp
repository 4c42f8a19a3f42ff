#pragma once

#include <sluice/actor/executor.hpp>
#include <sluice/actor/thread_options.hpp>
#include <sluice/base/assert.hpp>

#include <utility>

namespace sluice {

/// An object that runs during its whole lifetime. The constructor starts the completely constructed
/// object, and the destructor stops and joins the object before any member is destroyed.
///
///     sluice::Running<Motor> motor({"motor"}, 3.5);  // Motor(3.5) on a thread named "motor"
///
/// The destructor discards queued messages; to handle them, call stopAfterDrain() first. If a
/// handler destroys its own object, or calls std::exit() when the object is static, the program
/// terminates with a message.
template <class Object>
class Running final : public Object {
public:
    template <class... Args>
    explicit Running(const ThreadOptions& options = {}, Args&&... args)
        : Object(std::forward<Args>(args)...) {
        (void)this->start(options);
    }
    /// The constructor for an object on an executor.
    template <class... Args>
    explicit Running(Executor& executor, Args&&... args) : Object(std::forward<Args>(args)...) {
        (void)this->start(executor);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    ~Running() {
        this->stop();
        if (!this->join()) {
            failAssertion(
                {"outside of its handlers",
                 "an active object is destroyed by its own handler, perhaps in std::exit(): "
                 "call stop() there, and let another thread destroy it",
                 __FILE__, __LINE__});
        }
    }
};

}  // namespace sluice
