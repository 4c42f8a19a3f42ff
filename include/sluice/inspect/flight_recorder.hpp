#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/base/ring_storage.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/base/shared_registry.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/base/thread_slots.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/inspect/detail/texts.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#if SLUICE_HAS_POSIX
#include <fcntl.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace sluice {

namespace detail {

/// Writes a file that does not exist yet, for its owner alone.
inline bool writeNewFile(const std::string& path, std::string_view bytes) noexcept {
#if SLUICE_HAS_POSIX
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const int number = ::open(path.c_str(), flags, 0600);
    std::FILE* const file = number < 0 ? nullptr : ::fdopen(number, "wb");
#else
    std::FILE* const file = std::fopen(path.c_str(), "wbx");
#endif
    if (file == nullptr) {
        return false;
    }
    const bool isWritten = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return std::fclose(file) == 0 && isWritten;
}

inline std::uint64_t processId() noexcept {
#if SLUICE_HAS_POSIX
    return static_cast<std::uint64_t>(::getpid());
#else
    return 1;
#endif
}

struct TraceThread {
    std::uint64_t id = 0;
    std::string name;

    static TraceThread current() {
        TraceThread thread;
#if defined(__linux__)
        char name[16] = {};
        (void)::prctl(PR_GET_NAME, name);
        thread.name = name;
        thread.id = static_cast<std::uint64_t>(::syscall(SYS_gettid));
#else
        thread.id = StdPlatform::threadNumber();
        thread.name = "thread " + std::to_string(thread.id);
#endif
        return thread;
    }
};

/// A message of protobuf: its fields, one after the other.
class ProtobufFields {
public:
    ProtobufFields& add(unsigned field, std::uint64_t number) {
        addVarint(field << 3U);
        addVarint(number);
        return *this;
    }
    ProtobufFields& addFixed(unsigned field, std::uint64_t number) {
        addVarint(field << 3U | 1U);
        for (unsigned i = 0; i < 8; ++i) {
            bytes.push_back(static_cast<char>(number >> (8 * i) & 0xFFU));
        }
        return *this;
    }
    ProtobufFields& add(unsigned field, std::string_view text) {
        addVarint(field << 3U | 2U);
        addVarint(text.size());
        bytes += text;
        return *this;
    }
    ProtobufFields& add(unsigned field, const ProtobufFields& message) {
        return add(field, std::string_view(message.bytes));
    }

    std::string bytes;

private:
    void addVarint(std::uint64_t number) {
        for (; number >= 0x80; number >>= 7U) {
            bytes.push_back(static_cast<char>((number & 0x7FU) | 0x80U));
        }
        bytes.push_back(static_cast<char>(number));
    }
};

/// Reads a clock of unknown rate, which may be ahead of earlier instructions: it is the processor's
/// counter where a program can read it, because a system call's clock takes three times as long.
SLUICE_ALWAYS_INLINE inline std::uint64_t traceTick() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks = 0;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// An event: its time, and its id, type, step, priority and bus in one word.
struct TraceEvent {
    std::uint64_t tick = 0;
    std::uint64_t word = 0;

    static constexpr std::uint64_t wordOf(TraceStep step, std::size_t type, Priority priority,
                                          std::uint64_t id) noexcept {
        return (id & 0xFFFFFFFFU) | std::uint64_t{type} << 32U |
               static_cast<std::uint64_t>(step) << 40U | std::uint64_t{indexOf(priority)} << 44U;
    }
    [[nodiscard]] std::uint64_t id() const noexcept { return word & 0xFFFFFFFFU; }
    [[nodiscard]] std::size_t type() const noexcept {
        return static_cast<std::size_t>(word >> 32U & 0xFFU);
    }
    [[nodiscard]] TraceStep step() const noexcept {
        return static_cast<TraceStep>(word >> 40U & 0xFU);
    }
    [[nodiscard]] auto priority() const noexcept {
        return static_cast<Priority>(word >> 44U & 0xFU);
    }
    [[nodiscard]] std::size_t source() const noexcept {
        return static_cast<std::size_t>(word >> 48U);
    }
    /// The same for all events of a message, and never 0.
    [[nodiscard]] std::uint64_t flow() const noexcept {
        return (word & 0xFFFFF000FFFFFFFFU) + (std::uint64_t{1} << 32U);
    }
};

/// The last events of one thread, which any thread may copy while they are overwritten.
class TraceRing {
public:
    explicit TraceRing(std::size_t capacity)
        : words_(std::make_unique<std::atomic<std::uint64_t>[]>(2 * capacity)),
          mask_(2 * capacity - 2) {}

