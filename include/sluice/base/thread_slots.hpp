#pragma once

#include <sluice/base/platform.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace [[gnu::visibility("default")]] sluice {

/// Fibonacci hashing (Knuth, The Art of Computer Programming 3, section 6.4) for numbers with
/// regular distances, such as addresses and counts. Use the upper bits of the result.
[[nodiscard]] constexpr std::uint64_t fibonacciHash(std::uint64_t number) noexcept {
    return number * 0x9E3779B97F4A7C15u;
}
[[nodiscard]] inline std::uint64_t fibonacciHash(const void* address) noexcept {
    return fibonacciHash(std::uint64_t{reinterpret_cast<std::uintptr_t>(address)});
}

/// A thread-local hash table that maps each registry of one type to the calling thread's slot. A
/// search takes no lock and makes no atomic access.
///
///     using Threads = sluice::ThreadSlots<Registry>;
///     const std::size_t hash = Threads::hash(&registry);  // once for each registry
///     Registry::Slot* const slot =
///         Threads::findOr(&registry, hash, [&] { return Threads::add(registry); });
///
/// A registry has these members:
/// - Slot: the type of a slot;
/// - enroll(thread): returns a new slot for the thread, or throws;
/// - dismiss(slot): takes back a slot whose thread ends or drops the registry's entry;
/// - isAbandoned(): returns true if the registry's owner has been destroyed.
///
/// A registry must outlive the slots of all threads. Each time the number of entries has doubled,
/// the table drops the entries of abandoned registries.
template <class Registry>
class ThreadSlots {
public:
    using Slot = typename Registry::Slot;

    static std::size_t hash(const Registry* registry) noexcept {
        return static_cast<std::size_t>(fibonacciHash(registry) >> 32);
    }

    /// Like find(), but searches only the first entry, which nearly always has the slot.
    SLUICE_ALWAYS_INLINE static Slot* findFirst(const Registry* registry,
                                                std::size_t hash) noexcept {
        const View& mine = view();
        const Entry& entry = mine.entries[hash & mine.mask];
        if (SLUICE_UNLIKELY(entry.registry != registry)) {
            return nullptr;
        }
        Slot* const slot = entry.slot;
        if (slot == nullptr) {
            SLUICE_UNREACHABLE();  // an entry in use has a slot, so callers need no null test
        }
        return slot;
    }

    /// This thread's slot, or null if the thread has none.
    static Slot* find(const Registry* registry, std::size_t hash) noexcept {
        return findOr(registry, hash, [] { return static_cast<Slot*>(nullptr); });
    }

    /// This thread's slot, or the result of makeSlot() if the thread has none.
    template <class MakeSlot>
    static Slot* findOr(const Registry* registry, std::size_t hash, MakeSlot makeSlot) {
        const View& mine = view();
        for (std::size_t i = hash;; ++i) {
            const Entry& entry = mine.entries[i & mine.mask];
            if (SLUICE_LIKELY(entry.registry == registry)) {
                return entry.slot;
            }
            if (SLUICE_UNLIKELY(entry.registry == nullptr)) {
                return makeSlot();
            }
        }
    }

    /// Adds a slot that this thread keeps until the thread ends. Returns null if the ending thread
    /// has already given back its slots. If add() throws std::bad_alloc, nothing changes.
    [[gnu::cold, gnu::noinline]] static Slot* add(Registry& registry) {
        if (view_.hasEnded) {
            return nullptr;
        }
#if defined(_WIN32)
        [[maybe_unused]] static const bool isPinned = detail::windows::keepLoaded();
#endif
        thread_local Keeper keeper;
        return &keeper.add(registry);
    }

    /// An address that differs for each living thread.
    static const void* mark() noexcept { return &view(); }

private:
    struct Entry {
        Registry* registry = nullptr;
        Slot* slot = nullptr;
    };

    /// Constant-initialised and trivially destructible for fast access. At most an eighth of the
    /// entries is in use, so each search reaches an unused entry.
    struct View {
        const Entry* entries = &noEntry;
        std::size_t mask = 0;
        bool hasEnded = false;
    };

    SLUICE_THREAD_ADDRESS static View& view() noexcept { return view_; }

    /// The owner of the table's entries, destroyed when the thread ends.
    class Keeper {
    public:
        ~Keeper() {
            view_.entries = &noEntry;
            view_.mask = 0;
            view_.hasEnded = true;
            for (std::size_t i = 0; i < capacity_; ++i) {
                giveBack(entries_[i]);
            }
            delete[] entries_;
        }

        Slot& add(Registry& registry) {
            if (count_ >= most_) {  // count_ may exceed most_, because enroll() may add entries
                rebuild();
            }
            Slot& slot = registry.enroll(mark());
            insert(Entry{&registry, &slot});
            return slot;
        }

    private:
        /// Moves the entries of live registries to a new table, and drops the other entries.
        void rebuild() {
            std::size_t capacity = 32;
            while (capacity < 16 * (count_ + 1)) {
                capacity *= 2;
            }
            const Entry* const old = std::exchange(entries_, new Entry[capacity]);
            const std::size_t oldCapacity = std::exchange(capacity_, capacity);
            count_ = 0;
            view_.entries = entries_;
            view_.mask = capacity - 1;
            for (std::size_t i = 0; i < oldCapacity; ++i) {
                if (isLive(old[i])) {
                    insert(old[i]);
                } else {
                    giveBack(old[i]);
                }
            }
            delete[] old;
            most_ = 2 * (count_ + 1);
        }

        void insert(const Entry& entry) noexcept {
            std::size_t i = hash(entry.registry) & view_.mask;
            while (isLive(entries_[i])) {
                i = (i + 1) & view_.mask;
            }
            const Entry old = std::exchange(entries_[i], entry);
            count_ += old.registry == nullptr ? 1U : 0U;
            giveBack(old);
        }

        static bool isLive(const Entry& entry) noexcept {
            return entry.registry != nullptr && !entry.registry->isAbandoned();
        }

        static void giveBack(const Entry& entry) noexcept {
            if (entry.registry != nullptr) {
                entry.registry->dismiss(*entry.slot);
            }
        }

        Entry* entries_ = nullptr;
        std::size_t capacity_ = 0;
        std::size_t count_ = 0;
        std::size_t most_ = 0;  // the number of entries that starts a rebuild
    };

    inline static constexpr Entry noEntry{};
    inline static thread_local View view_{};
};

}  // namespace sluice
