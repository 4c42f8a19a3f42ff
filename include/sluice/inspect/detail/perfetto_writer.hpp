#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/bus/bus_traits.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace sluice::detail {

/// Writes a file that does not exist yet, for its owner alone.
inline bool writeNewFile(const std::string& path, std::string_view bytes) noexcept {
#if defined(__unix__) || defined(__APPLE__)
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const int number = ::open(path.c_str(), flags, 0600);
    std::FILE* const file = number < 0 ? nullptr : ::fdopen(number, "wb");
#else
    std::FILE* const file = std::fopen(path.c_str(), "wbx");
#endif
    if (file == nullptr) {
        return false;
    }
    const bool isWritten = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return std::fclose(file) == 0 && isWritten;
}

struct TraceThread {
    std::uint64_t id = 0;
    std::string name;

    static TraceThread current() {
        TraceThread thread;
#if defined(__linux__)
        char name[16] = {};
        (void)::prctl(PR_GET_NAME, name);
        thread.name = name;
        thread.id = static_cast<std::uint64_t>(::syscall(SYS_gettid));
#else
        thread.id = StdPlatform::threadNumber();
        thread.name = "thread " + std::to_string(thread.id);
#endif
        return thread;
    }
};

/// A message of protobuf: its fields, one after the other.
class ProtobufFields {
public:
    ProtobufFields& add(unsigned field, std::uint64_t number) {
        addVarint(field << 3U);
        addVarint(number);
        return *this;
    }
    ProtobufFields& addFixed(unsigned field, std::uint64_t number) {
        addVarint(field << 3U | 1U);
        for (unsigned i = 0; i < 8; ++i) {
            bytes.push_back(static_cast<char>(number >> (8 * i) & 0xFFU));
        }
        return *this;
    }
    ProtobufFields& add(unsigned field, std::string_view text) {
        addVarint(field << 3U | 2U);
        addVarint(text.size());
        bytes += text;
        return *this;
    }
    ProtobufFields& add(unsigned field, const ProtobufFields& message) {
        return add(field, std::string_view(message.bytes));
    }

    std::string bytes;

private:
    void addVarint(std::uint64_t number) {
        for (; number >= 0x80; number >>= 7U) {
            bytes.push_back(static_cast<char>((number & 0x7FU) | 0x80U));
        }
        bytes.push_back(static_cast<char>(number));
    }
};

/// Writes packets of perfetto/trace/perfetto_trace.proto.
class PerfettoWriter {
    using Fields = ProtobufFields;

public:
    PerfettoWriter() {
        describe(Fields().add(1, processTrack).add(3, Fields().add(1, processId())));
    }

    void addThread(std::uint64_t track, const TraceThread& thread) {
        describe(Fields()
                     .add(1, track)
                     .add(2, thread.name)
                     .add(4, Fields().add(1, processId()).add(2, thread.id).add(5, thread.name)));
    }
    void addCounter(std::uint64_t track, std::string_view name) {
        describe(Fields().add(1, track).add(2, name).add(5, processTrack).add(8, Fields()));
    }

    /// Adds one step of a message.
    void add(std::int64_t time, std::uint64_t track, TraceStep step, std::string_view bus,
             std::string_view type, std::string_view priority, std::uint64_t id,
             std::uint64_t flow) {
        static constexpr const char* before[] = {"publish ", "refused ", "dropped ", "", ""};
        const bool isEnd = step == TraceStep::ends;
        Fields event;
        event.add(9, step == TraceStep::begins ? 1U : isEnd ? 2U : 3U).add(11, track);
        if (!isEnd) {
            event.add(22, bus)
                .add(23, std::string(before[static_cast<std::size_t>(step)]).append(type))
                .add(4, Fields().add(10, "priority").add(6, priority));
        }
        if (!isEnd && step != TraceStep::refused) {
            event.add(4, Fields().add(10, "id").add(3, id))
                .addFixed(step == TraceStep::published ? 47 : 48, flow);
        }
        addEvent(time, event);
    }
    void count(std::int64_t time, std::uint64_t track, std::int64_t value) {
        addEvent(time,
                 Fields().add(9, 4U).add(11, track).add(30, static_cast<std::uint64_t>(value)));
    }

    [[nodiscard]] std::string take() { return std::move(packets_.bytes); }

private:
    static constexpr std::uint64_t processTrack = std::uint64_t{1} << 48U;

    void describe(const Fields& track) { packets_.add(1, Fields().add(10, 1U).add(60, track)); }
    void addEvent(std::int64_t time, const Fields& event) {
        packets_.add(1,
                     Fields().add(8, static_cast<std::uint64_t>(time)).add(10, 1U).add(11, event));
    }
    static std::uint64_t processId() noexcept {
#if defined(__unix__) || defined(__APPLE__)
        return static_cast<std::uint64_t>(::getpid());
#else
        return 1;
#endif
    }

    Fields packets_;  // all of sequence 1
};

}  // namespace sluice::detail
