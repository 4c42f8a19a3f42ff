#pragma once

#include <sluice/base/assert.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice {

/// A read-only handle to a shared buffer, which returns the buffer to its owner exactly once. So a
/// message carries a token instead of a copy of a large payload.
///
///     const sluice::DataToken token = std::move(frame).publish(length);  // see BufferPool
///     show(token.data(), token.size());
///     other.push(token.share());  // a second token on the same bytes
///
/// Use it with BufferPool, or with bytes of your own, such as a mapped file.
///
/// Thread safety: one thread at a time uses a token; several may call its const members, including
/// share(). Tokens on the same bytes are independent of each other. The reads of all holders happen
/// before a BufferPool hands the buffer to the next writer.
///
/// Errors: nothing throws. The owner of the bytes must outlive the token, which has six words.
class [[nodiscard]] DataToken {
public:
    /// Called with the token's arguments, on the thread that ends the token.
    using Releaser = void (*)(void* context, const std::byte* data, std::size_t size) noexcept;

    /// Called before share() makes another token, which will be released, too.
    using Sharer = Releaser;

    DataToken() noexcept = default;

    /// Makes a token on `size` bytes from `data`. The bytes must not change until releaser(context,
    /// data, size) has been called. Without a sharer there can be no second token on them.
    /// `timeStamp`: see timeStamp().
    DataToken(const void* data, std::size_t size, Releaser releaser, void* context,
              Sharer sharer = nullptr, std::uint64_t timeStamp = 0) noexcept
        : data_(static_cast<const std::byte*>(data)),
          size_(size),
          releaser_(releaser),
          sharer_(sharer),
          context_(context),
          timeStamp_(timeStamp) {
        SLUICE_ASSERT(releaser != nullptr, "a DataToken needs a releaser: pass one that does "
                                           "nothing for bytes that live forever");
        SLUICE_ASSERT(data != nullptr || size == 0, "a DataToken on null must have the size 0");
    }

    DataToken(DataToken&& other) noexcept { takeOver(other); }
    DataToken& operator=(DataToken&& other) noexcept {
        if (this != &other) {
            const DataToken old(std::move(*this));  // its owner may own `other`
            takeOver(other);
        }
        return *this;
    }
    DataToken(const DataToken&) = delete;
    DataToken& operator=(const DataToken&) = delete;
    ~DataToken() { reset(); }

    /// Whether the token holds bytes, also if there are 0 of them.
    [[nodiscard]] explicit operator bool() const noexcept { return releaser_ != nullptr; }

    [[nodiscard]] const std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// When the bytes were recorded, by convention in microseconds of the maker's clock. 0 if the
    /// maker gave no time, or if the token is empty. share() keeps it.
    [[nodiscard]] std::uint64_t timeStamp() const noexcept { return timeStamp_; }

    [[nodiscard]] const std::byte* begin() const noexcept { return data_; }
    [[nodiscard]] const std::byte* end() const noexcept { return data_ + size_; }

    /// Returns another token on the same bytes; empty if this token is. Asserts that there is a
    /// sharer; otherwise the result is empty.
    DataToken share() const noexcept {
        if (releaser_ == nullptr) {
            return {};
        }
        SLUICE_ASSERT(sharer_ != nullptr, "this DataToken was made without a sharer: pass one to "
                                          "its constructor, or move the token");
        if (sharer_ == nullptr) {
            return {};
        }
        sharer_(context_, data_, size_);
        return {data_, size_, releaser_, context_, sharer_, timeStamp_};
    }

    void reset() noexcept {
        // Emptied first, because the releaser may use this token, and must find nothing to release.
        if (const Releaser releaser = std::exchange(releaser_, nullptr)) {
            timeStamp_ = 0;
            releaser(context_, std::exchange(data_, nullptr), std::exchange(size_, 0));
        }
    }

private:
    void takeOver(DataToken& other) noexcept {
        data_ = std::exchange(other.data_, nullptr);
        size_ = std::exchange(other.size_, 0);
        releaser_ = std::exchange(other.releaser_, nullptr);
        sharer_ = other.sharer_;
        context_ = other.context_;
        timeStamp_ = std::exchange(other.timeStamp_, 0);
    }

    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    Releaser releaser_ = nullptr;
    Sharer sharer_ = nullptr;
    void* context_ = nullptr;
    std::uint64_t timeStamp_ = 0;
};

}  // namespace sluice
