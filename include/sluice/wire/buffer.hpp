#pragma once

#include <cstddef>
#include <cstring>

namespace sluice::wire {

/// Collects encoded bytes in the caller's memory, which must outlive the Buffer. Never allocates.
///
///     std::array<unsigned char, 256> memory;
///     wire::Buffer buffer(memory.data(), memory.size());
///     if (wire::encode(Reading{7, 21.5}, buffer)) {
///         send(buffer.data(), buffer.size());
///     }
///
/// Thread safety: only one thread at a time may use a Buffer.
class Buffer {
public:
    /// `capacity` is the number of bytes at `storage`.
    Buffer(unsigned char* storage, std::size_t capacity) noexcept
        : storage_(storage), capacity_(capacity) {}

    [[nodiscard]] const unsigned char* data() const noexcept { return storage_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Returns true if append() or extend() has ever refused bytes.
    [[nodiscard]] bool hasOverflowed() const noexcept { return hasOverflowed_; }

    /// Keeps at most the first `size` bytes.
    void shrink(std::size_t size) noexcept { size_ = size < size_ ? size : size_; }

    /// Appends `count` bytes. Appends nothing and returns false if the bytes do not fit.
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

    /// Appends `count` bytes and returns their address; the caller must write them. Appends nothing
    /// and returns null if the bytes do not fit.
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
