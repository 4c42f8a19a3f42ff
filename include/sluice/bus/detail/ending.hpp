#pragma once

namespace sluice::detail {

/// What came of the wish to end a subscription.
enum class Ending : unsigned char {
    over,      ///< it had ended before, and its handler does not run
    now,       ///< it has ended, and its handler does not run
    withCall,  ///< it ends with its handler, which runs, and from which the wish came
    refused,   ///< the wish did not come from its handler: nothing has happened
};

/// Whose wish is granted.
enum class Ender : unsigned char { anybody, itsHandler };

}  // namespace sluice::detail
