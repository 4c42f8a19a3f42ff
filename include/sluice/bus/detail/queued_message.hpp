#pragma once

#include <sluice/base/cell.hpp>
#include <sluice/bus/message_header.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// Storage for any message of the list.
template <class MessageList>
struct MessageStorage {
    alignas(MessageList::maxAlignment) unsigned char storage[MessageList::maxSize];
};

/// Whether T{args...} compiles.
template <class T, class Void, class... Args>
inline constexpr bool canBeBraced = false;
template <class T, class... Args>
inline constexpr bool canBeBraced<T, std::void_t<decltype(T{std::declval<Args>()...})>, Args...> =
    true;

/// Whether a message can be made from these arguments.
template <class T, class... Args>
inline constexpr bool isBuildable =
    std::is_constructible_v<T, Args...> || canBeBraced<T, void, Args...>;

/// A message in its slot: the message itself, the header, and the index of the type. They are
/// written in this order. At the front, a message is not split between cache lines without need. No
/// destructor destroys the message: the caller that builds it also destroys it.
template <class MessageList, class Traits>
class QueuedMessage : MessageStorage<MessageList>, public MessageHeader<Traits> {
public:
    /// Initialises nothing.
    QueuedMessage() noexcept {}
    QueuedMessage(const QueuedMessage&) = delete;
    QueuedMessage& operator=(const QueuedMessage&) = delete;

    [[nodiscard]] std::size_t typeIndex() const noexcept { return typeIndex_; }

    const MessageHeader<Traits>& header() const noexcept { return *this; }

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

    template <class T>
    T& get() noexcept {
        return *std::launder(reinterpret_cast<T*>(this->storage));
    }

    /// Calls f(message) with the message in its own type.
    template <class F>
    void visit(F&& f) {
        MessageList::visit(typeIndex_,
                           [&](auto type) { f(get<typename decltype(type)::Message>()); });
    }

    /// Moves message and header out of another one. Nothing is left there to be destroyed.
    void moveFrom(QueuedMessage& other) noexcept {
        static_cast<MessageHeader<Traits>&>(*this) = other;
        typeIndex_ = other.typeIndex_;
        other.visit([this](auto& message) noexcept {
            using Message = std::decay_t<decltype(message)>;
            if constexpr (MessageList::areNothrowMovable) {  // avoids follow-up errors
                ::new (static_cast<void*>(this->storage)) Message(std::move(message));
            }
        });
        other.destroy();
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

}  // namespace sluice::detail
