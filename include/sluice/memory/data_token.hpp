#pragma once

#include <sluice/base/assert.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice {

/// A read-only handle to a shared buffer, which returns the buffer to its owner exactly once.
/// Messages can carry a token instead of a large payload.
///
///     const sluice::DataToken token = std::move(frame).publish(length);  // see BufferPool
///     show(token.data(), token.size());
///     other.push(token.share());  // a second token for the same bytes
///
/// Use DataToken with BufferPool, or with your own bytes, such as a mapped file.
///
/// Thread safety: several threads may call const members of a token; non-const members need
/// exclusive access. Different threads may use tokens for the same bytes. All reads through
/// tokens happen before a BufferPool gives the buffer to the next writer.
///
/// Errors: nothing throws. The owner of the bytes must outlive the token.
class [[nodiscard]] DataToken {
public:
    /// The function that releases the bytes on the thread that destroys or resets the token.
    using Releaser = void (*)(void* context, const std::byte* data, std::size_t size) noexcept;

    /// A function that share() calls before it creates a token. Each token calls its own Releaser.
    using Sharer = Releaser;

    DataToken() noexcept = default;

    /// The bytes must not change until releaser(context, data, size) has been called. Without a
    /// sharer, share() fails an assertion.
    DataToken(const void* data, std::size_t size, Releaser releaser, void* context,
              Sharer sharer = nullptr, std::uint64_t timeStamp = 0) noexcept
        : state_{static_cast<const std::byte*>(data), size, releaser, sharer, context, timeStamp} {
        SLUICE_ASSERT(releaser != nullptr, "a DataToken needs a releaser: pass one that does "
                                           "nothing for bytes that live forever");
        SLUICE_ASSERT(data != nullptr || size == 0, "a DataToken on null must have the size 0");
    }

    DataToken(DataToken&& other) noexcept : state_(std::exchange(other.state_, {})) {}
    DataToken& operator=(DataToken&& other) noexcept {
        if (this != &other) {
            const DataToken old(std::move(*this));  // old's releaser may destroy `other`
            state_ = std::exchange(other.state_, {});
        }
        return *this;
    }
    DataToken(const DataToken&) = delete;
    DataToken& operator=(const DataToken&) = delete;
    ~DataToken() { reset(); }

    /// Returns false if the token is empty. A token for 0 bytes is not empty.
    [[nodiscard]] explicit operator bool() const noexcept { return state_.releaser != nullptr; }

    [[nodiscard]] const std::byte* data() const noexcept { return state_.data; }
    [[nodiscard]] std::size_t size() const noexcept { return state_.size; }

    /// The time when the bytes were recorded, by convention in microseconds of the creator's clock.
    /// Returns 0 if there is no time stamp.
    [[nodiscard]] std::uint64_t timeStamp() const noexcept { return state_.timeStamp; }

    [[nodiscard]] const std::byte* begin() const noexcept { return state_.data; }
    [[nodiscard]] const std::byte* end() const noexcept { return state_.data + state_.size; }

    /// Returns another token for the same bytes, or an empty token if this token is empty. Asserts
    /// that the token has a sharer; without a sharer, release builds return an empty token.
    DataToken share() const noexcept {
        SLUICE_ASSERT(!*this || state_.sharer != nullptr,
                      "this DataToken was made without a sharer: pass one to its constructor, or "
                      "move the token");
        DataToken second;
        if (state_.sharer != nullptr) {
            state_.sharer(state_.context, state_.data, state_.size);
            second.state_ = state_;
        }
        return second;
    }

    void reset() noexcept {
        // Empties the token first, because the releaser may destroy the token.
        const State old = std::exchange(state_, {});
        if (old.releaser != nullptr) {
            old.releaser(old.context, old.data, old.size);
        }
    }

private:
    struct State {
        const std::byte* data = nullptr;
        std::size_t size = 0;
        Releaser releaser = nullptr;
        Sharer sharer = nullptr;
        void* context = nullptr;
        std::uint64_t timeStamp = 0;
    };

    State state_;
};

}  // namespace sluice
