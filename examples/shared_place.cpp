// Two phases of a program share one static buffer, without a heap. While the machine starts, the
// buffer holds a calibration; after it, the filter that the calibration has chosen.

#include <sluice/memory/static_arena.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <numeric>

namespace {

/// Finds the value that a sensor reports at rest.
class Calibration {
public:
    void add(int sample) { samples_[count_++ % samples_.size()] = sample; }
    int rest() const {
        return std::accumulate(samples_.begin(), samples_.end(), 0) /
               static_cast<int>(samples_.size());
    }

private:
    std::array<int, 64> samples_{};
    std::size_t count_ = 0;
};

/// The mean of the last samples, without the value at rest.
class Filter {
public:
    explicit Filter(int rest) : rest_(rest) {}
    int add(int sample) {
        samples_[count_++ % samples_.size()] = sample - rest_;
        return std::accumulate(samples_.begin(), samples_.end(), 0) /
               static_cast<int>(samples_.size());
    }

private:
    const int rest_;
    std::array<int, 8> samples_{};
    std::size_t count_ = 0;
};

// In .bss; the linker could place it into a memory of its own.
sluice::StaticArena<sizeof(Calibration), alignof(Calibration)> place;

}  // namespace

int main() {
    int rest = 0;
    {
        const auto calibration = place.emplaceAt<Calibration, 0>();
        for (int i = 0; i < 64; ++i) {
            calibration->add(i % 2 == 0 ? 99 : 101);
        }
        rest = calibration->rest();
    }  // its place is free again
    const auto filter = place.emplaceAt<Filter, 0>(rest);
    int mean = 0;
    for (int i = 0; i < 8; ++i) {
        mean = filter->add(107);
    }
    std::printf("at rest %d, now %d above it\n", rest, mean);
    return mean == 7 ? 0 : 1;
}
