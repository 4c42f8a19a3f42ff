#pragma once

#include <sluice/bus/bus_statistics.hpp>
#include <sluice/bus/priority.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace sluice {

/// One bus of a metrics page: its name, its counts, and its types' names in the order of its
/// Messages. All three must outlive it. The types' names must differ, which no function checks,
/// because Prometheus refuses two samples with the same labels. Bytes that are not UTF-8 are shown
/// as replacement characters.
class BusMetrics {
public:
    template <std::size_t TypeCount>
    BusMetrics(std::string_view bus, const BusStatistics<TypeCount>& statistics,
               const std::string_view (&types)[TypeCount]) noexcept
        : bus_(bus),
          types_(types),
          typeCount_(TypeCount),
          counts_(statistics.counts.data()),
          queued_(statistics.queued),
          times_(statistics.times),
          highWater_(statistics.highWater) {}
    /// Refused: temporary counts.
    template <std::size_t TypeCount>
    BusMetrics(std::string_view, const BusStatistics<TypeCount>&&,
               const std::string_view (&)[TypeCount]) = delete;
    /// Refused: temporary names, also in braces.
    template <std::size_t TypeCount>
    BusMetrics(std::string_view, const BusStatistics<TypeCount>&,
               std::initializer_list<std::string_view>) = delete;
    template <std::size_t TypeCount>
    BusMetrics(std::string_view, const BusStatistics<TypeCount>&,
               const std::string_view (&&)[TypeCount]) = delete;

    [[nodiscard]] std::string_view bus() const noexcept { return bus_; }
    [[nodiscard]] std::size_t typeCount() const noexcept { return typeCount_; }
    [[nodiscard]] std::string_view type(std::size_t i) const noexcept { return types_[i]; }
    [[nodiscard]] const MessageCounts& counts(std::size_t type, Priority priority) const noexcept {
        return counts_[type][static_cast<std::size_t>(priority)];
    }
    [[nodiscard]] std::uint64_t queued(Priority priority) const noexcept {
        return queued_[static_cast<std::size_t>(priority)];
    }
    [[nodiscard]] const QueueTimes& times(Priority priority) const noexcept {
        return times_[static_cast<std::size_t>(priority)];
    }
    [[nodiscard]] std::size_t highWater() const noexcept { return highWater_; }

private:
    std::string_view bus_;
    const std::string_view* types_;
    std::size_t typeCount_;
    const std::array<MessageCounts, priorityCount>* counts_;
    const std::array<std::uint64_t, priorityCount>& queued_;
    const std::array<QueueTimes, priorityCount>& times_;
    std::size_t highWater_;
};

}  // namespace sluice
