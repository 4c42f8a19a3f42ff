#pragma once

namespace sluice::detail {

/// Is told, once, by the thread that ends a wait.
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