    SLUICE_ALWAYS_INLINE void add(std::uint64_t tick, std::uint64_t word) noexcept {
        const std::size_t at = end_.load(std::memory_order_relaxed);  // the thread's own
        std::atomic<std::uint64_t>* const event = &words_[at & mask_];
        event[0].store(tick, std::memory_order_release);  // E2 overwrite
        event[1].store(word, std::memory_order_release);  // E2 overwrite
        end_.store(at + 2, std::memory_order_release);    // E1 event
    }

    /// Where the current thread's events begin.
    [[nodiscard]] std::size_t begin() const noexcept {
        return begin_.load(std::memory_order_relaxed);  // under the registry's lock, or after E1
    }

    /// Returns the events that were not overwritten during the call. There are none if another
    /// thread has taken the ring, whose events began at `threadBegin`.
    [[nodiscard]] std::vector<TraceEvent> copy(std::size_t threadBegin) const {
        std::vector<TraceEvent> events;
        const std::size_t end = end_.load(std::memory_order_acquire);  // E1 event
        const std::size_t first = end - std::min(end - threadBegin, mask_ + 2);
        for (std::size_t at = first; at != end; at += 2) {
            const std::atomic<std::uint64_t>* const event = &words_[at & mask_];
            events.push_back({event[0].load(std::memory_order_acquire),    // E2 overwrite
                              event[1].load(std::memory_order_acquire)});  // E2 overwrite
        }
        // The event that the thread overwrites next may be half overwritten.
        const std::size_t passed = end_.load(std::memory_order_acquire) - first;
        const std::size_t lost = std::min(passed - std::min(passed, mask_), end - first) / 2;
        events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(lost));
        return begin() == threadBegin ? std::move(events) : std::vector<TraceEvent>();
    }

    void restart() noexcept {
        begin_.store(end_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }

private:
    // Happens-before edges:
    //   E1 event: add() writes an event, then releases end_; copy() acquires end_.
    //   What the thread did before, restart() in particular, is visible, too.
    //   E2 overwrite: add() releases each word after the former end_; copy() acquires the words.
    //   If it reads a word that has overwritten the event at n, its later load of end_ is at least
    //   n + mask_ + 2, and the event at n is dropped.

    const std::unique_ptr<std::atomic<std::uint64_t>[]> words_;  // two for each event
    const std::size_t mask_;
    std::atomic<std::size_t> end_{0};    // counts words without bound
    std::atomic<std::size_t> begin_{0};  // of the current thread's events
};

/// The rings of all threads. A thread that ends leaves its events until another one needs a ring.
class TraceRings : public SharedRegistry<TraceRings, StdPlatform> {
public:
    struct Slot {
        Slot(TraceRings& all, std::size_t capacity) : rings(all), ring(capacity) {}
        TraceRings& rings;
        TraceRing ring;
        TraceThread thread;
        bool isInUse = true;
    };
    using Threads = ThreadSlots<TraceRings>;

    explicit TraceRings(std::size_t capacity) : capacity_(capacity) {}
    void abandon() noexcept {
        this->markAbandoned();
        this->dropUser();
    }

    Slot& enroll(const void* /*thread*/) {
        const std::lock_guard guard(lock_);
        const auto free = std::find_if(slots_.begin(), slots_.end(),
                                       [](const Slot& slot) { return !slot.isInUse; });
        Slot& slot = free == slots_.end() ? slots_.emplace_back(*this, capacity_) : *free;
        slot.isInUse = true;
        slot.ring.restart();
        slot.thread = TraceThread::current();
        this->addUser();
        return slot;
    }
    static void dismiss(Slot& slot) noexcept {
        TraceRings& rings = slot.rings;
        {
            const std::lock_guard guard(rings.lock_);
            slot.isInUse = false;
        }
        rings.dropUser();
    }

    /// Calls visit(thread, events) for each thread. The lock is not held while events are copied,
    /// because a thread's first publish waits for it.
    template <class Visit>
    void forEach(Visit&& visit) {
        std::vector<std::tuple<const TraceRing*, std::size_t, TraceThread>> parts;
        {
            const std::lock_guard guard(lock_);
            for (const Slot& slot : slots_) {
                parts.emplace_back(&slot.ring, slot.ring.begin(), slot.thread);
            }
        }
        for (const auto& [ring, begin, thread] : parts) {
            visit(thread, ring->copy(begin));
        }
    }

private:
    friend SharedRegistry<TraceRings, StdPlatform>;
    ~TraceRings() = default;

    const std::size_t capacity_;
    SpinLock lock_;
    std::deque<Slot> slots_;
};

/// A bus that a FlightRecorder records.
struct TraceSource {
    TraceRings* rings;
    std::size_t hash;
    std::uint64_t number;  ///< in the bits of TraceEvent::source()
    std::string name;
    std::vector<std::string> types;  ///< copies: a plugin with the bus may be unloaded

