#pragma once

namespace sluice::detail {

/// A function that the thread which ends a wait calls once.
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
