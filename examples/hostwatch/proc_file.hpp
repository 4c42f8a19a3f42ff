#pragma once

#include "proc_text.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace hostwatch {

/// Reads one small text file again and again, into a buffer it keeps.
///
/// It reads regular files only, of at most `sizeLimit` bytes: others may block or never end.
class ProcFile {
public:
    static constexpr std::size_t sizeLimit = std::size_t{1} << 20;

    explicit ProcFile(std::string path);

    /// Reads the file as it is now. After a problem `text()` is empty.
    Problem read();

    /// The text that the last `read()` found; valid until the next one.
    std::string_view text() const noexcept { return {buffer_.data(), size_}; }
    const std::string& path() const noexcept { return path_; }

private:
    Problem readAll(int descriptor);

    std::string path_;
    std::string buffer_;  ///< grows to the length of the text, then stays
    std::size_t size_ = 0;
};

}  // namespace hostwatch