    SLUICE_ALWAYS_INLINE void record(std::uint64_t word) const noexcept {
        auto* slot = TraceRings::Threads::findFirst(rings, hash);
        if (SLUICE_UNLIKELY(slot == nullptr)) {
            slot = findOrAdd();
            if (slot == nullptr) {
                return;
            }
        }
        slot->ring.add(traceTick(), word | number);
    }

private:
    [[gnu::cold, gnu::noinline]] TraceRings::Slot* findOrAdd() const noexcept {
        return TraceRings::Threads::findOr(rings, hash, [this] {
            return resultOrDefault([this] { return TraceRings::Threads::add(*rings); });
        });
    }
};

}  // namespace detail

/// The Trace of a bus that a FlightRecorder can record. Until FlightRecorder::start(), and after
/// stop(), each step of a message costs one branch.
///
///     struct TracedTraits : sluice::FullBusTraits {
///         using Trace = sluice::FlightTrace;
///     };
class FlightTrace {
public:
    SLUICE_ALWAYS_INLINE void record(TraceStep step, std::size_t type, Priority priority,
                                     std::uint64_t id) const noexcept {
        const detail::TraceSource* const source = source_.load(std::memory_order_acquire);  // E1
        if (SLUICE_UNLIKELY(source != nullptr)) {
            source->record(detail::TraceEvent::wordOf(step, type, priority, id));
        }
    }

private:
    friend class FlightRecorder;
    // E1 start: FlightRecorder::start() writes the source, then releases source_.
    std::atomic<const detail::TraceSource*> source_{nullptr};
};

/// Keeps the last events of each thread that publishes or handles messages, and writes them as a
/// trace for https://ui.perfetto.dev.
///
///     sluice::FlightRecorder recorder;
///     recorder.start(bus, "control");  // a bus with `using Trace = sluice::FlightTrace`
///     ...
///     recorder.write("last.perfetto-trace");  // also in a callback of a Watchdog or observer
///
/// Each message has three events: published, handling begins, handling ends. Ids connect the three,
/// so the traits need `ids`. The recorder must outlive the buses, or stop(bus) and all calls that
/// began before it.
///
/// Thread safety: any thread may call any member function. Signal handlers must not: they set a
/// flag for a thread that calls write().
///
/// Performance: an event takes about 20 instructions, no lock, and no memory but for a thread's
/// first event. Each thread has 16 bytes for each event.
class FlightRecorder {
public:
    /// Keeps `eventsPerThread` events of each thread, rounded up to a power of two.
    explicit FlightRecorder(std::size_t eventsPerThread = 16384)
        : rings_(new detail::TraceRings(roundUp(eventsPerThread))) {}
    FlightRecorder(const FlightRecorder&) = delete;
    FlightRecorder& operator=(const FlightRecorder&) = delete;
    ~FlightRecorder() { rings_->abandon(); }

    /// Begins to record the bus under a name. A recorder takes up to 65,535 buses.
    template <class AnyBus>
    void start(AnyBus& bus, const std::string& name) {
        const std::lock_guard guard(lock_);
        detail::requireAtMost("buses of a flight recorder", sources_.size() + 1, 65535);
        const auto types =
            detail::namesOf(static_cast<const typename AnyBus::MessageTypes*>(nullptr));
        sources_.push_back({rings_,
                            detail::TraceRings::Threads::hash(rings_),
                            std::uint64_t{sources_.size()} << 48U,
                            name,
                            {types.begin(), types.end()}});
        bus.trace().source_.store(&sources_.back(), std::memory_order_release);  // E1 start
    }
    /// The events that were recorded remain.
    template <class AnyBus>
    static void stop(AnyBus& bus) noexcept {
        bus.trace().source_.store(nullptr, std::memory_order_relaxed);
    }

    /// Returns the events of the time before the call as a Perfetto trace.
    [[nodiscard]] std::string
    perfetto(std::chrono::nanoseconds last = std::chrono::nanoseconds::max()) const {
        const std::int64_t now = steadyNow();
        const double rate = static_cast<double>(now - firstTime_) /
                            std::max(1.0, static_cast<double>(detail::traceTick() - firstTick_));
        Fields trace;
        describe(trace, Fields().add(1, processTrack).add(3, Fields().add(1, detail::processId())));
        std::vector<Event> events;
        std::uint64_t track = 0;
        rings_->forEach([&](const detail::TraceThread& thread,
                            const std::vector<detail::TraceEvent>& ofThread) {
            const Fields about =
                Fields().add(1, detail::processId()).add(2, thread.id).add(5, thread.name);
            describe(trace, Fields().add(1, ++track).add(2, thread.name).add(4, about));
            for (const detail::TraceEvent& each : ofThread) {
                const auto ticks = static_cast<double>(each.tick - firstTick_);
                const auto time = firstTime_ + static_cast<std::int64_t>(ticks * rate);
                if (last >= std::chrono::nanoseconds(now - time)) {
                    events.push_back({time, track, each});
                }
            }
        });
        std::stable_sort(events.begin(), events.end(),
                         [](const Event& a, const Event& b) { return a.time < b.time; });
        write(trace, events);
        return std::move(trace.bytes);
    }

