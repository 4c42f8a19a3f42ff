#include "harness/run/schedule.hpp"

#include <algorithm>

namespace sluice::bench {

std::vector<std::size_t> balancedOrder(std::size_t subjects, std::size_t round) {
    // The first row is 0, 1, n-1, 2, n-2 and so on: its steps are all different. Each row adds its
    // own number to these numbers.
    std::vector<std::size_t> order(subjects);
    for (std::size_t place = 0; place < subjects; ++place) {
        const std::size_t first = place % 2 == 1 ? (place + 1) / 2 : subjects - place / 2;
        order[place] = (first + round) % subjects;
    }
    // With an odd number, the steps up differ from the steps down, so every other square runs
    // backwards.
    if (subjects % 2 == 1 && round / subjects % 2 == 1) {
        std::reverse(order.begin(), order.end());
    }
    return order;
}

}  // namespace sluice::bench
