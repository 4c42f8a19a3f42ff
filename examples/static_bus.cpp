// A bus and two pools as a microcontroller has them: static, with room for 256 messages, 8 frames
// and 4 reports, on one processor. Interrupts publish, the main loop consumes. `./dev ram` builds
// this file for a Cortex-M4 and prints the memory that it takes.

#include <sluice/base/setup_error.hpp>
#include <sluice/base/single_core_platform.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/memory/buffer_pool.hpp>
#include <sluice/memory/object_pool.hpp>
#include <sluice/wait/spin_waits.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <utility>

namespace {

struct Reading {
    std::uint16_t channel;
    std::int16_t value;
    std::uint32_t tick;
};
struct Fault {
    std::uint8_t code;
    std::uint8_t details[15];
};

/// Bytes that a receiver has filled by DMA. They stay in place until the frame is gone.
struct Frame {
    sluice::DataToken bytes;
};

using OneCore = sluice::SingleCorePlatform<sluice::ThisProgramRunsOnOneCore>;

struct McuTraits : sluice::FullBusTraits {
    using Platform = OneCore;
    using Wait = sluice::BasicBusySpin<OneCore>;
    using Index = std::uint32_t;
    // Readings are of low priority, and faults of high priority.
    static constexpr std::array<std::size_t, sluice::priorityCount> rooms{128, 64, 64};
    static constexpr std::size_t maxHandlers = 4;
    static constexpr std::size_t handlerSize = 4 * sizeof(void*);
    static constexpr std::size_t cacheLineSize = 8;  // there is no second core to keep apart
    static constexpr sluice::TimeStamp timeStamp = sluice::TimeStamp::none;
};

struct McuBufferTraits : sluice::BufferPoolTraits {
    using Platform = OneCore;
    static constexpr std::size_t cacheLineSize = 8;
};
struct McuObjectTraits : sluice::BlockPoolTraits {
    using Platform = OneCore;
};

/// Too large for a slot of the bus: the pool holds it, and a message carries the pointer.
struct Histogram {
    explicit Histogram(std::uint32_t first) : counts{first} {}
    std::array<std::uint32_t, 32> counts;
};
using Histograms = sluice::ObjectPool<Histogram, McuObjectTraits>;
struct Report {
    Histograms::Pointer histogram;
};

sluice::Bus<sluice::Messages<Reading, Fault, Frame, Report>, McuTraits> bus;

/// Static memory for a pool, which asks for it in its constructor. The resources of the standard
/// library would bring its heap with them.
template <std::size_t Bytes>
class StaticMemory final : public std::pmr::memory_resource {
    void* do_allocate(std::size_t size, std::size_t alignment) override {
        const std::size_t begin = (taken_ + alignment - 1) / alignment * alignment;
        if (alignment > alignof(std::max_align_t) || begin + size > Bytes) {
            sluice::setupError("static memory is too small", begin + size, Bytes);
        }
        taken_ = begin + size;
        return bytes_.data() + begin;
    }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    alignas(std::max_align_t) std::array<std::byte, Bytes> bytes_{};
    std::size_t taken_ = 0;
};
StaticMemory<1024> framesMemory;
StaticMemory<1024> histogramsMemory;

sluice::BufferPoolOptions frameOptions() {
    sluice::BufferPoolOptions options;
    options.bufferSize = 64;
    options.buffers = 8;
    options.alignment = 8;
    return options;
}

sluice::BasicBufferPool<McuBufferTraits> frames(frameOptions(), &framesMemory);

sluice::ObjectPoolOptions histogramOptions() {
    sluice::ObjectPoolOptions options;
    options.capacity = 4;
    return options;
}

Histograms histograms(histogramOptions(), &histogramsMemory);

/// A timer would call it. It publishes a reading each time, and now and then a fault.
void onTimer(std::uint32_t tick) {
    (void)bus.publish(Reading{1, static_cast<std::int16_t>(tick % 100), tick},
                      sluice::Priority::low);
    if (tick % 50 == 0) {
        (void)bus.publish(Fault{static_cast<std::uint8_t>(tick / 50), {}}, sluice::Priority::high);
    }
}

/// A receiver would call it.
void onReceived(std::uint32_t tick) {
    if (auto buffer = frames.tryAcquire()) {
        std::memcpy(buffer.data(), &tick, sizeof tick);
        (void)bus.publish(Frame{std::move(buffer).publish(sizeof tick, tick)});
    }
}

/// A timer would call it now and then. It makes the object; the main loop destroys the object.
void onEvaluation(std::uint32_t tick) {
    if (auto histogram = histograms.tryMake(tick)) {
        (void)bus.publish(Report{std::move(histogram)});
    }
}

}  // namespace

int main() {
    std::uint32_t readings = 0;
    std::uint32_t faults = 0;
    std::uint32_t goodFrames = 0;
    std::uint32_t reports = 0;
    bool faultCameFirst = true;
    const auto onReading = bus.subscribe<Reading>([&](const Reading&) { ++readings; });
    const auto onFault = bus.subscribe<Fault>([&](const Fault&) {
        ++faults;
        faultCameFirst = faultCameFirst && readings % 100 == 0;
    });
    const auto onFrame = bus.subscribe<Frame>([&](const Frame& frame) {
        std::uint32_t tick = 0;
        std::memcpy(&tick, frame.bytes.data(), sizeof tick);
        goodFrames += tick == frame.bytes.timeStamp() ? 1 : 0;
    });
    const auto onReport = bus.subscribe<Report>(
        [&](const Report& report) { reports += report.histogram->counts[0] % 25 == 0 ? 1 : 0; });
    for (std::uint32_t tick = 1; tick <= 1000; ++tick) {
        onTimer(tick);
        if (tick % 20 == 0) {
            onReceived(tick);
        }
        if (tick % 25 == 0) {
            onEvaluation(tick);
        }
        if (tick % 100 == 0) {
            while (bus.process() != 0) {
            }
        }
    }
    const bool allThere = readings == 1000 && faults == 20 && goodFrames == 50 && reports == 40;
    const bool balanced = bus.statistics().total().published == 1110 &&
                          frames.statistics().inUse == 0 && histograms.statistics().inUse == 0;
    return allThere && faultCameFirst && balanced ? 0 : 1;
}
