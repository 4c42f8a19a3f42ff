#pragma once

namespace sluice::detail {

/// A function that ends a wait. The thread that ends the wait calls it once.
class Waker {
public:
    Waker(const Waker&) = delete;
    Waker& operator=(const Waker&) = delete;

    void wake() noexcept { wake_(*this); }

protected:
    explicit Waker(void (*function)(Waker&) noexcept) noexcept : wake_(function) {}
    ~Waker() = default;

private:
    void (*const wake_)(Waker&) noexcept;
};

}  // namespace sluice::detail
