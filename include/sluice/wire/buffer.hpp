#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice::wire {

/// Collects encoded bytes in memory of the caller. It never allocates.
class Buffer {
public:
    Buffer(unsigned char* storage, std::size_t capacity) noexcept
        : storage_(storage), capacity_(capacity) {}

    [[nodiscard]] const unsigned char* data() const noexcept { return storage_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Whether append or extend has refused bytes, since the buffer was made.
    [[nodiscard]] bool hasOverflowed() const noexcept { return hasOverflowed_; }

    /// Removes the bytes after the first `size` bytes.
    void shrink(std::size_t size) noexcept { size_ = size < size_ ? size : size_; }

    /// Returns false, and adds nothing, if the bytes do not fit.
    [[nodiscard]] bool append(const void* bytes, std::size_t count) noexcept {
        if (count > capacity_ - size_) {
            hasOverflowed_ = true;
            return false;
        }
        if (count != 0) {
            std::memcpy(storage_ + size_, bytes, count);
            size_ += count;
        }
        return true;
    }

    /// Adds `count` bytes, which the caller writes at the returned address. Returns null, and adds
    /// nothing, if the bytes do not fit.
    [[nodiscard]] unsigned char* extend(std::size_t count) noexcept {
        if (count > capacity_ - size_) {
            hasOverflowed_ = true;
            return nullptr;
        }
        size_ += count;
        return storage_ + (size_ - count);
    }

private:
    unsigned char* storage_;
    std::size_t capacity_;
    std::size_t size_ = 0;
    bool hasOverflowed_ = false;
};

}  // namespace sluice::wire
