#include <sluice/record/detail/mcap.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <zstd.h>

namespace sluice::detail::mcap {

namespace {

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
        while (!all.empty()) {
            auto& [key, value] = field.emplace_back();
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

}  // namespace

Reader::Reader(const std::string& path) : file_(path, std::ios::binary | std::ios::ate) {
    if (!file_) {
        throw std::runtime_error("record: cannot read " + path + ": " + std::strerror(errno));
    }
    left_ = static_cast<std::uint64_t>(file_.tellg());
    file_.seekg(0);
    if (!read(content_, magic.size()) || content_ != magic) {
        throw std::runtime_error("record: " + path + " is no MCAP file");
    }
}

bool Reader::read(std::string& to, std::uint64_t size) {
    if (size > left_ || size > maxContent) {
        return false;
    }
    to.resize(static_cast<std::size_t>(size));
    left_ -= size;
    return bool{file_.read(to.data(), static_cast<std::streamsize>(size))};
}

bool Reader::next(Message& message) {
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

/// Reads a record outside of a chunk. Returns false if the file does not contain it whole.
bool Reader::readRecord() {
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
bool Reader::takeChunk(std::string_view content) {
    std::uint64_t first = 0;  // the chunk may also contain channels, so its times do not matter
    std::uint64_t last = 0;
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
        if (ZSTD_decompress(chunk_.data(), chunk_.size(), content.data(), content.size()) != size) {
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
bool Reader::take(Op op, std::string_view content) {
    if (op == Op::schema) {
        return takeSchema(content);
    }
    if (op == Op::channel) {
        return takeChannel(content);
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

/// Takes a schema, of which only the name is kept.
bool Reader::takeSchema(std::string_view content) {
    std::uint16_t id = 0;
    std::string_view name;
    std::string_view encoding;
    std::string_view text;
    if (!get(content, id, name, encoding, text)) {
        return false;
    }
    return schemas_.count(id) != 0 || (keep(name.size()) && schemas_.emplace(id, name).second);
}

bool Reader::takeChannel(std::string_view content) {
    std::uint16_t id = 0;
    std::uint16_t schema = 0;
    if (!get(content, id, schema)) {
        return false;
    }
    if (channels_.count(id) != 0) {
        return true;
    }
    Channel channel;
    if (const auto found = schemas_.find(schema); found != schemas_.end()) {
        channel.schemaName = found->second;
    }
    // Eight bytes may be a pair of texts.
    return keep(2 * sizeof(Pairs::value_type) / 8 * content.size() + channel.schemaName.size()) &&
           get(content, channel.topic, channel.encoding, channel.metadata) &&
           channels_.emplace(id, std::move(channel)).second;
}

/// Counts bytes of definitions. Returns false if they are too many.
bool Reader::keep(std::size_t size) {
    const bool fits = size <= maxKept - kept_;
    kept_ += fits ? size : 0;
    return fits;
}

}  // namespace sluice::detail::mcap

const char* sluice::toString(RecordingEnd end) noexcept {
    constexpr const char* texts[] = {"not read to the end", "complete",
                                     "cut: the end of the recording is missing",
                                     "damaged: parts of the recording were skipped"};
    return texts[static_cast<std::size_t>(end)];
}
