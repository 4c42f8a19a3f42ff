#pragma once

/// \file
/// The facts about a subject that are known without running it.

#include <optional>
#include <string>

namespace sluice::bench {

/// The beginning of the id of a floor. A floor does less than the other subjects, and is never
/// called the fastest.
inline const std::string floorPrefix = "floor/";

/// A part of the id of a subject that is built without padding to cache lines.
inline const std::string unpaddedMark = ":unpadded";

/// The promises of a queue. A reader compares these before the nanoseconds: a queue that promises
/// less may be faster. A promise that does not apply is empty.
struct Features {
    /// "spsc", "mpsc" or "mpmc": the number of threads that may push and pop. For an allocator "one
    /// thread" or "any thread": the threads that may free a block.
    std::string topology;

    /// "exact": full at precisely the capacity asked for. "approximate": bounded, but the limit
    /// depends on blocks or producers.
    std::string bound;

    /// "all producers": all messages leave in one order. "each producer": the messages of one
    /// producer keep their order. "none": no order is promised, for instance if a producer is
    /// preempted.
    std::string order;

    /// Whether pushing a message may call the allocator after set-up.
    bool allocates = false;

    /// Whether a message is handed out in place. Otherwise the consumer gets a copy.
    bool inPlace = false;

    /// Further work or features for each message.
    bool blocking = false;      ///< a waiting consumer can sleep
    bool priority = false;      ///< urgent messages overtake others
    bool backPressure = false;  ///< it tells or refuses by how full it is
    bool statistics = false;    ///< it counts messages
    bool typeErasure = false;   ///< the handler is called through a pointer
};

/// Whether several threads may use the subject at the same time without a lock of the user. No
/// value if its topology is unknown.
inline std::optional<bool> isThreadSafe(const Features& features) {
    return features.topology.empty() ? std::optional<bool>{} : features.topology != "one thread";
}

/// The waiting of a thread that polls, or that pushes into a full queue.
enum class Pacing { none, harvest };

struct Subject {
    std::string id;
    std::string library;

    /// Empty if the library's headers do not tell it.
    std::string version;

    /// Whether its code is in a library that the distribution compiled, with flags of its own.
    bool prebuilt = false;

    /// How the adapter uses the queue, in the vocabulary of the queue's documentation.
    std::string use;

    Features features;
    Pacing pacing = Pacing::none;

    /// False for the queues of other libraries.
    bool ours = false;

    /// Why the subject could not be compiled in. Empty if it is there.
    std::string absentBecause;
};

/// For absentBecause: the subject is there, but the user did not ask for it.
inline const std::string leftOutByFilter = "left out by --filter";

/// For absentBecause: the option of the build that brings the subject in.
inline std::string notCompiledIn(const std::string& option,
                                 const std::string& value = "<its include folder>") {
    return "not compiled in; configure with -D" + option + "=" + value;
}

}  // namespace sluice::bench
