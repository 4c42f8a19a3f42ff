#pragma once

#include <spdlog/common.h>

#include <cstddef>

namespace sluice::log::detail {

/// A call site with arguments that the back end formats. Each site has one constant, which lives as
/// long as the program.
struct DeferredSite {
    spdlog::level::level_enum level;
    spdlog::source_loc source;
    spdlog::string_view_t format;
    /// Appends the text of encoded arguments. It may throw, like the formatting library.
    void (*print)(const DeferredSite& site, const std::byte* arguments, std::size_t size,
                  spdlog::memory_buf_t& to);
};

}  // namespace sluice::log::detail
