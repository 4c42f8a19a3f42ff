/// \file
/// eventpp or its fork. The build compiles this source once for each, with another name for their
/// namespace, and defines SLUICE_EVENTPP_ADD, SLUICE_EVENTPP_ID and, for the fork,
/// SLUICE_EVENTPP_PRESET.

#include "event_vocabulary.hpp"
#include "rows.hpp"

#include <eventpp/callbacklist.h>
#include <eventpp/eventdispatcher.h>
#include <eventpp/eventqueue.h>

namespace sluice::count {

namespace {

struct Theirs {
    using CallbackList = eventpp::CallbackList<void(std::uint64_t)>;
    using EventDispatcher = eventpp::EventDispatcher<int, void(const Message&)>;
    using EventQueue = eventpp::EventQueue<int, void(const Message&)>;
#if defined(SLUICE_EVENTPP_PRESET)
    static constexpr bool hasVisitor = true;
#else
    static constexpr bool hasVisitor = false;
#endif
};

}  // namespace

void SLUICE_EVENTPP_ADD(Rows& rows) {
    addVocabulary<Theirs>(rows, SLUICE_EVENTPP_ID);
}

}  // namespace sluice::count
