#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/priority.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

template <class T, class... Ts>
constexpr std::size_t countOf() noexcept {
    return (std::size_t{std::is_same_v<T, Ts>} + ... + 0);
}

template <class T, class... Ts>
constexpr std::size_t indexOf() noexcept {
    std::size_t index = 0;
    (void)((std::is_same_v<T, Ts> || (++index, false)) || ...);
    return index;
}

}  // namespace detail

/// The message types of a bus. A type's position in the list is its index in the statistics.
template <class... Ts>
struct Messages {
    static_assert(sizeof...(Ts) != 0, "a bus needs at least one type of message");
    static_assert(sizeof...(Ts) < 255, "a bus carries at most 254 types of message");
    static_assert(((std::is_object_v<Ts> && !std::is_array_v<Ts>)&&...),
                  "messages are objects: no references, functions or arrays");
    static_assert((std::is_same_v<Ts, std::remove_cv_t<Ts>> && ...),
                  "the types of messages are listed without const and volatile");
    static_assert((std::is_nothrow_destructible_v<Ts> && ...),
                  "destroying a message must not throw");
    static_assert(((detail::countOf<Ts, Ts...>() == 1) && ...),
                  "each type of message is listed once");

    static constexpr std::size_t count = sizeof...(Ts);
    static constexpr std::size_t maxSize = std::max({sizeof(Ts)...});
    static constexpr std::size_t maxAlignment = std::max({alignof(Ts)...});
    static constexpr bool areTriviallyDestructible = (std::is_trivially_destructible_v<Ts> && ...);
    static constexpr bool areNothrowMovable = (std::is_nothrow_move_constructible_v<Ts> && ...);

    template <class T>
    struct Type {
        using Message = T;
    };

    template <class T>
    static constexpr bool contains = detail::countOf<T, Ts...>() == 1;

    template <class T>
    static constexpr std::size_t indexOf = detail::indexOf<T, Ts...>();

    /// Calls f(Type<T>{}) for the type T at position `index`. The first types of the list are found
    /// fastest.
    template <class F>
    static constexpr void visit(std::size_t index, F&& f) {
        (void)((SLUICE_LIKELY(index == indexOf<Ts>) ? (f(Type<Ts>{}), true) : false) || ...);
    }
};

/// The header fields that a publisher may set. The bus ignores fields that its traits disable.
struct PublishOptions {
    Priority priority = Priority::medium;
    std::uint32_t sender = 0;  ///< chosen by the program
    std::uint32_t origin = 0;  ///< the publishing process, set by bridges; 0: this process
    std::uint64_t trace = 0;   ///< identifies a message across processes
};

/// Options of a message that may expire. A message whose handlers have not begun before `expires`
/// is destroyed and counted as expired.
template <class Clock = std::chrono::steady_clock>
struct ExpiringOptions {
    PublishOptions options;
    typename Clock::time_point expires;
};

