// A callback list, a dispatcher and a queue as a microcontroller has them: for one thread at a
// time, without the threads of the standard library. The callbacks are in the objects, the lists
// and the events are on the heap. `./dev ram` builds this file for a Cortex-M4 and prints its size.

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_queue.hpp>
#include <sluice/eventpp/mixin_filter.hpp>
#include <sluice/eventpp/removers.hpp>

#include <cstdint>

namespace {

struct Policies {
    using Threading = sluice::SingleThreading;
};
struct FilteredPolicies : Policies {
    using Mixins = sluice::MixinList<sluice::MixinFilter>;
};

enum class Button : std::uint8_t { start, stop };

sluice::CallbackList<void(int), Policies> onTick;
sluice::EventDispatcher<Button, void(int), FilteredPolicies> onButton;
sluice::EventQueue<Button, void(int), Policies> later;

}  // namespace

int main() {
    int sum = 0;
    const auto add = [&sum](int value) { sum += value; };
    onTick.append(add);
    onTick(1);

    onButton.appendFilter([](int value) { return value > 0; });
    onButton.appendListener(Button::start, add);
    onButton.dispatch(Button::start, 10);
    onButton.dispatch(Button::start, -10);

    {
        sluice::ScopedRemover<decltype(later)> remover(later);
        remover.appendListener(Button::stop, add);
        later.enqueue(Button::stop, 100);
        later.process();
    }
    later.enqueue(Button::stop, 1000);
    later.process();
    return sum == 111 ? 0 : 1;
}
