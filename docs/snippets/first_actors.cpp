#include <sluice/actor.hpp>

#include <chrono>
#include <cstdio>

struct Add {
    int number;
};

class Sum : public sluice::ActiveObject<Sum, sluice::Messages<Add>> {
public:
    void handle(const Add& add) { sum_ += add.number; }  // on the object's own thread
    int sum() const { return sum_; }

private:
    int sum_ = 0;
};

int main() {
    sluice::Running<Sum> sum({"sum"});
    (void)sum.post(Add{2});  // from any thread
    (void)sum.post(Add{3});

    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    const bool isDone = sum.stopAfterDrain(deadline) && sum.join();
    std::printf("%d\n", sum.sum());
    return isDone && sum.sum() == 5 ? 0 : 1;
}
