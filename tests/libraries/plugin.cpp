#include "libraries/plugin.hpp"

#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/actor/running.hpp>

#include <chrono>

namespace sluice::test {
namespace {

struct Question {};
using Asked = Request<Question, int>;

class Replying : public PooledObject<Replying, Messages<Asked>> {
public:
    void handle(const Asked& question) { (void)question.reply(7); }
};

class Asking : public PooledObject<Asking, Messages<Question>> {
public:
    explicit Asking(Replying& other) : other_(other) {}
    void handle(const Question& question) {
        auto reply = other_.request<int>(question, std::chrono::seconds(20)).get();
        answer = reply ? *reply : 0;
    }
    int answer = 0;  // read after join()

private:
    Replying& other_;
};

int ask(Executor& executor) {
    Running<Replying> other(executor);
    Running<Asking> object(executor, other);
    (void)object.post(Question{});
    (void)object.stopAfterDrain(Asking::Clock::time_point::max());
    (void)object.join();
    return object.answer;
}

}  // namespace
}  // namespace sluice::test

extern "C" [[gnu::visibility("default")]] const sluice::test::PluginFunctions* pluginFunctions() {
    using sluice::test::PluginList;
    using sluice::test::PluginTick;
    static const sluice::test::PluginFunctions functions{
        [](const PluginList& list) { list(); },
        [](PluginList& list, const PluginList::Handle& handle) { return list.remove(handle); },
        [](PluginList& list, const PluginList::Handle& handle) {
            return list.removeAndWait(handle);
        },
        [] { return new PluginList; },
        [](PluginList* list) { delete list; },
        [](PluginList& list, void (*callback)()) { return list.append(callback); },
        &sluice::test::ask,
        [] { return new PluginTick; },
        [](PluginTick* tick) { delete tick; },
        [] { return static_cast<const sluice::PoolResource*>(&PluginTick::resource()); }};
    return &functions;
}
