#pragma once

/// \file
/// BusProducer: a handle of one producer, with a lane of its own into a Bus.
///
/// Use it for the few producers that publish most; all others publish through the bus.
///
/// Who may call what: one thread at a time. It must not outlive its bus.
///
/// Order: messages keep their order within each priority, as long as the handle keeps its lane:
/// another handle may have another lane. As those of the bus, they are overtaken by higher
/// priorities, wherever those come from. What the constructor of a message publishes through the
/// same handle waits for that message, whatever its priority.
///
/// Admission: by the shares of the traits of Traits::laneDepth, exact, whatever comes another way.
///
/// Cost: publishing is wait-free, without an atomic read-modify-write but for high priority, and
/// allocates as the bus does: for the accounts, at a thread's first publication.
///
/// Tests: tests/unit/bus/bus_producer_test.cpp.

#include <sluice/base/assert.hpp>
#include <sluice/bus/detail/bus_core.hpp>
#include <sluice/bus/detail/limits.hpp>
#include <sluice/bus/detail/publishing.hpp>

#include <cstddef>
#include <utility>

namespace sluice {

template <class MessageList, class Traits>
class Bus;

template <class MessageList, class Traits>
class BusProducer : public detail::Publishing<BusProducer<MessageList, Traits>, MessageList, Traits,
                                              detail::Envelope<MessageList, Traits>> {
    using Core = detail::BusCore<MessageList, Traits>;
    friend detail::Publishing<BusProducer, MessageList, Traits, typename Core::Envelope>;

public:
    /// One without a lane: its publications are refused as closed, and asserted against.
    BusProducer() noexcept = default;
    BusProducer(BusProducer&& other) noexcept
        : core_(std::exchange(other.core_, nullptr)), gate_(other.gate_) {}
    BusProducer& operator=(BusProducer&& other) noexcept {
        if (this != &other) {
            close();
            core_ = std::exchange(other.core_, nullptr);
            gate_ = other.gate_;
        }
        return *this;
    }
    ~BusProducer() { close(); }

    /// Whether it has a lane. It keeps it when the bus is closed: publications then say so.
    [[nodiscard]] bool isOpen() const noexcept { return core_ != nullptr; }
    explicit operator bool() const noexcept { return isOpen(); }

    /// Lets go of the lane, which the next producer may have at once. What it has published stays.
    /// May be called repeatedly.
    void close() noexcept {
        if (Core* const core = std::exchange(core_, nullptr)) {
            core->store().returnLane(gate_);
        }
    }

    /// How full the lane is.
    [[nodiscard]] Pressure pressure() const noexcept {
        return isOpen() ? core_->pressureOf(gate_) : Pressure::full;
    }

    /// A message of this priority is let in while there are fewer messages in the lane than this.
    [[nodiscard]] static constexpr std::size_t limitOf(Priority priority) noexcept {
        return detail::limitOf<Traits>(priority, Traits::laneDepth);
    }

private:
    friend class Bus<MessageList, Traits>;

    explicit BusProducer(Core& core) noexcept : gate_(core.store().takeLane()) {
        core_ = gate_ == 0 ? nullptr : &core;
    }

    template <class Build>
    detail::Published publishThrough(std::size_t type, const PublishOptions& options,
                                     std::size_t count, const Build& build) {
        SLUICE_ASSERT(isOpen(),
                      "a producer without a lane publishes: it was closed, moved from, or "
                      "there was no free lane: raise lanes of the traits");
        return isOpen() ? core_->publish(gate_, type, options, count, build)
                        : detail::Published{PublishResult::closed, 0, 0};
    }

    Core* core_ = nullptr;
    std::size_t gate_ = 0;
};

}  // namespace sluice
