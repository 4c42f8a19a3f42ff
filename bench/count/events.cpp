#include "event_vocabulary.hpp"
#include "rows.hpp"

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_queue.hpp>

namespace sluice::count {

namespace {

struct Ours {
    using CallbackList = sluice::CallbackList<void(std::uint64_t)>;
    using EventDispatcher = sluice::EventDispatcher<int, void(const Message&)>;
    using EventQueue = sluice::EventQueue<int, void(const Message&)>;
    static constexpr bool hasVisitor = true;
};

}  // namespace

void addEvents(Rows& rows) {
    addVocabulary<Ours>(rows, ours);
}

}  // namespace sluice::count
