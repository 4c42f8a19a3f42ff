#include <sluice/event.hpp>

#include <cstdio>
#include <string>

enum class Door { opened, closed };

int main() {
    sluice::EventQueue<Door, void(const std::string&)> queue;
    std::string seen;
    queue.appendListener(Door::opened, [&seen](const std::string& door) { seen = door; });

    queue.enqueue(Door::opened, "front door");  // from any thread; no listener runs yet
    queue.process();                            // this thread calls them
    std::puts(seen.c_str());
    return seen == "front door" ? 0 : 1;
}
