#pragma once

#include "support/model/expectations.hpp"

#include <sluice/actor/request.hpp>

#include <optional>
#include <utility>

namespace sluice::model {

struct RequestTraits {
    using Platform = ModelPlatform;
    using Wait = BasicPark<ModelPlatform, ModelParker>;
};
struct Question {};
using Asked = BasicRequest<RequestTraits, Question, Plain<int>*>;

/// A request on its way, and its future. The reply names a value.
struct Exchange {
    Exchange()
        : future(Asked::make(Question{}, Asked::TimePoint::max(), [this](Asked&& message) {
              request.emplace(std::move(message));
              return SendResult::ok;
          })) {}
    void reply() {
        value.set(7);
        request->reply(&value);
        request.reset();
    }

    std::optional<Asked> request;
    Asked::Future future;
    Plain<int> value;
};

}  // namespace sluice::model