namespace detail {

template <class T>
inline constexpr bool isMessageList = false;
template <class... Ts>
inline constexpr bool isMessageList<Messages<Ts...>> = true;

template <class List, class T>
constexpr bool checkListed() noexcept {
    static_assert(List::template contains<T>,
                  "this type is not among the Messages of the bus: add it to the list");
    return List::template contains<T>;
}

/// Fails to compile if the list does not contain T.
template <class List, class T>
constexpr std::size_t listedIndex() noexcept {
    return checkListed<List, T>() ? List::template indexOf<T> : 0;
}

template <class Options>
inline constexpr bool isExpiring = false;
template <class Clock>
inline constexpr bool isExpiring<ExpiringOptions<Clock>> = true;

constexpr Priority priorityOf(const PublishOptions& options) noexcept {
    return options.priority;
}
template <class Clock>
constexpr Priority priorityOf(const ExpiringOptions<Clock>& expiring) noexcept {
    return expiring.options.priority;
}

template <class Traits, class Options>
constexpr decltype(auto) optionsOf(const Options& options) noexcept {
    if constexpr (isExpiring<Options>) {
        using OfTheBus = ExpiringOptions<typename Traits::Platform::Clock>;
        static_assert(Traits::expiry,
                      "messages of this bus do not expire: set expiry of its traits");
        static_assert(!Traits::expiry || std::is_same_v<Options, OfTheBus>,
                      "`expires` is a time of another clock than Platform::Clock of the traits");
        if constexpr (Traits::expiry && std::is_same_v<Options, OfTheBus>) {
            return static_cast<const Options&>(options);
        } else {
            return PublishOptions{};
        }
    } else if constexpr (std::is_base_of_v<PublishOptions, Options>) {
        return static_cast<const PublishOptions&>(options);
    } else if constexpr (std::is_same_v<Options, Priority>) {
        static_assert(Traits::priorities, "this bus has no priorities: see its traits");
        return PublishOptions{options};
    } else {
        constexpr bool areOptions = std::is_convertible_v<const Options&, PublishOptions>;
        static_assert(areOptions, "the options of a publication are PublishOptions or a Priority");
        if constexpr (areOptions) {
            return static_cast<PublishOptions>(options);
        } else {
            return PublishOptions{};
        }
    }
}

struct IdField {
    /// The number of earlier messages of this priority, modulo half the range of Traits::Index.
    /// This number may include messages whose constructor threw.
    std::uint64_t id;
};

template <class Clock>
struct TimeField {
    TimeField() noexcept {}  // not initialised: publish() sets timeStamp
    union {
        /// The time of publication, with the precision that Traits::timeStamp selects.
        typename Clock::time_point timeStamp;
    };
};

template <class Clock>
struct ExpiryField {
    ExpiryField() noexcept {}  // as in TimeField
    union {
        /// The time at which the message expires; time_point::max() means never.
        typename Clock::time_point expires;
    };
};

struct TraceField {
    std::uint64_t trace;
};

struct SenderField {
    std::uint32_t sender;
};

struct OriginField {
    std::uint32_t origin;
};

struct PriorityField {
    Priority priority;
};

/// Each disabled field has its own empty type, because a class cannot inherit the same base twice.
template <class Field>
struct NoField {};

template <bool On, class Field>
using FieldIf = std::conditional_t<On, Field, NoField<Field>>;

/// The options that a message header stores, except the priority. OptionFields are passed in
/// registers, because the atomic operation of publish() would wait for stores to memory.
template <class Traits>
struct OptionFields : FieldIf<Traits::expiry, ExpiryField<typename Traits::Platform::Clock>>,
                      FieldIf<Traits::traces, TraceField>,
                      FieldIf<Traits::senders, SenderField>,
                      FieldIf<Traits::origins, OriginField> {
    OptionFields() noexcept = default;
    explicit OptionFields([[maybe_unused]] const PublishOptions& options) noexcept {
        if constexpr (Traits::traces) {
            this->trace = options.trace;
        }
        if constexpr (Traits::senders) {
            this->sender = options.sender;
        }
        if constexpr (Traits::origins) {
            this->origin = options.origin;
        }
        if constexpr (Traits::expiry) {
            this->expires = Traits::Platform::Clock::time_point::max();
        }
    }
    explicit OptionFields(
        const ExpiringOptions<typename Traits::Platform::Clock>& expiring) noexcept
        : OptionFields(expiring.options) {
        this->expires = expiring.expires;
    }
};

}  // namespace detail

