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

/// Writes packets of perfetto/trace/perfetto_trace.proto: messages of protobuf, by field numbers.
class PerfettoWriter {
public:
    PerfettoWriter() {
        addDescriptor(processTrack, "", [&](std::string& to) {
            put(to, 3, [&](std::string& process) { put(process, 1, processId()); });
        });
    }

    void addThread(std::uint64_t track, const TraceThread& thread) {
        addDescriptor(track, thread.name, [&](std::string& to) {
            put(to, 4, [&](std::string& fields) {
                put(fields, 1, processId());
                put(fields, 2, thread.id);
                put(fields, 5, thread.name);
            });
        });
    }
    void addCounter(std::uint64_t track, std::string_view name) {
        addDescriptor(track, name, [](std::string& to) {
            put(to, 5, processTrack);
            put(to, 8, std::string_view());
        });
    }

    /// Adds one step of a message.
    void add(std::int64_t time, std::uint64_t track, TraceStep step, std::string_view bus,
             std::string_view type, std::string_view priority, std::uint64_t id,
             std::uint64_t flow) {
        static constexpr std::string_view before[] = {"publish ", "refused ", "dropped ", "", ""};
        const bool isSlice = step == TraceStep::begins || step == TraceStep::ends;
        addEvent(time, track,
                 step == TraceStep::begins ? 1
                 : isSlice                 ? 2
                                           : 3,
                 [&](std::string& to) {
                     if (step == TraceStep::ends) {
                         return;
                     }
                     put(to, 22, bus);
                     put(to, 23, std::string(before[static_cast<std::size_t>(step)]) += type);
                     annotate(to, "priority", [&](std::string& value) { put(value, 6, priority); });
                     if (step != TraceStep::refused) {
                         annotate(to, "id", [&](std::string& value) { put(value, 3, id); });
                         putFixed(to, step == TraceStep::published ? 47 : 48, flow);
                     }
                 });
    }
    void count(std::int64_t time, std::uint64_t track, std::int64_t value) {
        addEvent(time, track, 4,
                 [&](std::string& to) { put(to, 30, static_cast<std::uint64_t>(value)); });
    }

    [[nodiscard]] std::string take() { return std::move(packets_); }

private:
    static constexpr std::uint64_t processTrack = std::uint64_t{1} << 48U;

    static void putVarint(std::string& to, std::uint64_t number) {
        for (; number >= 0x80; number >>= 7U) {
            to.push_back(static_cast<char>((number & 0x7FU) | 0x80U));
        }
        to.push_back(static_cast<char>(number));
    }
    static void put(std::string& to, unsigned field, std::uint64_t number) {
        putVarint(to, field << 3U);
        putVarint(to, number);
    }
    static void putFixed(std::string& to, unsigned field, std::uint64_t number) {
        putVarint(to, field << 3U | 1U);
        for (unsigned i = 0; i < 8; ++i) {
            to.push_back(static_cast<char>(number >> (8 * i) & 0xFFU));
        }
    }
    static void put(std::string& to, unsigned field, std::string_view text) {
        putVarint(to, field << 3U | 2U);
        putVarint(to, text.size());
        to += text;
    }
    /// Puts a message whose fields fill(to) puts.
    template <class Fill,
              class = decltype(std::declval<const Fill&>()(std::declval<std::string&>()))>
    static void put(std::string& to, unsigned field, const Fill& fill) {
        std::string fields;
        fill(fields);
        put(to, field, std::string_view(fields));
    }

    template <class Fill>
    static void annotate(std::string& to, std::string_view name, const Fill& fill) {
        put(to, 4, [&](std::string& annotation) {
            put(annotation, 10, name);
            fill(annotation);
        });
    }
    template <class Fill>
    void addDescriptor(std::uint64_t track, std::string_view name, const Fill& fill) {
        put(packets_, 1, [&](std::string& packet) {
            put(packet, 10, std::uint64_t{1});  // of the only sequence of packets
            put(packet, 60, [&](std::string& to) {
                put(to, 1, track);
                if (!name.empty()) {
                    put(to, 2, name);
                }
                fill(to);
            });
        });
    }
    template <class Fill>
    void addEvent(std::int64_t time, std::uint64_t track, unsigned type, const Fill& fill) {
        put(packets_, 1, [&](std::string& packet) {
            put(packet, 8, static_cast<std::uint64_t>(time));
            put(packet, 10, std::uint64_t{1});
            put(packet, 11, [&](std::string& to) {
                put(to, 9, std::uint64_t{type});
                put(to, 11, track);
                fill(to);
            });
        });
    }
    static std::uint64_t processId() noexcept {
#if defined(__unix__) || defined(__APPLE__)
        return static_cast<std::uint64_t>(::getpid());
#else
        return 1;
#endif
    }

    std::string packets_;
};

}  // namespace sluice::detail
