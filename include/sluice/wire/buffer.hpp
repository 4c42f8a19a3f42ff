#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice::wire {

/// Collects encoded bytes in memory of the caller. It never allocates.
///
///     std::array<unsigned char, 256> memory;
///     wire::Buffer buffer(memory.data(), memory.size());
///     if (wire::encode(Reading{7, 21.5}, buffer)) {
///         send(buffer.data(), buffer.size());
///     }
///
/// Threads: one thread at a time. The memory must outlive the buffer.
class Buffer {
public:
    /// `capacity` is the number of bytes at `storage`.
    Buffer(unsigned char* storage, std::size_t capacity) noexcept
        : storage_(storage), capacity_(capacity) {}

    [[nodiscard]] const unsigned char* data() const noexcept { return storage_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Whether append() or extend() has ever refused bytes.
    [[nodiscard]] bool hasOverflowed() const noexcept { return hasOverflowed_; }

    /// Removes the bytes behind the first `size` bytes. If there are fewer bytes, it does nothing.
    void shrink(std::size_t size) noexcept { size_ = size < size_ ? size : size_; }

    /// Appends `count` bytes. If they do not fit, it appends nothing and returns false.
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

    /// Appends `count` bytes that the caller then writes to the returned address. If they do not
    /// fit, it appends nothing and returns null.
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
