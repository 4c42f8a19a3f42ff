#pragma once

#include <memory>

namespace sluice::log {

class backend;

namespace detail {

class Frontend;

/// Gives the rest of the module access to the parts of a back end.
struct Access {
    static void leave(backend& which);
    static void end(backend& which);

    /// The part that log calls use. Null for a null back end.
    static std::shared_ptr<Frontend> frontend(const std::shared_ptr<backend>& of) noexcept;
};

}  // namespace detail

}  // namespace sluice::log
