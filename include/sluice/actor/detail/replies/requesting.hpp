#pragma once

#include <sluice/actor/request.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/bus/message_header.hpp>
#include <sluice/wait/deadline.hpp>

#include <chrono>
#include <utility>

namespace sluice::detail {

/// Adds the function request() to an object. Object has `tryPost` and `isHere`.
template <class Object>
class Requesting {
public:
    /// Posts a Request<Question, Reply> and returns the future of the reply. This type must be one
    /// of the Messages of the object. See request.hpp. It never waits for room.
    template <class Reply, class Question, class Options = PublishOptions>
    Future<Reply> request(Question question, StdPlatform::Clock::time_point deadline,
                          const Options& options = {}) {
        return send<Reply>(std::move(question), deadline, {}, options);
    }
    template <class Reply, class Question, class Rep, class Period, class Options = PublishOptions>
    Future<Reply> request(Question question, std::chrono::duration<Rep, Period> timeout,
                          const Options& options = {}) {
        using Nanoseconds = std::chrono::time_point<StdPlatform::Clock, std::chrono::nanoseconds>;
        return send<Reply>(std::move(question), deadlineAfter<StdPlatform::Clock>(timeout),
                           deadlineAfter(Nanoseconds(), timeout).time_since_epoch(), options);
    }

private:
    template <class Reply, class Question, class Options>
    Future<Reply> send(Question question, StdPlatform::Clock::time_point deadline,
                       typename Future<Reply>::Timeout timeout, const Options& options) {
        using Message = Request<Question, Reply>;
        auto& object = static_cast<Object&>(*this);
        if (object.isHere()) {
            return Future<Reply>(RequestError::ownObject);
        }
        return Message::make(
            std::move(question), deadline,
            [&](Message&& message) { return object.tryPost(std::move(message), options); },
            timeout);
    }
};

}  // namespace sluice::detail
