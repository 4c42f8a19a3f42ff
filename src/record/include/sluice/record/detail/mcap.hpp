#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct ZSTD_CCtx_s;

// Files in the format MCAP, https://mcap.dev/spec: its records, a writer and a reader.
namespace sluice::detail::mcap {

enum class Op : unsigned char {
    header = 1,
    footer,
    schema,
    channel,
    message,
    chunk,
    messageIndex,
    chunkIndex,
    attachment,
    attachmentIndex,
    statistics,
    metadata,
    metadataIndex,
    summaryOffset,
    dataEnd
};

inline constexpr std::string_view magic("\x89MCAP0\r\n", 8);
inline constexpr std::size_t recordHead = 9;  ///< bytes of opcode and length

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Appends the lowest `Bytes` bytes of a number, the lowest byte first.
template <std::size_t Bytes>
void put(std::string& to, std::uint64_t number) {
    char bytes[Bytes];
    for (std::size_t i = 0; i < Bytes; ++i) {
        bytes[i] = static_cast<char>(number >> (8 * i) & 0xFFU);
    }
    to.append(bytes, Bytes);
}
void putText(std::string& to, std::string_view text);
void putPairs(std::string& to, const Pairs& pairs);

/// Appends a record whose content fill(to) appends.
template <class Fill>
void putRecord(std::string& to, Op op, const Fill& fill) {
    put<1>(to, static_cast<unsigned char>(op));
    const std::size_t begin = to.size() + 8;
    to.append(8, '\0');
    fill(to);
    std::string length;
    put<8>(length, to.size() - begin);
    to.replace(begin - 8, 8, length);
}

/// The checksum of zlib, CRC-32, which protects chunks.
std::uint32_t crc32(std::string_view bytes) noexcept;

struct Channel {
    std::string topic;
    std::string schemaName;
    std::string schemaEncoding;
    std::string schema;
    std::string encoding;
    Pairs metadata;
};

struct Message {
    std::uint16_t channel = 0;
    std::uint32_t sequence = 0;
    std::uint64_t logTime = 0;      ///< nanoseconds since 1970
    std::uint64_t publishTime = 0;  ///< nanoseconds since 1970
    std::string_view data;
};

/// Writes a file. A part that the disk does not take whole is removed again, so the file always
/// ends with a whole record. One thread at a time may use it.
class Writer {
public:
    /// Throws std::runtime_error if the file exists or cannot be created.
    Writer(const std::string& path, int compressionLevel);
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer();

    [[nodiscard]] std::uint16_t add(const Channel& channel);
    void write(const Message& message);
    [[nodiscard]] std::size_t chunkSize() const noexcept { return chunk_.size(); }
    [[nodiscard]] std::uint64_t fileSize() const noexcept { return size_; }
    /// Writes the collected messages. Returns false if the disk refused them, which loses them.
    [[nodiscard]] bool endChunk();
    void dropChunk() noexcept;
    [[nodiscard]] bool addMetadata(const std::string& name, const Pairs& pairs);
    /// Writes the summary, behind which nothing is written.
    [[nodiscard]] bool finish();

private:
    struct Times {
        std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t last = 0;
    };
    bool append(const std::string& bytes);

    int file_ = -1;
    const int level_;
    const std::unique_ptr<ZSTD_CCtx_s, std::size_t (*)(ZSTD_CCtx_s*)> packer_;
    std::uint64_t size_ = 0;
    std::string definitions_;             // schemas and channels, also in the summary
    std::size_t writtenDefinitions_ = 0;  // bytes of them that are in the file
    std::string chunk_;
    Times chunkTimes_;
    std::map<std::uint16_t, std::string> indexes_;  // of the chunk: times and offsets
    std::string chunkIndexes_;
    std::string metadataIndexes_;
    Times times_;
    std::vector<std::uint64_t> counts_;  // messages of each channel; channel n has schema n + 1
    std::uint32_t chunks_ = 0;
    std::uint32_t metadata_ = 0;
};

/// Reads a file by any writer, from its begin. The bytes are untrusted: nothing is read beyond
/// them, and a length that they claim allocates at most maxContent bytes. Of schemas and channels
/// of one number, the first counts, as the format demands. One thread at a time may use it.
class Reader {
public:
    /// The largest chunk, uncompressed, and the largest record outside of a chunk.
    static constexpr std::uint64_t maxContent = std::uint64_t{256} << 20;

    /// The most bytes that all schemas and channels take; others are damage.
    static constexpr std::size_t maxKept = std::size_t{64} << 20;

    /// Throws std::runtime_error if the file cannot be read or is no MCAP file.
    explicit Reader(const std::string& path);
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader();

    /// Reads the next message; those of a chunk in the order of their log times. Its data is valid
    /// until the next call. Returns false at the end.
    [[nodiscard]] bool next(Message& message);

    /// A channel; its schema's encoding and text are not read.
    [[nodiscard]] const Channel& channel(std::uint16_t id) const { return channels_.at(id); }
    [[nodiscard]] const std::map<std::uint16_t, Channel>& channels() const noexcept {
        return channels_;
    }
    /// The last metadata record of the name "sluice.lost".
    [[nodiscard]] const Pairs& lost() const noexcept { return lost_; }
    /// After the last message: whether the file is complete.
    [[nodiscard]] bool hasEnd() const noexcept { return hasEnd_; }
    /// Chunks and records that were skipped because their content is wrong, and 1 if the file says
    /// that it has another number of messages.
    [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_; }

private:
    bool readRecord();
    bool readChunk(std::string_view content);
    bool take(Op op, std::string_view content);
    bool read(std::string& to, std::uint64_t size);

    std::FILE* file_ = nullptr;
    std::uint64_t left_ = 0;                        // bytes of the file that were not read
    std::map<std::uint16_t, std::string> schemas_;  // their names
    std::map<std::uint16_t, Channel> channels_;
    std::size_t kept_ = 0;  // bytes of schemas_ and channels_
    Pairs lost_;
    std::string content_;            // of the current record
    std::string chunk_;              // its uncompressed records
    std::vector<Message> messages_;  // that they contain
    std::size_t nextMessage_ = 0;
    std::uint64_t read_ = 0;  // messages
    std::uint64_t damaged_ = 0;
    bool hasEnd_ = false;
};

}  // namespace sluice::detail::mcap
