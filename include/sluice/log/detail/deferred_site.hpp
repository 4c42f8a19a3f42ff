#pragma once

#include <spdlog/common.h>

#include <cstddef>

namespace sluice::log::detail {

/// What all records of one deferred call site share; one constant in the program for each site.
struct DeferredSite {
    spdlog::level::level_enum level;
    spdlog::source_loc source;
    spdlog::string_view_t format;

    /// Appends the text of a record to `to`: the format with the arguments that the call wrote into
    /// `size` bytes. On the back end; it throws what a formatter throws, and `to` then holds a
    /// part.
    void (*print)(const DeferredSite& site, const std::byte* arguments, std::size_t size,
                  spdlog::memory_buf_t& to);
};

}  // namespace sluice::log::detail