/// The header of a message. The traits select its fields among `id`, `timeStamp`, `expires`,
/// `trace`, `sender`, `origin` and `priority`. Constants such as `hasId` say which fields exist.
template <class Traits>
struct MessageHeader : detail::FieldIf<Traits::ids, detail::IdField>,
                       detail::FieldIf<Traits::timeStamp != TimeStamp::none,
                                       detail::TimeField<typename Traits::Platform::Clock>>,
                       detail::OptionFields<Traits>,
                       detail::FieldIf<Traits::priorities, detail::PriorityField> {
    static constexpr bool hasId = Traits::ids;
    static constexpr bool hasTimeStamp = Traits::timeStamp != TimeStamp::none;
    static constexpr bool hasExpiry = Traits::expiry;
    static constexpr bool hasTrace = Traits::traces;
    static constexpr bool hasSender = Traits::senders;
    static constexpr bool hasOrigin = Traits::origins;
    static constexpr bool hasPriority = Traits::priorities;

    void set(const detail::OptionFields<Traits>& fields,
             [[maybe_unused]] Priority chosen) noexcept {
        static_cast<detail::OptionFields<Traits>&>(*this) = fields;
        if constexpr (Traits::priorities) {
            this->priority = chosen;
        }
    }
};

namespace detail {

template <class MessageList>
struct MessageStorage {
    alignas(MessageList::maxAlignment) unsigned char storage[MessageList::maxSize];
};

template <class T, class Void, class... Args>
inline constexpr bool canBeBraced = false;
template <class T, class... Args>
inline constexpr bool canBeBraced<T, std::void_t<decltype(T{std::declval<Args>()...})>, Args...> =
    true;

template <class T, class... Args>
inline constexpr bool isBuildable =
    std::is_constructible_v<T, Args...> || canBeBraced<T, void, Args...>;

/// A message with its header and type index. The message comes first, so that it spans few cache
/// lines. The owner must call destroy(), because the destructor does nothing.
template <class MessageList, class Traits>
class QueuedMessage : MessageStorage<MessageList>, public MessageHeader<Traits> {
public:
    QueuedMessage() noexcept {}  // initialises nothing
    QueuedMessage(const QueuedMessage&) = delete;
    QueuedMessage& operator=(const QueuedMessage&) = delete;

    [[nodiscard]] std::size_t typeIndex() const noexcept { return typeIndex_; }

    const MessageHeader<Traits>& header() const noexcept { return *this; }
    [[nodiscard]] std::uint64_t idOrZero() const noexcept {
        if constexpr (Traits::ids) {
            return this->id;
        }
        return 0;
    }

    [[nodiscard]] bool hasExpired() const noexcept {
        if constexpr (Traits::expiry) {
            using Clock = typename Traits::Platform::Clock;
            return this->expires != Clock::time_point::max() && Clock::now() >= this->expires;
        }
        return false;
    }

    template <class T, class... Args>
    void build(Args&&... args) {
        static_assert(isBuildable<T, Args&&...>,
                      "the message cannot be made from these arguments: does it have "
                      "such a constructor, or was it to be moved?");
        if constexpr (isBuildable<T, Args&&...>) {  // avoids follow-up errors
            buildAt<T>(this->storage, std::forward<Args>(args)...);
        }
        typeIndex_ = static_cast<std::uint8_t>(MessageList::template indexOf<T>);
    }

    template <class Time, class Claim>
    SLUICE_ALWAYS_INLINE void complete(const OptionFields<Traits>& fields, Priority chosen,
                                       [[maybe_unused]] const Time& time,
                                       [[maybe_unused]] const Claim& claim) noexcept {
        if constexpr (Traits::timeStamp != TimeStamp::none) {
            this->timeStamp = time.stamp();
        }
        this->set(fields, chosen);
        if constexpr (Traits::ids) {
            this->id = claim.number();
        }
    }

    template <class T>
    T& get() noexcept {
        return *std::launder(reinterpret_cast<T*>(this->storage));
    }

    template <class F>
    void visit(F&& f) {
        MessageList::visit(typeIndex_,
                           [&](auto type) { f(get<typename decltype(type)::Message>()); });
    }

    void destroy() noexcept {
        if constexpr (!MessageList::areTriviallyDestructible) {
            visit([](auto& message) noexcept {
                using Message = std::decay_t<decltype(message)>;
                message.~Message();
            });
        }
    }

private:
    std::uint8_t typeIndex_;
};

}  // namespace detail

}  // namespace sluice
