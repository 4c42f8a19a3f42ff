#pragma once

#include <sluice/bus/message_header.hpp>
#include <sluice/bus/messages.hpp>

#include <type_traits>
#include <utility>
#include <variant>

namespace sluice::detail {

/// A message of any type in the list of an object, with its header.
template <class MessageList, class Traits>
class PostedMessage;

template <class... Ts, class Traits>
class PostedMessage<Messages<Ts...>, Traits> {
public:
    using Header = MessageHeader<Traits>;

    template <class T, class... Args>
    PostedMessage(std::in_place_type_t<T> type, const PublishOptions& options, Args&&... args)
        : header(headerOf(options)), content_(type, std::forward<Args>(args)...) {}

    /// Calls receive(message, header) with the message in its own type.
    template <class Receive>
    void visit(const Receive& receive) const {
        (void)(receiveIf<Ts>(receive) || ...);
    }

    Header header;

private:
    static Header headerOf(const PublishOptions& options) noexcept {
        Header header{};
        header.set(OptionFields<Traits>(options), options.priority);
        return header;
    }

    template <class T, class Receive>
    bool receiveIf(const Receive& receive) const {
        const T* const message = std::get_if<T>(&content_);
        if (message != nullptr) {
            receive(*message, header);
        }
        return message != nullptr;
    }

    std::variant<Ts...> content_;
};

}  // namespace sluice::detail
