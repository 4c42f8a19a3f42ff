#include <sluice/record/detail/mcap.hpp>

#include <sluice/base/version.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

namespace sluice::detail::mcap {

void putText(std::string& to, std::string_view text) {
    put<4>(to, text.size());
    to += text;
}

void putPairs(std::string& to, const Pairs& pairs) {
    std::string all;
    for (const auto& [key, value] : pairs) {
        putText(all, key);
        putText(all, value);
    }
    putText(to, all);
}

Writer::Writer(const std::string& path, int compressionLevel)
    : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)),
      level_(compressionLevel),
      packer_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
    std::string begin(magic);
    putRecord(begin, Op::header, [](std::string& to) {
        putText(to, "");
        putText(to, "sluice");
    });
    if (file_ < 0 || packer_ == nullptr || !append(begin)) {
        const std::string reason = std::strerror(errno);
        if (file_ >= 0) {
            ::close(file_);
        }
        throw std::runtime_error("record: cannot create " + path + ": " + reason);
    }
    (void)ZSTD_CCtx_setParameter(packer_.get(), ZSTD_c_compressionLevel, level_);
    (void)ZSTD_CCtx_setParameter(packer_.get(), ZSTD_c_checksumFlag, 1);
}

Writer::~Writer() {
    ::close(file_);
}

bool Writer::append(const std::string& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const auto n = ::write(file_, bytes.data() + done, bytes.size() - done);
        if (n <= 0 && errno != EINTR) {
            const int reason = errno;
            // Without this, a reader would take later records for the rest of this one.
            const auto size = static_cast<off_t>(size_);
            if (::ftruncate(file_, size) == 0) {
                (void)::lseek(file_, size, SEEK_SET);
            }
            errno = reason;
            return false;
        }
        done += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    size_ += done;
    return true;
}

std::uint16_t Writer::add(const Channel& channel) {
    const std::size_t id = counts_.size();
    putRecord(definitions_, Op::schema, [&](std::string& to) {
        put<2>(to, id + 1);
        putText(to, channel.schemaName);
        putText(to, channel.schemaEncoding);
        putText(to, channel.schema);
    });
    putRecord(definitions_, Op::channel, [&](std::string& to) {
        put<2>(to, id);
        put<2>(to, id + 1);
        putText(to, channel.topic);
        putText(to, channel.encoding);
        putPairs(to, channel.metadata);
    });
    counts_.push_back(0);
    return static_cast<std::uint16_t>(id);
}

void Writer::write(const Message& message) {
    std::string& index = indexes_[message.channel];
    put<8>(index, message.logTime);
    put<8>(index, chunk_.size());
    putRecord(chunk_, Op::message, [&](std::string& to) {
        put<2>(to, message.channel);
        put<4>(to, message.sequence);
        put<8>(to, message.logTime);
        put<8>(to, message.publishTime);
        to += message.data;
    });
    chunkTimes_.first = std::min(chunkTimes_.first, message.logTime);
    chunkTimes_.last = std::max(chunkTimes_.last, message.logTime);
}

bool Writer::endChunk() {
    if (chunk_.empty()) {
        return true;
    }
    std::string packed;
    if (level_ != 0) {
        packed.resize(ZSTD_compressBound(chunk_.size()));
        const std::size_t n = ZSTD_compress2(packer_.get(), packed.data(), packed.size(),
                                             chunk_.data(), chunk_.size());
        packed.resize(ZSTD_isError(n) != 0 ? 0 : n);
    }
    const std::string_view method = packed.empty() ? "" : "zstd";
    const std::string& content = packed.empty() ? chunk_ : packed;

    std::string bytes = definitions_.substr(writtenDefinitions_);
    const std::uint64_t begin = size_ + bytes.size();
    putRecord(bytes, Op::chunk, [&](std::string& to) {
        put<8>(to, chunkTimes_.first);
        put<8>(to, chunkTimes_.last);
        put<8>(to, chunk_.size());
        put<4>(to, packed.empty() ? crc32(chunk_) : 0);  // zstd has its own checksum
        putText(to, method);
        put<8>(to, content.size());
        to += content;
    });
    const std::uint64_t end = size_ + bytes.size();
    std::string offsets;
    for (const auto& [channel, index] : indexes_) {
        put<2>(offsets, channel);
        put<8>(offsets, size_ + bytes.size());
        putRecord(bytes, Op::messageIndex, [&, id = channel, &text = index](std::string& to) {
            put<2>(to, id);
            putText(to, text);
        });
    }
    const bool isWritten = append(bytes);
    if (isWritten) {
        writtenDefinitions_ = definitions_.size();
        putRecord(chunkIndexes_, Op::chunkIndex, [&](std::string& to) {
            put<8>(to, chunkTimes_.first);
            put<8>(to, chunkTimes_.last);
            put<8>(to, begin);
            put<8>(to, end - begin);
            putText(to, offsets);
            put<8>(to, size_ - end);
            putText(to, method);
            put<8>(to, content.size());
            put<8>(to, chunk_.size());
        });
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

bool Writer::addMetadata(const std::string& name, const Pairs& pairs) {
    std::string bytes;
    putRecord(bytes, Op::metadata, [&](std::string& to) {
        putText(to, name);
        putPairs(to, pairs);
    });
    const std::uint64_t begin = size_;
    if (!append(bytes)) {
        return false;
    }
    ++metadata_;
    putRecord(metadataIndexes_, Op::metadataIndex, [&](std::string& to) {
        put<8>(to, begin);
        put<8>(to, bytes.size());
        putText(to, name);
    });
    return true;
}

bool Writer::finish() {
    std::string bytes = definitions_.substr(writtenDefinitions_);
    putRecord(bytes, Op::dataEnd, [](std::string& to) { put<4>(to, 0); });
    const std::uint64_t begin = size_ + bytes.size();
    bytes += definitions_;
    putRecord(bytes, Op::statistics, [&](std::string& to) {
        std::uint64_t sum = 0;
        std::string counts;
        for (std::size_t id = 0; id < counts_.size(); ++id) {
            sum += counts_[id];
            put<2>(counts, id);
            put<8>(counts, counts_[id]);
        }
        put<8>(to, sum);
        put<2>(to, counts_.size());  // schemas
        put<4>(to, counts_.size());  // channels
        put<4>(to, 0);               // attachments
        put<4>(to, metadata_);
        put<4>(to, chunks_);
        put<8>(to, sum == 0 ? 0 : times_.first);
        put<8>(to, times_.last);
        putText(to, counts);
    });
    bytes += chunkIndexes_ + metadataIndexes_;
    putRecord(bytes, Op::footer, [&](std::string& to) {
        put<8>(to, begin);
        put<8>(to, 0);  // no offsets of the summary's parts
        put<4>(to, 0);  // no checksum
    });
    bytes += magic;
    return append(bytes);
}

}  // namespace sluice::detail::mcap