    /// Writes perfetto() to a new file of mode 0600. Returns false, with errno, if the file exists
    /// or cannot be written.
    bool write(const std::string& path,
               std::chrono::nanoseconds last = std::chrono::nanoseconds::max()) const {
        return detail::writeNewFile(path, perfetto(last));
    }

private:
    using Fields = detail::ProtobufFields;
    struct Event {
        std::int64_t time;
        std::uint64_t track;
        detail::TraceEvent event;
    };

    static constexpr std::uint64_t processTrack = std::uint64_t{1} << 48U;
    static constexpr std::uint64_t firstCounter = std::uint64_t{1} << 32U;

    static std::size_t roundUp(std::size_t atLeast) {
        detail::requireAtMost("events of a flight recorder", atLeast, std::size_t{1} << 28U);
        return std::max<std::size_t>(roundUpToPowerOfTwo(atLeast), 2);
    }
    static std::int64_t steadyNow() noexcept {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::nanoseconds(now.time_since_epoch()).count();
    }

    /// How an event changes the number of messages in the bus.
    static int changeBy(const Event& each) noexcept {
        static constexpr int changes[] = {1, 0, -1, 0, -1};
        return changes[static_cast<std::size_t>(each.event.step())];
    }

    // Packets of perfetto/trace/perfetto_trace.proto, all of sequence 1.
    static void describe(Fields& trace, const Fields& track) {
        trace.add(1, Fields().add(10, 1U).add(60, track));
    }
    static void add(Fields& trace, std::int64_t time, const Fields& event) {
        trace.add(1, Fields().add(8, static_cast<std::uint64_t>(time)).add(10, 1U).add(11, event));
    }

    void write(Fields& trace, const std::vector<Event>& events) const {
        const std::lock_guard guard(lock_);
        // The smallest depths at the first event for which no depth is negative.
        std::vector<std::int64_t> depths(sources_.size());
        std::vector<std::int64_t> least(sources_.size());
        for (const Event& each : events) {
            const std::size_t source = each.event.source();
            depths[source] += changeBy(each);
            least[source] = std::min(least[source], depths[source]);
        }
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            describe(trace, Fields()
                                .add(1, firstCounter + i)
                                .add(2, "depth of " + sources_[i].name)
                                .add(5, processTrack)
                                .add(8, Fields()));
            depths[i] = -least[i];
        }
        for (const Event& each : events) {
            add(trace, each.time, fieldsOf(each));
            const std::size_t source = each.event.source();
            if (const int change = changeBy(each); change != 0) {
                depths[source] += change;
                add(trace, each.time,
                    Fields()
                        .add(9, 4U)
                        .add(11, firstCounter + source)
                        .add(30, static_cast<std::uint64_t>(depths[source])));
            }
        }
    }
    [[nodiscard]] Fields fieldsOf(const Event& each) const {
        static constexpr const char* before[] = {"publish ", "refused ", "dropped ", "", ""};
        static constexpr std::uint64_t types[] = {3, 3, 3, 1, 2};  // instant, begin, end
        const TraceStep step = each.event.step();
        Fields fields;
        fields.add(9, types[static_cast<std::size_t>(step)]).add(11, each.track);
        if (step != TraceStep::ends) {
            const detail::TraceSource& source = sources_[each.event.source()];
            fields.add(22, source.name)
                .add(23, before[static_cast<std::size_t>(step)] + source.types[each.event.type()])
                .add(4, Fields().add(10, "priority").add(6, toString(each.event.priority())));
            if (step != TraceStep::refused) {
                fields.add(4, Fields().add(10, "id").add(3, each.event.id()))
                    .addFixed(step == TraceStep::published ? 47 : 48, each.event.flow());
            }
        }
        return fields;
    }

    detail::TraceRings* const rings_;
    const std::int64_t firstTime_ = steadyNow();
    const std::uint64_t firstTick_ = detail::traceTick();
    mutable SpinLock lock_;
    std::deque<detail::TraceSource> sources_;  // guarded by lock_; the buses point to elements
};

}  // namespace sluice
