// A bus and a pool of buffers as a microcontroller has them: static, with room for 256 messages and
// 8 frames, on one processor. Interrupts publish, the main loop consumes. `./dev ram` builds this
// file for a Cortex-M4 and prints what it takes.

#include <sluice/base/single_core_platform.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/memory/buffer_pool.hpp>
#include <sluice/wait/busy_spin.hpp>

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

/// What a receiver has filled by DMA: the bytes stay where they are until the frame is gone.
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

sluice::Bus<sluice::Messages<Reading, Fault, Frame>, McuTraits> bus;

struct McuPoolTraits : sluice::BufferPoolTraits {
    using Platform = OneCore;
    static constexpr std::size_t cacheLineSize = 8;
    static constexpr std::size_t shards = 1;
};

/// Static memory for one pool, which asks for it once. The resources of the standard library would
/// bring its heap with them.
class StaticMemory final : public std::pmr::memory_resource {
    void* do_allocate(std::size_t size, std::size_t) override {
        return size <= bytes_.size() ? bytes_.data() : nullptr;
    }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    alignas(std::max_align_t) std::array<std::byte, 1024> bytes_{};
};
StaticMemory framesMemory;

sluice::BufferPoolOptions frameOptions() {
    sluice::BufferPoolOptions options;
    options.bufferSize = 64;
    options.buffers = 8;
    options.alignment = 8;
    return options;
}

sluice::BasicBufferPool<McuPoolTraits> frames(frameOptions(), &framesMemory);

/// What a timer would call: a reading each time, and now and then something is wrong.
void onTimer(std::uint32_t tick) {
    (void)bus.publish(Reading{1, static_cast<std::int16_t>(tick % 100), tick},
                      sluice::Priority::low);
    if (tick % 50 == 0) {
        (void)bus.publish(Fault{static_cast<std::uint8_t>(tick / 50), {}}, sluice::Priority::high);
    }
}

/// What a receiver would call.
void onReceived(std::uint32_t tick) {
    if (auto buffer = frames.tryAcquire()) {
        std::memcpy(buffer.data(), &tick, sizeof tick);
        (void)bus.publish(Frame{std::move(buffer).publish(sizeof tick, tick)});
    }
}

}  // namespace

int main() {
    std::uint32_t readings = 0;
    std::uint32_t faults = 0;
    std::uint32_t goodFrames = 0;
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
    for (std::uint32_t tick = 1; tick <= 1000; ++tick) {
        onTimer(tick);
        if (tick % 20 == 0) {
            onReceived(tick);
        }
        if (tick % 100 == 0) {
            while (bus.process() != 0) {
            }
        }
    }
    const bool allThere = readings == 1000 && faults == 20 && goodFrames == 50;
    const bool balanced =
        bus.statistics().total().published == 1070 && frames.statistics().inUse == 0;
    return allThere && faultCameFirst && balanced ? 0 : 1;
}
