#include "carriers.hpp"

#include <sluice/memory.hpp>
#include <sluice/queue.hpp>

#include <memory>
#include <thread>

namespace machine_card {

namespace {

/// `new` and `delete` of all kinds are on pools, one for each size.
class Part : public sluice::Pooled<Part> {
public:
    Part() = default;
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    virtual ~Part() = default;
    virtual void addTo(Card& card) const = 0;
};

template <class Kind>
class PartOf final : public Part {
public:
    explicit PartOf(const Kind& kind) : kind_(kind) {}
    void addTo(Card& card) const override { card.add(kind_); }

private:
    Kind kind_;
};

}  // namespace

Card carryAsObjects(const Snapshot& snapshot) {
    sluice::BlockingQueue<sluice::SpscRing<std::unique_ptr<Part>, 16>> queue;

    std::thread reader([&] {
        sendParts(snapshot, [&queue](const auto& kind) {
            using Kind = std::decay_t<decltype(kind)>;
            (void)queue.push(std::make_unique<PartOf<Kind>>(kind));
        });
        queue.close();
    });
    Card card;
    // The objects go back to the pool on this thread, not on the one that made them.
    while (queue.consume([&card](const std::unique_ptr<Part>& part) { part->addTo(card); }) != 0) {
    }
    reader.join();
    return card;
}

}  // namespace machine_card
