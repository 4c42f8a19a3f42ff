#include <sluice/record/detail/mcap.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

namespace sluice::detail::mcap {

Writer::Writer(const std::string& path, int compressionLevel)
    : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)),
      packer_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
    std::string begin(magic);
    putRecord(begin, Op::header, std::string_view(), std::string_view("sluice"));
    if (file_ < 0 || packer_ == nullptr || !append(begin)) {
        const std::string reason = std::strerror(errno);
        if (file_ >= 0) {
            ::close(file_);
        }
        throw std::runtime_error("record: cannot create " + path + ": " + reason);
    }
    (void)ZSTD_CCtx_setParameter(packer_.get(), ZSTD_c_compressionLevel, compressionLevel);
    (void)ZSTD_CCtx_setParameter(packer_.get(), ZSTD_c_checksumFlag, 1);
}

Writer::~Writer() {
    ::close(file_);
}

bool Writer::append(std::string_view bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const auto at = static_cast<off_t>(size_ + done);
        const auto n = ::pwrite(file_, bytes.data() + done, bytes.size() - done, at);
        if (n > 0) {
            done += static_cast<std::size_t>(n);
        } else if (n == 0 || errno != EINTR) {
            const int reason = errno;
            (void)!::ftruncate(file_, static_cast<off_t>(size_));
            errno = reason;
            return false;
        }
    }
    size_ += bytes.size();
    return true;
}

void Writer::add(const Channel& channel, bool isNewSchema) {
    const auto id = static_cast<std::uint16_t>(counts_.size());
    std::string records;
    if (isNewSchema) {
        ++schemas_;
        putRecord(records, Op::schema, schemas_, channel.schemaName, channel.schemaEncoding,
                  channel.schema);
    }
    putRecord(records, Op::channel, id, schemas_, channel.topic, channel.encoding,
              channel.metadata);
    definitions_ += records;
    counts_.push_back(0);
}

void Writer::write(const Message& message) {
    std::string& index = indexes_[message.channel];
    put(index, message.logTime);
    put(index, std::uint64_t{chunk_.size()});
    putRecord(chunk_, Op::message, message.channel, message.sequence, message.logTime,
              message.publishTime, Raw{message.data});
    chunkTimes_.first = std::min(chunkTimes_.first, message.logTime);
    chunkTimes_.last = std::max(chunkTimes_.last, message.logTime);
}

bool Writer::endChunk() {
    if (chunk_.empty()) {
        return true;
    }
    std::string packed(ZSTD_compressBound(chunk_.size()), '\0');
    const std::size_t n =
        ZSTD_compress2(packer_.get(), packed.data(), packed.size(), chunk_.data(), chunk_.size());
    packed.resize(ZSTD_isError(n) != 0 ? 0 : n);
    constexpr std::string_view method = "zstd";  // which has its own checksum
    const std::uint64_t size = chunk_.size();
    const std::uint64_t packedSize = packed.size();

    std::string bytes = definitions_.substr(writtenDefinitions_);
    const std::uint64_t begin = size_ + bytes.size();
    putRecord(bytes, Op::chunk, chunkTimes_.first, chunkTimes_.last, size, std::uint32_t{0}, method,
              packedSize, Raw{packed});
    const std::uint64_t end = size_ + bytes.size();
    std::string offsets;
    for (const auto& [channel, index] : indexes_) {
        put(offsets, channel);
        put(offsets, std::uint64_t{size_ + bytes.size()});
        putRecord(bytes, Op::messageIndex, channel, index);
    }
    const bool isWritten = !packed.empty() && append(bytes);
    if (isWritten) {
        writtenDefinitions_ = definitions_.size();
        putRecord(chunkIndexes_, Op::chunkIndex, chunkTimes_.first, chunkTimes_.last, begin,
                  end - begin, offsets, size_ - end, method, packedSize, size);
        times_.first = std::min(times_.first, chunkTimes_.first);
        times_.last = std::max(times_.last, chunkTimes_.last);
        for (const auto& [channel, index] : indexes_) {
            counts_[channel] += index.size() / 16;
        }
        ++chunks_;
    }
    dropChunk();
    return isWritten;
}

void Writer::dropChunk() noexcept {
    chunk_.clear();
    indexes_.clear();
    chunkTimes_ = {};
}

bool Writer::finish() {
    std::string bytes = definitions_.substr(writtenDefinitions_);
    putRecord(bytes, Op::dataEnd, std::uint32_t{0});
    const std::uint64_t begin = size_ + bytes.size();
    const std::uint64_t sum = std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
    const auto channels = static_cast<std::uint32_t>(counts_.size());
    std::string counts;
    for (std::uint16_t id = 0; id < channels; ++id) {
        put(counts, id);
        put(counts, counts_[id]);
    }
    constexpr std::uint32_t none = 0;  // attachments, metadata, and a checksum
    bytes += definitions_;
    putRecord(bytes, Op::statistics, sum, schemas_, channels, none, none, chunks_,
              sum == 0 ? 0 : times_.first, times_.last, counts);
    bytes += chunkIndexes_;
    putRecord(bytes, Op::footer, begin, std::uint64_t{0}, none);
    bytes += magic;
    return append(bytes);
}

}  // namespace sluice::detail::mcap
