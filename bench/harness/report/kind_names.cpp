#include "harness/report/report_json.hpp"

namespace sluice::bench {

std::string kindName(Kind kind) {
    switch (kind) {
    case Kind::throughput:
        return "e2e-throughput";
    case Kind::loadedLatency:
        return "loaded-latency";
    case Kind::floodLatency:
        return "flood-latency";
    case Kind::idleLatency:
        return "idle-latency";
    case Kind::rawEnqueue:
        return "raw-enqueue";
    case Kind::overflow:
        return "overflow";
    case Kind::callCost:
        return "call-cost";
    case Kind::callLatency:
        return "call-latency";
    case Kind::residentMemory:
        return "resident-memory";
    case Kind::eventCost:
        return "event-cost";
    case Kind::logThroughput:
        return "log-throughput";
    }
    return {};
}

std::string layerName(Kind kind) {
    switch (kind) {
    case Kind::throughput:
    case Kind::loadedLatency:
    case Kind::floodLatency:
    case Kind::idleLatency:
        return "queue between threads";
    case Kind::rawEnqueue:
    case Kind::overflow:
        return "queue alone";
    case Kind::logThroughput:
        return "log";
    case Kind::residentMemory:
        return "process";
    default:
        return "call";
    }
}

}  // namespace sluice::bench
