#pragma once

namespace sluice::detail {

/// What came of the wish to end a subscription.
enum class UnsubscribeResult : unsigned char {
    alreadyOver,  ///< it had ended before, and its handler does not run
    done,         ///< it has ended, and its handler does not run
    atReturn,     ///< it ends when its handler returns, from which the wish came
    refused,      ///< the wish did not come from its handler: nothing has happened
};

/// From where a wish is granted.
enum class UnsubscribeCaller : unsigned char { anybody, ownHandler };

}  // namespace sluice::detail
