#pragma once

#include <sluice/record/recorder.hpp>
#include <sluice/record/replay.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

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

using Pairs = std::map<std::string, std::string>;  // of some names, the first counts

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

/// Moves a field from the begin of untrusted bytes. Returns false if the bytes are too short.
template <class Field>
bool getOne(std::string_view& from, Field& field) {
    if constexpr (std::is_integral_v<Field>) {
        if (from.size() < sizeof field) {
            return false;
        }
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < sizeof field; ++i) {
            number |= std::uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
        }
        field = static_cast<Field>(number);
        from.remove_prefix(sizeof field);
    } else if constexpr (std::is_same_v<Field, Pairs>) {
        std::string_view all;
        if (!getOne(from, all)) {
            return false;
        }
        for (std::string key, value; !all.empty(); field.emplace(key, value)) {
            if (!getOne(all, key) || !getOne(all, value)) {
                return false;
            }
        }
    } else {
        std::uint32_t size = 0;
        if (!getOne(from, size) || size > from.size()) {
            return false;
        }
        field = from.substr(0, size);
        from.remove_prefix(size);
    }
    return true;
}

template <class... Fields>
bool get(std::string_view& from, Fields&... fields) {
    return (getOne(from, fields) && ...);
}

struct Channel {
    std::string topic;
    std::string schemaName;
    std::string encoding;
    Pairs metadata;
};

