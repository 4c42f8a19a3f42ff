#pragma once

#include <sluice/log/detail/format/caller_state.hpp>
#include <sluice/log/detail/format/pair_codec.hpp>
#include <sluice/log/detail/format/thread_mdc.hpp>

#include <cstddef>
#include <cstring>

namespace sluice::log::detail {

/// Writes the pairs of one record in the form that a lane stores, before the text or the arguments:
/// a Prefix, the mdc, the context, the pairs of the call.
class PairWriter {
public:
    /// The bytes of the three parts that follow it.
    struct Prefix {
        std::size_t mdc;
        std::size_t context;
        std::size_t pairs;
    };

    /// Takes the mdc and the context of the thread, and the pairs that the thread has set for its
    /// next record.
    static PairWriter take() noexcept;

    std::size_t size() const noexcept {
        return sizeof(Prefix) + context_.size + mdcSize_ + pairsSize_;
    }

    /// Writes size() bytes. Returns their end.
    std::byte* write(std::byte* to) const noexcept;

private:
    PairBytes context_;
    PairList pairs_;
    const ThreadMdc::Map* mdc_ = nullptr;
    std::size_t mdcSize_ = 0;
    std::size_t pairsSize_ = 0;
};

[[gnu::cold]] inline PairWriter PairWriter::take() noexcept {
    PairWriter result;
    result.context_ = CallerState::context();
    result.pairs_ = CallerState::setPairs({});
    result.pairsSize_ = sizeOfPairs(result.pairs_);
    result.mdc_ = CallerState::mdc();
    if (result.mdc_ != nullptr) {
        for (const auto& [key, value] : *result.mdc_) {
            result.mdcSize_ += sizeOfPair(kv(key, value));
        }
    }
    return result;
}

[[gnu::cold]] inline std::byte* PairWriter::write(std::byte* to) const noexcept {
    to = writeValue(to, Prefix{mdcSize_, context_.size, pairsSize_});
    if (mdc_ != nullptr) {
        for (const auto& [key, value] : *mdc_) {
            to = writePair(to, kv(key, value));
        }
    }
    if (context_.size != 0) {
        std::memcpy(to, context_.bytes, context_.size);
    }
    return writePairs(to + context_.size, pairs_);
}

}  // namespace sluice::log::detail
