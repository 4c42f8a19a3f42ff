#pragma once

#include <memory>

namespace sluice::log {

class backend;

namespace detail {

class Frontend;

/// Lets the rest of the module use private parts of a back end.
struct BackendAccess {
    /// Called at the end of the program: backend::leave().
    static void leave(backend& which);
    /// Calls shutdown() with the time limit of the options.
    static void end(backend& which);

    /// Returns the part that log calls use. Null for a null back end.
    static std::shared_ptr<Frontend> frontend(const std::shared_ptr<backend>& of) noexcept;
};

}  // namespace detail

}  // namespace sluice::log
