#include <sluice/memory.hpp>

#include <thread>
#include <utility>

struct Order {
    int number;
    double price;
};

int main() {
    sluice::ObjectPool<Order> orders;
    sluice::PoolPtr<Order> order = orders.make(Order{1, 9.5});

    double price = 0;
    std::thread buyer([&price, bought = std::move(order)] { price = bought->price; });
    buyer.join();  // that thread has destroyed the order; the pool has its memory again
    return price == 9.5 ? 0 : 1;
}
