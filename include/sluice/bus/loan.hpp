#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/bus/priority.hpp>

#include <type_traits>
#include <utility>
#include <variant>

namespace sluice {

/// A message that its publisher fills in several steps, directly in a slot of the bus.
///
///     auto frame = sluice::loan<Frame>(bus, sluice::Priority::low);
///     if (frame) {
///         frame->size = read(camera, frame->bytes, sizeof frame->bytes);
///         frame.publish();
///     }
///
/// Use a loan for a large message that is read from a device or computed in place. Use emplace() if
/// a constructor can fill the message.
///
/// Order: the message is published at the position that loan() determined. Until the loan is
/// published or destroyed, later messages of the same priority stay in the bus, so drain() waits.
///
/// Thread safety: only one thread at a time may use a loan. With Producers::one, a publisher that
/// holds a loan must not publish another message. The bus must outlive its loans.
///
/// Errors: loan() never waits. If the bus is full or closed, the loan is empty and result() returns
/// the reason. The destructor of an unpublished loan frees the slot. If a loan is published after
/// close(), its message is handled. If a loan is published after stop(), its message is discarded.
template <class T, class OfBus>
class Loan;
template <class T, class List, class Traits>
class [[nodiscard]] Loan<T, Bus<List, Traits>> {
    using OfBus = Bus<List, Traits>;
    using Fields = detail::OptionFields<Traits>;
    static constexpr bool isOnly = Traits::producers == Producers::one;

public:
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    /// Returns true while the loan holds an unpublished message.
    explicit operator bool() const noexcept { return message_ != nullptr; }
    /// The result of loan(), which stays `ok` after publish().
    [[nodiscard]] SendResult result() const noexcept { return result_; }

    T& operator*() const noexcept { return *message_; }
    T* operator->() const noexcept { return message_; }

    void publish() noexcept {
        SLUICE_ASSERT(message_ != nullptr,
                      "publish() without a message: ask the loan's bool first");
        if (std::exchange(message_, nullptr) != nullptr) {
            std::visit(
                [](auto& slot) {
                    if constexpr (!std::is_same_v<decltype(slot), std::monostate&>) {
                        slot.commit();
                    }
                },
                slot_);
            slot_.template emplace<std::monostate>();  // wakes the consumer
            if constexpr (isOnly) {                    // SpscRing counts the message only now
                tellPressure();
            }
        }
    }

private:
    template <class U, class L, class R, class Options, class... Args>
    friend Loan<U, Bus<L, R>> loan(Bus<L, R>& bus, const Options& options, Args&&... args);

    template <Priority P>
    class Slot {
        using QueuedMessage = typename OfBus::QueuedMessage;
        using Claim =
            decltype(std::declval<typename OfBus::template RingOf<P>&>().tryReserve(detail::One()));

    public:
        template <class... Args>
        Slot(OfBus& bus, const Fields& fields, T*& message, Args&&... args)
            : end_{bus}, claim_(reserve(bus)), fields_(fields), unpublished_{*this} {
            if (claim_) {
                end_.isDue = true;
                QueuedMessage& queued = claim_.emplace();
                if constexpr (isOnly) {
                    bus.isBuilding_ = true;
                }
                queued.template build<T>(std::forward<Args>(args)...);
                queued_ = &queued;
                message = &queued.template get<T>();
            } else {
                end_.isDue = isOnly && claim_.result() == SendResult::closed;
                bus.counts_.template rejected<P>(detail::listedIndex<List, T>(), claim_.result(),
                                                 1);
            }
        }
        ~Slot() {
            if (queued_ != nullptr) {
                queued_->destroy();
            }
        }

        [[nodiscard]] SendResult result() const noexcept { return claim_.result(); }

        void commit() noexcept {
            QueuedMessage& queued = *std::exchange(queued_, nullptr);
            queued.complete(fields_, P, end_.bus.time_, claim_);
            end_.bus.template trace<P>(TraceStep::published, queued);
            claim_.commit();
            end_.isOfMessage = true;
            ++end_.committed;
        }

    private:
        static Claim reserve(OfBus& bus) {
            if constexpr (detail::dropsOldest<Traits, P>) {
                (void)OfBus::template RingForPriority<P>::template dropExcess<P>(bus);
            }
            return bus.template ring<P>().tryReserve(detail::One());
        }

        /// Counts an unpublished slot before claim_ frees the slot, even if T's constructor throws.
        struct Unpublished {
            Slot& slot;
            ~Unpublished() {
                if (!isOnly && slot.claim_) {
                    slot.end_.bus.counts_.thrown(P, 1);
                }
            }
        };

        typename OfBus::template EndOfSend<P> end_;
        Claim claim_;
        Fields fields_;
        QueuedMessage* queued_ = nullptr;
        const Unpublished unpublished_;
    };

    template <class Options, class... Args>
    Loan(OfBus& bus, const Options& options, Args&&... args) : bus_(bus) {
        const Fields fields(options);
        const Priority priority = detail::priorityOf(options);
        if constexpr (isOnly) {
            SLUICE_ASSERT(!bus.isBuilding_, "with one producer there is one loan at a time");
            if (bus.isBuilding_) {
                bus.template countAsFull<T>(priority);
                return;
            }
        }
        OfBus::forEachRing(bus, [&](auto&, auto p) {
            if (priority == p || !Traits::priorities) {
                auto& slot = slot_.template emplace<Slot<p>>(bus, fields, message_,
                                                             std::forward<Args>(args)...);
                result_ = slot.result();
            }
        });
        if (message_ == nullptr) {
            slot_.template emplace<std::monostate>();
        } else if constexpr (!isOnly) {
            tellPressure();
        }
    }

    void tellPressure() noexcept {
        if (bus_.notifier_.isBelow([this] { return bus_.pressure(); })) {
            bus_.notifier_.notify(bus_, bus_.observer_);
        }
    }

    OfBus& bus_;
    T* message_ = nullptr;
    SendResult result_ = SendResult::full;
    std::conditional_t<Traits::priorities,
                       std::variant<std::monostate, Slot<Priority::low>, Slot<Priority::medium>,
                                    Slot<Priority::high>>,
                       std::variant<std::monostate, Slot<Priority::medium>>>
        slot_;
};

/// Constructs a T from `args` in a free slot. The loan is empty if the bus is full or closed.
template <class T, class List, class Traits, class Options = PublishOptions, class... Args>
Loan<T, Bus<List, Traits>> loan(Bus<List, Traits>& bus, const Options& options = {},
                                Args&&... args) {
    return {bus, detail::optionsOf<Traits>(options), std::forward<Args>(args)...};
}

}  // namespace sluice
