#pragma once

#include <sluice/actor/detail/mailbox/pooled_mailbox.hpp>

namespace sluice::detail {

/// The messages that the consumer of an object has taken out of the mailbox, in the order in which
/// they are handled. Message derives from MailboxNode.
template <class Message, class Platform>
class TakenMessages {
public:
    /// Appends a chain of messages, which are linked by `next`.
    void append(Message& first, Message& last) noexcept {
        (newest_ != nullptr ? newest_->next : oldest_) = &first;
        newest_ = &last;
    }
    /// Removes and returns the oldest message. Null if there is none.
    Message* pop() noexcept {
        auto* const message = static_cast<Message*>(oldest_);
        if (message != nullptr) {
            oldest_ = message->next;
            newest_ = oldest_ == nullptr ? nullptr : newest_;
        }
        return message;
    }

private:
    MailboxNode<Platform>* oldest_ = nullptr;
    MailboxNode<Platform>* newest_ = nullptr;
};

}  // namespace sluice::detail
