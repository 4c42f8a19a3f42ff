#pragma once

#include <sluice/actor/transitions.hpp>
#include <sluice/fixed/fixed_vector.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace sluice::detail {

/// The messages that a state machine has deferred. `Message` is a variant of their types. A message
/// stays in its slot, so it needs no move.
template <class Message, std::size_t Capacity>
class DeferredMessages {
    using Slot = std::optional<Message>;

public:
    /// Adds a copy of a message. False if Capacity messages are deferred already. If the copy
    /// throws, nothing has changed.
    template <class M>
    [[nodiscard]] bool keep(const M& message) {
        static_assert(std::is_copy_constructible_v<M>,
                      "a deferred message needs a copy constructor: the machine keeps a copy");
        for (Slot& slot : slots_) {
            if (!slot.has_value()) {
                slot.emplace(std::in_place_type<M>, message);
                return messages_.pushBack(&slot);
            }
        }
        return false;
    }
    /// Called when the state has changed: the messages are due.
    void noteChange() noexcept { hasChanged_ |= messages_.size() != 0; }
    /// Discards all messages, and counts them.
    void clear() {
        while (!messages_.empty()) {
            Slot& newest = *messages_.back();
            messages_.popBack();
            ++discarded_;
            newest.reset();
        }
        hasChanged_ = false;
    }

    [[nodiscard]] std::size_t size() const noexcept { return messages_.size(); }
    [[nodiscard]] std::size_t discarded() const noexcept { return discarded_; }

    /// Whether comeBack() has messages to offer.
    [[nodiscard]] bool isDue() const noexcept { return hasChanged_; }

    /// Offers each deferred message again, by offer(message). If an offer changes the state, it
    /// begins with the oldest message again. Out of line, because most calls find no deferred
    /// message.
    template <class Offer>
    [[gnu::noinline]] void comeBack(const Offer& offer) {
        while (hasChanged_) {
            hasChanged_ = false;
            for (std::size_t i = 0; i != messages_.size() && !hasChanged_;) {
                i += staysDeferred(i, offer) ? 1 : 0;
            }
        }
    }

private:
    /// Removes an offered message, except if the message stays deferred. If offer() throws, the
    /// message is removed, too, and the next call of comeBack() offers the others.
    struct Offered {
        Offered(DeferredMessages& owner, std::size_t offered) noexcept
            : messages(owner), index(offered) {}
        ~Offered() {
            messages.hasChanged_ |= !hasReturned;
            if (!isDeferred) {
                messages.messages_[index]->reset();
                messages.messages_.eraseOrdered(index);
            }
        }
        Offered(const Offered&) = delete;
        Offered& operator=(const Offered&) = delete;

        DeferredMessages& messages;
        std::size_t index;
        bool hasReturned = false;
        bool isDeferred = false;
    };

    template <class Offer>
    bool staysDeferred(std::size_t index, const Offer& offer) {
        Offered offered(*this, index);
        const MachineResult result = std::visit(offer, **messages_[index]);
        offered.hasReturned = true;
        offered.isDeferred = result == MachineResult::deferred;
        discarded_ += result == MachineResult::unhandled ? 1 : 0;
        return offered.isDeferred;
    }

    std::array<Slot, Capacity> slots_;
    FixedVector<Slot*, Capacity> messages_;  ///< the slots that hold a message, the oldest first
    std::size_t discarded_ = 0;
    bool hasChanged_ = false;  ///< whether the state has changed since the messages were offered
};

/// The same for a machine that defers nothing.
template <std::size_t Capacity>
class DeferredMessages<std::variant<>, Capacity> {
public:
    void noteChange() const noexcept {}
    void clear() const noexcept {}
    [[nodiscard]] std::size_t size() const noexcept { return 0; }
    [[nodiscard]] std::size_t discarded() const noexcept { return 0; }
    [[nodiscard]] bool isDue() const noexcept { return false; }
    template <class Offer>
    void comeBack(const Offer& /*offer*/) const noexcept {}
};

}  // namespace sluice::detail
