#include "carriers.hpp"

#include <sluice/queue.hpp>

#include <thread>
#include <variant>

namespace machine_card {

Card carryInPlace(const Snapshot& snapshot) {
    using Part = std::variant<Load, Memory, Disk, Interface>;
    sluice::BlockingQueue<sluice::SpscRing<Part, 16>> queue;

    std::thread reader([&] {
        sendParts(snapshot, [&queue](const auto& part) { (void)queue.push(Part(part)); });
        queue.close();
    });
    Card card;
    const auto add = [&card](const auto& part) { card.add(part); };
    while (queue.consume([&add](const Part& part) { std::visit(add, part); }) != 0) {
    }
    reader.join();
    return card;
}

}  // namespace machine_card
