#include <sluice/record/detail/mcap.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <sys/stat.h>
#include <zstd.h>

namespace sluice::detail::mcap {

namespace {

/// Reads fields of untrusted bytes. After a field that is not whole, isWhole() is false, and all
/// later fields are empty.
class Fields {
public:
    explicit Fields(std::string_view bytes) noexcept : bytes_(bytes) {}

    template <std::size_t Bytes>
    std::uint64_t number() noexcept {
        std::uint64_t result = 0;
        const std::string_view from = view(Bytes);
        for (std::size_t i = 0; i < from.size(); ++i) {
            result |= std::uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
        }
        return result;
    }
    std::uint16_t id() noexcept { return static_cast<std::uint16_t>(number<2>()); }

    std::string_view view(std::uint64_t size) noexcept {
        isWhole_ = isWhole_ && size <= bytes_.size();
        const std::string_view result = bytes_.substr(0, isWhole_ ? size : 0);
        bytes_.remove_prefix(isWhole_ ? result.size() : bytes_.size());
        return result;
    }
    std::string_view text() noexcept { return view(number<4>()); }
    std::string_view rest() noexcept { return view(bytes_.size()); }

    Pairs pairs() {
        Pairs result;
        Fields all(text());
        while (!all.bytes_.empty()) {
            if (result.size() == maxPairs) {
                isWhole_ = false;
                return {};
            }
            const std::string_view key = all.text();
            result.emplace_back(key, all.text());
        }
        isWhole_ = isWhole_ && all.isWhole_;
        return result;
    }

    [[nodiscard]] bool isAtEnd() const noexcept { return bytes_.empty(); }
    [[nodiscard]] bool isWhole() const noexcept { return isWhole_; }

private:
    /// One for each channel, and one more.
    static constexpr std::size_t maxPairs = std::size_t{1} << 16;

    std::string_view bytes_;
    bool isWhole_ = true;
};

}  // namespace

std::uint32_t crc32(std::string_view bytes) noexcept {
    static constexpr auto table = [] {
        std::array<std::uint32_t, 256> result{};
        for (std::uint32_t i = 0; i < 256; ++i) {
            std::uint32_t crc = i;
            for (int bit = 0; bit < 8; ++bit) {
                crc = (crc & 1U) != 0 ? (crc >> 1U) ^ 0xEDB88320U : crc >> 1U;
            }
            result[i] = crc;
        }
        return result;
    }();
    std::uint32_t crc = ~0U;
    for (const char c : bytes) {
        crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xFFU] ^ (crc >> 8U);
    }
    return ~crc;
}

Reader::Reader(const std::string& path) : file_(std::fopen(path.c_str(), "rbe")) {
    struct stat about {};
    if (file_ == nullptr || ::fstat(::fileno(file_), &about) != 0) {
        const std::string reason = std::strerror(errno);
        if (file_ != nullptr) {
            std::fclose(file_);
        }
        throw std::runtime_error("record: cannot read " + path + ": " + reason);
    }
    left_ = static_cast<std::uint64_t>(about.st_size);
    if (!read(content_, magic.size()) || content_ != magic) {
        std::fclose(file_);
        throw std::runtime_error("record: " + path + " is no MCAP file");
    }
}

Reader::~Reader() {
    std::fclose(file_);
}

bool Reader::read(std::string& to, std::uint64_t size) {
    to.clear();
    if (size > left_ || size > maxContent) {
        return false;
    }
    to.resize(static_cast<std::size_t>(size));
    left_ -= size;
    return std::fread(to.data(), 1, to.size(), file_) == to.size();
}

bool Reader::next(Message& message) {
    while (nextMessage_ == messages_.size()) {
        messages_.clear();
        nextMessage_ = 0;
        if (!readRecord()) {
            return false;
        }
    }
    message = messages_[nextMessage_++];
    return true;
}

