#pragma once

#include <sluice/base/send_result.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/record/detail/mcap.hpp>
#include <sluice/record/detail/record_type.hpp>
#include <sluice/wire/decode_error.hpp>
#include <sluice/wire/message_pack.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {

/// What is known about a file after its last message.
enum class RecordingEnd : unsigned char {
    unknown,   ///< more messages follow
    complete,  ///< the recorder was closed
    cut,       ///< the file ends early: its last chunk is missing, or a part of it
    damaged,   ///< some chunks were skipped, because their content is wrong
};
[[nodiscard]] const char* toString(RecordingEnd end) noexcept;

namespace detail {
/// For a file whose messages have all been read.
[[nodiscard]] RecordingEnd endOf(const mcap::Reader& file) noexcept;
}  // namespace detail

struct ReplayOptions {
    /// How much faster run() is than the recording; 0: as fast as the receivers allow.
    double speed = 1;
    /// Messages outside of these times after the file's first one are skipped. With 0, those that
    /// are older than the first one are not.
    std::chrono::nanoseconds from{0};
    std::chrono::nanoseconds to = std::chrono::nanoseconds::max();
};

enum class ReplayStep : unsigned char {
    delivered,  ///< one message was delivered
    full,       ///< the receiver has no room now: step() tries the same message again
    end,        ///< the file has no more messages
};

struct ReplayStatistics {
    std::uint64_t delivered = 0;
    std::uint64_t unmatched = 0;    ///< nothing receives their type
    std::uint64_t undecodable = 0;  ///< the data does not fit the type
    std::uint64_t refused = 0;      ///< the bus was closed
};

/// Publishes the messages of a file of Recorder, or of another MCAP writer that encodes messages as
/// "msgpack" or "json".
///
///     sluice::Replay replay("run.mcap");
///     replay.into(bus);                  // or into<Scan, Stop>(bus), or handle<Scan>(function)
///     replay.run();                      // with the original timing
///
/// A message belongs to the first receiver of a type with its name, with or without namespaces.
/// Fields may have been added and removed since, by the rules of wire::decode(). A type without
/// describe() must be unchanged, see wire::hasUnnamedFields().
///
/// The file is untrusted. Chunks that are not whole are skipped, see end(). Chunks must not be
/// larger than 256 MiB, nor compressed by another method than zstd. Descriptions of channels that
/// take more than 64 MiB count as damage.
///
/// Thread safety: any thread may call stop(), one thread at a time the other functions.
///
/// Errors: the constructor throws std::runtime_error if the file cannot be read or is no MCAP file.
class Replay {
public:
    explicit Replay(const std::string& path, const ReplayOptions& options = {});
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;

    /// Publishes all types of messages of the bus, or only those that are named, with their
    /// priorities. With a name, only topics that were recorded under this name.
    template <class... Only, class AnyBus>
    void into(AnyBus& bus, const std::string& name = {}) {
        using Types = std::conditional_t<sizeof...(Only) == 0, typename AnyBus::MessageTypes,
                                         ListOf<Only...>>;
        intoEach(bus, name, Types());
    }

    /// Passes messages of type T to handler(T&&) or handler(T&&, Priority), which returns nothing
    /// or a SendResult. With a topic, only messages of this topic, whatever their type's name.
    template <class T, class Handler>
    void handle(Handler handler, const std::string& topic = {}) {
        addHandler<T>(std::move(handler), topic, detail::recordTypeOf<T>());
    }

    /// Delivers the next message, whatever its time.
    ReplayStep step();

    /// The time from the last delivered message to the next one, as recorded: for a clock of your
    /// own, such as ManualExecutor::runFor(). 0 before the first message and at the end.
    [[nodiscard]] std::chrono::nanoseconds delay();

    /// Delivers all messages at their times. Waits while a receiver is full, so another thread must
    /// process the bus. Returns false if stop() ended it; a stop() while it does not run ends the
    /// next one.
    bool run();
    void stop() noexcept;

    [[nodiscard]] ReplayStatistics statistics() const noexcept { return counts_; }
    [[nodiscard]] RecordingEnd end() const noexcept;

private:
    using Deliver = std::function<wire::DecodeError(const unsigned char* bytes, std::size_t size,
                                                    Priority priority, SendResult& result)>;
    struct Receiver {
        std::string topic;
        detail::RecordType type;
        Deliver deliver;
    };
    template <class... Ts>
    struct ListOf {};

    template <class T, class Handler>
    void addHandler(Handler handler, const std::string& topic, detail::RecordType&& type) {
        static_assert(std::is_default_constructible_v<T>,
                      "replay: a message is default-constructed, then its fields are read");
        auto deliverTo = [handler = std::move(handler)](
                             const unsigned char* bytes, std::size_t size,
                             [[maybe_unused]] Priority priority, SendResult& result) mutable {
            T message{};
            const wire::DecodeError error = wire::decode(bytes, size, message);
            if (error == wire::DecodeError::none) {
                result = call([&]() -> decltype(auto) {
                    if constexpr (std::is_invocable_v<Handler&, T&&, Priority>) {
                        return handler(std::move(message), priority);
                    } else {
                        return handler(std::move(message));
                    }
                });
            }
            return error;
        };
        receivers_.push_back({topic, std::move(type), std::move(deliverTo)});
        routes_.clear();
    }

    template <class AnyBus, template <class...> class List, class... Ts>
    void intoEach(AnyBus& bus, const std::string& name, List<Ts...> /*types*/) {
        constexpr const typename AnyBus::MessageTypes* all = nullptr;
        (addHandler<Ts>(
             [&bus](Ts&& message, [[maybe_unused]] Priority priority) {
                 if constexpr (AnyBus::Header::hasPriority) {
                     return bus.tryPublish(std::move(message), priority);
                 } else {
                     return bus.tryPublish(std::move(message));
                 }
             },
             name.empty() ? name : name + "/" + std::string(detail::nameAmong<Ts>(all)),
             detail::recordTypeOf<Ts>(detail::nameAmong<Ts>(all))),
         ...);
    }

    template <class F>
    static SendResult call(const F& f) {
        if constexpr (std::is_void_v<decltype(f())>) {
            f();
            return SendResult::ok;
        } else {
            return f();
        }
    }

    bool load();
    Receiver* receiver();
    wire::DecodeError deliver(SendResult& result);

    const ReplayOptions options_;
    detail::mcap::Reader file_;
    std::vector<Receiver> receivers_;
    std::map<std::uint16_t, Receiver*> routes_;  // from channels
    detail::mcap::Message message_;
    bool isLoaded_ = false;
    bool isAtEnd_ = false;
    bool hasFirst_ = false;
    std::chrono::nanoseconds firstTime_{0};
    std::chrono::nanoseconds lastTime_{-1};  // of the last delivered message; negative: none
    ReplayStatistics counts_;

    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<bool> isStopped_{false};
};

}  // namespace sluice
