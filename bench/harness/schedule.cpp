#include "harness/schedule.hpp"

namespace sluice::bench {

std::vector<std::size_t> rotatingOrder(std::size_t subjects, std::size_t round) {
    std::vector<std::size_t> order(subjects);
    for (std::size_t place = 0; place < subjects; ++place) {
        order[place] = (round + place) % subjects;
    }
    return order;
}

}  // namespace sluice::bench
