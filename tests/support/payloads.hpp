#pragma once

#include "support/testing.hpp"

namespace sluice::test {

/// Registers the addresses of all living objects. The test fails if an object is built over a
/// living one, destroyed twice, moved by its bytes or never destroyed.
class Census {
public:
    Census() = default;
    Census(const Census&) = delete;
    Census& operator=(const Census&) = delete;
    ~Census() { EXPECT_EQ(alive(), 0U) << "objects were never destroyed"; }

    void born(const void* object) {
        const std::lock_guard<std::mutex> guard(mutex_);
        ++births_;
        EXPECT_TRUE(alive_.insert(object).second) << "built where an object is still alive";
    }

    void died(const void* object) {
        const std::lock_guard<std::mutex> guard(mutex_);
        EXPECT_EQ(alive_.erase(object), 1U) << "destroyed where no object is alive";
    }

    [[nodiscard]] std::size_t alive() const {
        const std::lock_guard<std::mutex> guard(mutex_);
        return alive_.size();
    }

    /// The number of objects ever built, with copies and moved objects.
    [[nodiscard]] std::size_t births() const {
        const std::lock_guard<std::mutex> guard(mutex_);
        return births_;
    }

private:
    mutable std::mutex mutex_;
    std::set<const void*> alive_;
    std::size_t births_ = 0;
};

/// A payload in a census. It cannot be assigned, because queues do not assign messages.
class Counted {
public:
    Counted(Census& census, int value) : census_(&census), value_(value) { census_->born(this); }
    Counted(const Counted& other) : Counted(*other.census_, other.value_) {}
    Counted(Counted&& other) noexcept
        : Counted(*other.census_, std::exchange(other.value_, movedFrom)) {}
    Counted& operator=(const Counted&) = delete;
    Counted& operator=(Counted&&) = delete;
    ~Counted() { census_->died(this); }

    static constexpr int movedFrom = -1;

    [[nodiscard]] int value() const noexcept { return value_; }

private:
    Census* census_;
    int value_;
};

/// A payload that can only be move-constructed.
class MoveOnly {
public:
    explicit MoveOnly(int value) noexcept : value_(value) {}
    MoveOnly(MoveOnly&& other) noexcept : value_(std::exchange(other.value_, movedFrom)) {}
    MoveOnly(const MoveOnly&) = delete;
    MoveOnly& operator=(const MoveOnly&) = delete;
    MoveOnly& operator=(MoveOnly&&) = delete;
    ~MoveOnly() = default;

    static constexpr int movedFrom = -1;

    [[nodiscard]] int value() const noexcept { return value_; }

private:
    int value_;
};

/// A payload whose address is not `&object`.
struct Disguised {
    explicit Disguised(int v) noexcept : value(v) {}
    int operator&() const noexcept { return 0; }

    int value;
};

/// A payload with a large alignment.
template <std::size_t Alignment>
struct alignas(Alignment) OverAligned {
    explicit OverAligned(int v) noexcept : value(v) {}

    [[nodiscard]] bool isAligned() const noexcept {
        return reinterpret_cast<std::uintptr_t>(this) % Alignment == 0;
    }

    int value;
};

#if defined(__cpp_exceptions)

/// Which constructor of a Fragile throws.
enum class Fault : std::uint8_t { none, inConstructor, inCopy, inMove };

/// The exception that a Fragile, or a handler of a test, throws.
class Breakage : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A payload in a census, one of whose constructors may throw.
class Fragile {
public:
    Fragile(Census& census, int value, Fault fault = Fault::none)
        : census_(&census), value_(value), fault_(fault) {
        enter(Fault::inConstructor);
    }
    Fragile(const Fragile& other)
        : census_(other.census_), value_(other.value_), fault_(other.fault_) {
        enter(Fault::inCopy);
    }
    // NOLINTNEXTLINE(performance-noexcept-move-constructor): that it throws is its purpose
    Fragile(Fragile&& other) : census_(other.census_), value_(other.value_), fault_(other.fault_) {
        enter(Fault::inMove);
    }
    Fragile& operator=(const Fragile&) = delete;
    Fragile& operator=(Fragile&&) = delete;
    ~Fragile() { census_->died(this); }

    [[nodiscard]] int value() const noexcept { return value_; }

private:
    void enter(Fault here) {
        if (fault_ == here) {
            throw Breakage("a constructor of the payload");
        }
        census_->born(this);
    }

    Census* census_;
    int value_;
    Fault fault_;
};

#endif

}  // namespace sluice::test
