// The code of docs/guide/memory.md.
#include <sluice/memory.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <list>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace {

struct Order {
    int id;
    double price;
};

class Tick final : public sluice::Pooled<Tick> {
public:
    explicit Tick(double price) : price_(price) {}
    double price() const { return price_; }

private:
    double price_;
};

bool choice() {
    sluice::ObjectPool<Order> orders;  // new code; may be bounded
    sluice::PoolPtr<Order> order = orders.make(Order{1, 9.5});

    auto tick = std::make_unique<Tick>(9.5);  // code that says `new`: class Tick : Pooled<Tick>

    sluice::PoolResource resource;  // containers, shared ownership, several sizes
    auto shared = std::allocate_shared<Order>(sluice::PoolAllocator<Order>(resource));

    static sluice::StaticArena<sizeof(Order)> place;  // one thread, no heap, a place you name
    auto fixed = place.emplaceAt<Order, 0>(Order{2, 9.5});
    return order && tick && shared && fixed;
}

bool objects() {
    sluice::ObjectPool<Order> orders;

    sluice::PoolPtr<Order> order = orders.make(Order{7, 9.5});
    std::thread desk([taken = std::move(order)]() mutable {
        std::printf("order %d\n", taken->id);
        taken.reset();  // on another thread than make(): the normal case
    });
    desk.join();
    return orders.statistics().inUse == 0;
}

bool bounded() {
    sluice::ObjectPoolOptions options;
    options.capacity = 2;
    options.initialObjects = 2;  // all memory now, none later
    options.prefault = true;
    sluice::ObjectPool<Order> orders(options);

    const auto first = orders.tryMake(Order{1, 1.0});
    const auto second = orders.tryMake(Order{2, 2.0});
    const auto third = orders.tryMake(Order{3, 3.0});
    return first && second && !third;  // exhausted is an answer
}

bool classes() {
    auto tick = std::make_unique<Tick>(101.25);  // `new` and `delete` as before
    const bool good = tick->price() > 101;
    tick.reset();
    return good;
}

bool containers() {
    sluice::PoolResource resource;
    {
        std::list<int, sluice::PoolAllocator<int>> list({1, 2, 3}, resource);
        auto shared = std::allocate_shared<Order>(sluice::PoolAllocator<Order>(resource));
        shared->id = list.back();
    }
    return resource.statistics(sizeof(Order)).inUse == 0;
}

bool blocks() {
    sluice::BlockPoolOptions options;
    options.blockSize = 1500;
    options.alignment = 64;
    sluice::BlockPool frames(options);

    void* const frame = frames.tryAllocate();
    if (frame == nullptr) {
        return false;  // no memory
    }
    std::memset(frame, 0, frames.blockSize());
    frames.deallocate(frame);  // on any thread

    const std::size_t freed = frames.trim();
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
    return freed != 0;
}

bool buffers() {
    sluice::BufferPoolOptions options;
    options.bufferSize = 4096;
    options.buffers = 16;
    sluice::BufferPool pool(options);

    auto frame = pool.tryAcquire();
    if (!frame) {
        return false;  // all 16 are out
    }
    std::memcpy(frame.data(), "payload", 7);
    const sluice::DataToken token = std::move(frame).publish(7, 1'000'000);  // 7 bytes; time stamp

    std::thread recorder([copy = token.share()] { std::printf("%zu bytes\n", copy.size()); });
    recorder.join();
    return token.size() == 7;  // with the last token the buffer goes back
}

bool places() {
    sluice::StaticArena<256> arena;

    const auto order = arena.emplaceAt<Order, 0>(Order{4, 2.5});  // at the very beginning
    const auto price = arena.tryEmplace<double>(1.5);             // wherever it fits
    return order->id == 4 && *price > 1;                          // each handle destroys its object
}

}  // namespace

int main() {
    const bool good = choice() && objects() && bounded() && classes() && containers() && blocks() &&
                      buffers() && places();
    return good ? 0 : 1;
}