/// Reads a record outside of a chunk. Returns false at the file's end.
bool Reader::readRecord() {
    std::string head;
    if (hasEnd_ || !read(head, recordHead)) {
        return false;
    }
    Fields fields(head);
    const auto op = static_cast<Op>(fields.number<1>());
    const std::uint64_t size = fields.number<8>();
    if (op == Op::footer) {
        std::string end;
        hasEnd_ = read(content_, size) && read(end, magic.size()) && end == magic;
        return false;
    }
    const bool isNeeded = op == Op::schema || op == Op::channel || op == Op::message ||
                          op == Op::chunk || op == Op::metadata || op == Op::statistics;
    if (!isNeeded || size > maxContent) {
        if (size > left_ || ::fseeko(file_, static_cast<off_t>(size), SEEK_CUR) != 0) {
            return false;
        }
        left_ -= size;
        damaged_ += isNeeded ? 1 : 0;
        return true;
    }
    if (!read(content_, size)) {
        return false;
    }
    if (!(op == Op::chunk ? readChunk(content_) : take(op, content_))) {
        ++damaged_;
        messages_.clear();
    }
    read_ += messages_.size();
    return true;
}

/// Reads the messages of a chunk. Returns false if any of its records is wrong.
bool Reader::readChunk(std::string_view content) {
    Fields fields(content);
    (void)fields.view(16);  // its times: the chunk may also contain channels, so it is not skipped
    const std::uint64_t size = fields.number<8>();
    const auto crc = static_cast<std::uint32_t>(fields.number<4>());
    const std::string_view method = fields.text();
    const std::string_view packed = fields.view(fields.number<8>());
    if (!fields.isWhole() || size > maxContent) {
        return false;
    }
    if (method == "zstd") {
        const auto claimed = ZSTD_getFrameContentSize(packed.data(), packed.size());
        if (claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != size) {
            return false;
        }
        chunk_.resize(static_cast<std::size_t>(size));
        if (ZSTD_decompress(chunk_.data(), chunk_.size(), packed.data(), packed.size()) != size) {
            return false;
        }
    } else if (method.empty()) {
        chunk_ = packed;
    } else {
        return false;
    }
    if (chunk_.size() != size || (crc != 0 && crc != crc32(chunk_))) {
        return false;
    }
    Fields records(chunk_);
    while (!records.isAtEnd()) {
        const auto op = static_cast<Op>(records.number<1>());
        if (!take(op, records.view(records.number<8>())) || !records.isWhole()) {
            return false;
        }
    }
    std::stable_sort(messages_.begin(), messages_.end(),
                     [](const Message& a, const Message& b) { return a.logTime < b.logTime; });
    return true;
}

/// Takes a record from the file or from a chunk.
bool Reader::take(Op op, std::string_view content) {
    Fields fields(content);
    const auto hasRoom = [&](std::size_t size) { return size <= maxKept - kept_; };
    if (op != Op::message && !hasRoom(content.size())) {
        return false;
    }
    if (op == Op::schema) {
        const std::uint16_t id = fields.id();
        if (schemas_.count(id) != 0) {
            return true;
        }
        const std::string_view name = fields.text();
        if (fields.isWhole()) {
            schemas_[id] = name;
            kept_ += name.size();
        }
    } else if (op == Op::channel) {
        const std::uint16_t id = fields.id();
        const std::uint16_t schema = fields.id();
        if (channels_.count(id) != 0) {
            return true;
        }
        Channel channel;
        channel.topic = fields.text();
        channel.encoding = fields.text();
        channel.metadata = fields.pairs();
        if (const auto found = schemas_.find(schema); found != schemas_.end()) {
            channel.schemaName = found->second;
        }
        const std::size_t size = content.size() + channel.schemaName.size() +
                                 channel.metadata.size() * sizeof(Pairs::value_type);
        if (!hasRoom(size)) {
            return false;
        }
        if (fields.isWhole()) {
            channels_[id] = std::move(channel);
            kept_ += size;
        }
    } else if (op == Op::message) {
        Message message;
        message.channel = fields.id();
        message.sequence = static_cast<std::uint32_t>(fields.number<4>());
        message.logTime = fields.number<8>();
        message.publishTime = fields.number<8>();
        message.data = fields.rest();
        if (!fields.isWhole() || channels_.count(message.channel) == 0) {
            return false;
        }
        messages_.push_back(message);
    } else if (op == Op::statistics) {
        return fields.number<8>() == read_ && fields.isWhole();
    } else if (op == Op::metadata) {
        const std::string_view name = fields.text();
        Pairs pairs = fields.pairs();
        if (fields.isWhole() && name == "sluice.lost") {
            lost_ = std::move(pairs);
        }
    }
    return fields.isWhole();
}

}  // namespace sluice::detail::mcap
