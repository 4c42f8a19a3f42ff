#pragma once

#include <sluice/base/send_result.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/record/detail/record_type.hpp>
#include <sluice/wire/decode_error.hpp>
#include <sluice/wire/message_pack.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {

/// How a file ends, which is known after its last message.
enum class RecordingEnd : unsigned char {
    unknown,   ///< more messages follow
    complete,  ///< the recorder was closed
    cut,       ///< the file ends early: its last chunk is missing, or a part of it
    damaged,   ///< some chunks were skipped, because their content is wrong
};
[[nodiscard]] const char* toString(RecordingEnd end) noexcept;

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
    std::uint64_t unmatched = 0;    ///< nothing receives their type, or they are not MessagePack
    std::uint64_t undecodable = 0;  ///< the data does not fit the type
    std::uint64_t refused = 0;      ///< the bus was closed, or the handler threw
};

/// Publishes the messages of a file of Recorder, or of another MCAP writer that encodes messages in
/// MessagePack.
///
///     sluice::Replay replay("run.mcap");
///     replay.into(bus);                  // or into<Scan, Stop>(bus), or handle<Scan>(function)
///     replay.run();                      // with the original timing
///
/// A message belongs to the first receiver of a type with its name, with or without namespaces.
/// Fields may have been added and removed since, by the rules of wire::decode(). A type without
/// describe() must be unchanged, see wire::hasUnnamedFields().
///
/// The file is untrusted. Chunks that are not whole or too large are skipped, see end(). A record
/// of more than 256 MiB ends the reading as if the file were cut there.
///
/// Thread safety: any thread may call stop(), one thread at a time the other functions.
///
/// Errors: the constructor throws std::runtime_error if the file cannot be read or is no MCAP file.
/// A message whose handler throws is not repeated.
class Replay {
public:
    explicit Replay(const std::string& path, const ReplayOptions& options = {});
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;
    ~Replay();

    /// Publishes all types of messages of the bus, or only those that are named, with their
    /// priorities. With a name, only topics that were recorded under this name.
    template <class... Only, class AnyBus>
    void into(AnyBus& bus, const std::string& name = {}) {
        using Types = std::conditional_t<sizeof...(Only) == 0, typename AnyBus::MessageTypes,
                                         Messages<Only...>>;
        intoEach(bus, name, static_cast<const Types*>(nullptr));
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
    /// next one. stop() may take 10 ms.
    bool run();
    void stop() noexcept { isStopped_ = true; }

    [[nodiscard]] ReplayStatistics statistics() const noexcept { return counts_; }
    [[nodiscard]] RecordingEnd end() const noexcept;

private:
    /// Returns nothing if the data does not fit the type.
    using Deliver = std::function<std::optional<SendResult>(std::string_view data, Priority)>;
    struct Receiver {
        std::string topic;
        detail::RecordType type;
        Deliver deliver;
    };

    template <class T, class Handler>
    void addHandler(Handler handler, const std::string& topic, detail::RecordType&& type) {
        static_assert(std::is_default_constructible_v<T>,
                      "replay: a message is default-constructed, then its fields are read");
        auto deliver =
            [handler = std::move(handler)](
                std::string_view data,
                [[maybe_unused]] Priority priority) mutable -> std::optional<SendResult> {
            T message{};
            const auto* const bytes = reinterpret_cast<const unsigned char*>(data.data());
            if (wire::decode(bytes, data.size(), message) != wire::DecodeError::none) {
                return std::nullopt;
            }
            const auto call = [&]() -> decltype(auto) {
                if constexpr (std::is_invocable_v<Handler&, T&&, Priority>) {
                    return handler(std::move(message), priority);
                } else {
                    return handler(std::move(message));
                }
            };
            if constexpr (std::is_void_v<decltype(call())>) {
                call();
                return SendResult::ok;
            } else {
                return call();
            }
        };
        receivers_.push_back({topic, std::move(type), std::move(deliver)});
    }

    template <class AnyBus, class... Ts>
    void intoEach(AnyBus& bus, const std::string& name, const Messages<Ts...>* /*types*/) {
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
             detail::recordTypeOf<Ts>(all)),
         ...);
    }

    bool load();

    const ReplayOptions options_;
    const std::unique_ptr<detail::mcap::Reader> file_;
    std::deque<Receiver> receivers_;  // a handler may add others
    detail::mcap::Message message_;
    Receiver* receiver_ = nullptr;  // of message_; null: it is delivered, or has none
    std::optional<std::chrono::nanoseconds> firstTime_;  // of the file
    std::optional<std::chrono::nanoseconds> lastTime_;   // of the last delivered message
    ReplayStatistics counts_;
    std::atomic<bool> isStopped_{false};
};

}  // namespace sluice
