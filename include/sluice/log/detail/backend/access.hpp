#pragma once

#include <memory>

namespace sluice::log {

class backend;

namespace detail {

class Port;

/// A back end as the rest of the module sees it.
struct Access {
    static void leave(backend& which);
    static void end(backend& which);

    /// What log calls use of it. Null for none.
    static std::shared_ptr<Port> port(const std::shared_ptr<backend>& of) noexcept;
};

}  // namespace detail

}  // namespace sluice::log
