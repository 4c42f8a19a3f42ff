#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

struct ZSTD_CCtx_s;

namespace sluice {

/// What is known about a file after its last message.
enum class RecordingEnd : unsigned char {
    unknown,   ///< more messages follow
    complete,  ///< the recorder was closed
    cut,       ///< the file ends early: its last chunk is missing, or a part of it
    damaged,   ///< some chunks were skipped, because their content is wrong
};
[[nodiscard]] const char* toString(RecordingEnd end) noexcept;

}  // namespace sluice

// Files in the format MCAP, https://mcap.dev/spec: its records, a writer and a reader.
namespace sluice::detail::mcap {

enum class Op : std::uint8_t {
    header = 1,
    footer,
    schema,
    channel,
    message,
    chunk,
    messageIndex,
    chunkIndex,
    statistics = 11,
    dataEnd = 15
};

inline constexpr std::string_view magic("\x89MCAP0\r\n", 8);

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Bytes that put() appends without their length.
struct Raw {
    std::string_view bytes;
};

/// Appends a field: a number of the size of its type, the lowest byte first, or a text.
template <class Field>
void put(std::string& to, const Field& field) {
    if constexpr (std::is_integral_v<Field>) {
        char bytes[sizeof(Field)];
        for (std::size_t i = 0; i < sizeof(Field); ++i) {
            bytes[i] = static_cast<char>(field >> (8 * i) & 0xFFU);
        }
        to.append(bytes, sizeof(Field));
    } else if constexpr (std::is_same_v<Field, Raw>) {
        to += field.bytes;
    } else if constexpr (std::is_same_v<Field, Pairs>) {
        std::string all;
        for (const auto& [key, value] : field) {
            put(all, key);
            put(all, value);
        }
        put(to, all);
    } else {
        put(to, static_cast<std::uint32_t>(field.size()));
        to += field;
    }
}

/// Appends a record of these fields.
template <class... Fields>
void putRecord(std::string& to, Op op, const Fields&... fields) {
    put(to, static_cast<std::uint8_t>(op));
    const std::size_t begin = to.size() + 8;
    to.append(8, '\0');
    (put(to, fields), ...);
    std::string length;
    put(length, std::uint64_t{to.size() - begin});
    to.replace(begin - 8, 8, length);
}

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

    /// Adds the channel of the number channels(), with a new schema or that of the channel before.
    void add(const Channel& channel, bool isNewSchema);
    [[nodiscard]] std::size_t channels() const noexcept { return counts_.size(); }
    void write(const Message& message);
    [[nodiscard]] std::size_t chunkSize() const noexcept { return chunk_.size(); }
    [[nodiscard]] std::uint64_t fileSize() const noexcept { return size_; }
    /// Writes the collected messages. Returns false if the disk refused them, which loses them.
    [[nodiscard]] bool endChunk();
    void dropChunk() noexcept;
    /// Writes the summary, behind which nothing is written.
    [[nodiscard]] bool finish();

private:
    struct Times {
        std::uint64_t first = ~std::uint64_t{0};
        std::uint64_t last = 0;
    };
    bool append(std::string_view bytes);

    int file_ = -1;
    const std::unique_ptr<ZSTD_CCtx_s, std::size_t (*)(ZSTD_CCtx_s*)> packer_;
    std::uint64_t size_ = 0;
    std::string definitions_;             // schemas and channels, also in the summary
    std::size_t writtenDefinitions_ = 0;  // bytes of them that are in the file
    std::string chunk_;
    Times chunkTimes_;
    std::map<std::uint16_t, std::string> indexes_;  // of the chunk: times and offsets
    std::string chunkIndexes_;
    Times times_;
    std::vector<std::uint64_t> counts_;  // messages of each channel
    std::uint16_t schemas_ = 0;
    std::uint32_t chunks_ = 0;
};

/// Reads a file by any writer, from its begin. The bytes are untrusted: nothing is read beyond
/// them, and a length that they claim allocates at most maxContent bytes. Of schemas and channels
/// of one number, the first counts, as the format demands. One thread at a time may use it.
class Reader {
public:
    /// The largest record, and the largest chunk, uncompressed. A larger record ends the reading.
    static constexpr std::uint64_t maxContent = std::uint64_t{256} << 20;

    /// The most messages of a chunk, since a message takes more memory than its head in the file.
    static constexpr std::size_t maxMessages = std::size_t{1} << 20;

    /// The most bytes that all channels and names of schemas take; others are damage.
    static constexpr std::size_t maxKept = std::size_t{256} << 20;

    /// Throws std::runtime_error if the file cannot be read or is no MCAP file.
    explicit Reader(const std::string& path);

    /// Reads the next message; those of a chunk in the order of their log times. Its data is valid
    /// until the next call. Returns false at the end.
    [[nodiscard]] bool next(Message& message);

    [[nodiscard]] const std::map<std::uint16_t, Channel>& channels() const noexcept {
        return channels_;
    }
    /// After the last message: how the file ends. A wrong number of messages is damage, too.
    [[nodiscard]] RecordingEnd end() const noexcept { return end_; }

private:
    bool readRecord();
    bool takeChunk(std::string_view content);
    bool take(Op op, std::string_view content);
    bool takeSchema(std::string_view content);
    bool takeChannel(std::string_view content);
    bool keep(std::size_t size);
    bool read(std::string& to, std::uint64_t size);

    std::ifstream file_;
    std::uint64_t left_ = 0;                        // bytes of the file that were not read
    std::map<std::uint16_t, std::string> schemas_;  // their names
    std::map<std::uint16_t, Channel> channels_;
    std::size_t kept_ = 0;           // bytes of schemas_ and channels_
    std::string content_;            // of the current record
    std::string chunk_;              // its uncompressed records
    std::vector<Message> messages_;  // that they contain
    std::size_t nextMessage_ = 0;
    std::uint64_t read_ = 0;  // messages
    bool isDamaged_ = false;
    RecordingEnd end_ = RecordingEnd::unknown;
};

}  // namespace sluice::detail::mcap