/// Writes a file. A part that the disk does not take whole is removed again, so the file always
/// ends with a whole record. One thread at a time may use it.
class Writer {
public:
    /// Throws std::runtime_error if the file exists or cannot be created.
    explicit Writer(const std::string& path)
        : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)),
          packer_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
        std::string begin(magic);
        putRecord(begin, Op::header, std::string_view(), std::string_view("sluice"));
        if (file_ < 0 || packer_ == nullptr || !append(begin)) {
            const std::string reason = std::generic_category().message(errno);
            if (file_ >= 0) {
                ::close(file_);
            }
            throw std::runtime_error("record: cannot create " + path + ": " + reason);
        }
        (void)ZSTD_CCtx_setParameter(packer_.get(), ZSTD_c_compressionLevel, 1);
        (void)ZSTD_CCtx_setParameter(packer_.get(), ZSTD_c_checksumFlag, 1);
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer() { ::close(file_); }

    /// Adds three channels, one for each priority. The number of the first is channels().
    void add(const std::string& topic, const RecordType& type) {
        const auto schema = static_cast<std::uint16_t>(schemas_ + 1);
        auto id = static_cast<std::uint16_t>(counts_.size());
        std::string records;
        putRecord(records, Op::schema, schema, type.name, std::string_view("jsonschema"),
                  type.jsonSchema);
        for (const char* const priority : {"low", "medium", "high"}) {
            putRecord(records, Op::channel, id++, schema, topic, std::string_view("msgpack"),
                      Pairs{{"schema_hash", std::to_string(type.hash)}, {"priority", priority}});
        }
        counts_.reserve(id);
        definitions_ += records;
        counts_.resize(id);
        schemas_ = schema;
    }
    [[nodiscard]] std::size_t channels() const noexcept { return counts_.size(); }
    void write(const Message& message) {
        std::string& index = indexes_[message.channel];
        put(index, message.logTime);
        put(index, std::uint64_t{chunk_.size()});
        putRecord(chunk_, Op::message, message.channel, message.sequence, message.logTime,
                  message.publishTime, Raw{message.data});
        chunkTimes_.first = std::min(chunkTimes_.first, message.logTime);
        chunkTimes_.last = std::max(chunkTimes_.last, message.logTime);
    }
    [[nodiscard]] std::size_t chunkSize() const noexcept { return chunk_.size(); }
    /// Writes the collected messages. Returns false if the disk refused them, which loses them.
    [[nodiscard]] bool endChunk() {
        if (chunk_.empty()) {
            return true;
        }
        std::string packed(ZSTD_compressBound(chunk_.size()), '\0');
        const std::size_t n = ZSTD_compress2(packer_.get(), packed.data(), packed.size(),
                                             chunk_.data(), chunk_.size());
        packed.resize(ZSTD_isError(n) != 0 ? 0 : n);
        constexpr std::string_view method = "zstd";  // which has its own checksum
        const std::uint64_t size = chunk_.size();
        const std::uint64_t packedSize = packed.size();

        std::string bytes = definitions_.substr(writtenDefinitions_);
        const std::uint64_t begin = size_ + bytes.size();
        putRecord(bytes, Op::chunk, chunkTimes_.first, chunkTimes_.last, size, std::uint32_t{0},
                  method, packedSize, Raw{packed});
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
    void dropChunk() noexcept {
        chunk_.clear();
        indexes_.clear();
        chunkTimes_ = {};
    }
    /// Writes the summary, behind which nothing is written.
    [[nodiscard]] bool finish() {
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

private:
    struct Times {
        std::uint64_t first = ~std::uint64_t{0};
        std::uint64_t last = 0;
    };

    bool append(std::string_view bytes) {
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
    /// The largest record, the largest chunk, uncompressed, and the most bytes that all channels
    /// and names of schemas take. A larger record ends the reading.
    static constexpr std::uint64_t maxContent = std::uint64_t{256} << 20;

    /// The most messages of a chunk, since a message takes more memory than its head in the file.
    static constexpr std::size_t maxMessages = std::size_t{1} << 20;

    /// Throws std::runtime_error if the file cannot be read or is no MCAP file.
    explicit Reader(const std::string& path) : file_(path, std::ios::binary | std::ios::ate) {
        if (!file_) {
            throw std::runtime_error("record: cannot read " + path + ": " +
                                     std::generic_category().message(errno));
        }
        left_ = static_cast<std::uint64_t>(file_.tellg());
        file_.seekg(0);
        if (!read(content_, magic.size()) || content_ != magic) {
            throw std::runtime_error("record: " + path + " is no MCAP file");
        }
    }

    /// Reads the next message; those of a chunk in the order of their log times. Its data is valid
    /// until the next call. Returns false at the end.
    [[nodiscard]] bool next(Message& message) {
        while (nextMessage_ == messages_.size()) {
            messages_.clear();
            nextMessage_ = 0;
            if (end_ != RecordingEnd::unknown) {
                return false;
            }
            if (!readRecord()) {
                end_ = RecordingEnd::cut;
            }
        }
        message = messages_[nextMessage_++];
        return true;
    }

    [[nodiscard]] const std::map<std::uint16_t, Channel>& channels() const noexcept {
        return channels_;
    }
    /// After the last message: how the file ends. A wrong number of messages is damage, too.
    [[nodiscard]] RecordingEnd end() const noexcept { return end_; }

private:
    /// Reads a record outside of a chunk. Returns false if the file does not contain it whole.
    bool readRecord() {
        std::string bytes;
        if (!read(bytes, 9)) {
            return false;
        }
        std::string_view head = bytes;
        std::uint8_t op = 0;
        std::uint64_t size = 0;
        if (!get(head, op, size) || !read(content_, size)) {
            return false;
        }
        if (Op{op} == Op::footer) {
            if (!read(bytes, magic.size()) || bytes != magic) {
                return false;
            }
            end_ = isDamaged_ ? RecordingEnd::damaged : RecordingEnd::complete;
            return true;
        }
        if (!(Op{op} == Op::chunk ? takeChunk(content_) : take(Op{op}, content_))) {
            isDamaged_ = true;
            messages_.clear();
        }
        read_ += messages_.size();
        return true;
    }

    /// Takes the records of a chunk. Returns false if any of them is wrong.
    bool takeChunk(std::string_view content) {
        std::uint64_t first = 0, last = 0;  // no matter: the chunk may also contain channels
        std::uint64_t size = 0;
        std::uint32_t crc = 0;  // zstd has its own checksum
        std::string_view method;
        std::uint64_t packedSize = 0;
        if (!get(content, first, last, size, crc, method, packedSize) || size > maxContent ||
            packedSize > content.size()) {
            return false;
        }
        content = content.substr(0, static_cast<std::size_t>(packedSize));
        if (method == "zstd") {
            chunk_.resize(static_cast<std::size_t>(size));
            if (ZSTD_decompress(chunk_.data(), chunk_.size(), content.data(), content.size()) !=
                size) {
                return false;
            }
        } else if (method.empty() && packedSize == size) {
            chunk_ = content;
        } else {
            return false;
        }
        for (std::string_view records = chunk_; !records.empty();) {
            std::uint8_t op = 0;
            if (!get(records, op, size) || size > records.size() ||
                !take(Op{op}, records.substr(0, static_cast<std::size_t>(size)))) {
                return false;
            }
            records.remove_prefix(static_cast<std::size_t>(size));
        }
        std::stable_sort(messages_.begin(), messages_.end(),
                         [](const Message& a, const Message& b) { return a.logTime < b.logTime; });
        return true;
    }

    /// Takes a record from the file or from a chunk.
    bool take(Op op, std::string_view content) {
        if (op == Op::channel) {
            return takeChannel(content);
        }
        if (op == Op::schema) {
            std::uint16_t id = 0;
            std::string_view name, encoding, text;
            return get(content, id, name, encoding, text) &&
                   (schemas_.count(id) != 0 ||
                    (keep(name.size()) && schemas_.emplace(id, name).second));
        }
        if (op == Op::message) {
            Message message;
            if (!get(content, message.channel, message.sequence, message.logTime,
                     message.publishTime) ||
                channels_.count(message.channel) == 0 || messages_.size() == maxMessages) {
                return false;
            }
            message.data = content;
            messages_.push_back(message);
        }
        std::uint64_t count = 0;
        return op == Op::statistics ? get(content, count) && count == read_
                                    : op != Op::chunk;  // in a chunk
    }

    bool takeChannel(std::string_view content) {
        std::uint16_t id = 0, schema = 0;
        if (const bool isRead = get(content, id, schema); !isRead || channels_.count(id) != 0) {
            return isRead;
        }
        Channel channel;
        if (const auto found = schemas_.find(schema); found != schemas_.end()) {
            channel.schemaName = found->second;
        }
        // Eight bytes may be a pair of texts.
        return keep(2 * sizeof(Pairs::value_type) / 8 * content.size() +
                    channel.schemaName.size()) &&
               get(content, channel.topic, channel.encoding, channel.metadata) &&
               channels_.emplace(id, std::move(channel)).second;
    }

    /// Counts bytes of definitions. Returns false if they are too many.
    bool keep(std::size_t size) {
        const bool fits = size <= maxContent - kept_;
        kept_ += fits ? size : 0;
        return fits;
    }

    bool read(std::string& to, std::uint64_t size) {
        if (size > left_ || size > maxContent) {
            return false;
        }
        to.resize(static_cast<std::size_t>(size));
        left_ -= size;
        return bool{file_.read(to.data(), static_cast<std::streamsize>(size))};
    }

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
