#pragma once

#include <sluice/actor/detail/mailbox/pooled_mailbox.hpp>

namespace sluice::detail {

/// The messages of one object that its consumer has taken out of the mailbox, in order. Message
/// derives from MailboxNode.
template <class Message, class Platform>
class TakenMessages {
public:
    /// Appends a chain of messages.
    void append(Message& first, Message& last) noexcept {
        (newest_ != nullptr ? newest_->next : oldest_) = &first;
        newest_ = &last;
    }
    /// Null if there is none.
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
