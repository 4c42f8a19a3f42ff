#include "harness/run/schedule.hpp"

#include <algorithm>

namespace sluice::bench {

std::vector<std::size_t> balancedOrder(std::size_t subjects, std::size_t round) {
    // The first row is 0, 1, n-1, 2, n-2 and so on: its steps are all different. In the others
    // each number is larger by the number of the row.
    std::vector<std::size_t> order(subjects);
    for (std::size_t place = 0; place < subjects; ++place) {
        const std::size_t first = place % 2 == 1 ? (place + 1) / 2 : subjects - place / 2;
        order[place] = (first + round) % subjects;
    }
    // Of an odd number the steps up and down are not the same ones: every other square runs
    // backwards.
    if (subjects % 2 == 1 && round / subjects % 2 == 1) {
        std::reverse(order.begin(), order.end());
    }
    return order;
}

}  // namespace sluice::bench
