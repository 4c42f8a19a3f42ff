#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

namespace sluice::model {

/// The line of a header under test that performs an operation. The default argument of the
/// operation makes it, so that it names the caller.
struct Site {
    const char* file;
    const char* function;
    int line;

    static constexpr Site here(const char* file = __builtin_FILE(),
                               const char* function = __builtin_FUNCTION(),
                               int line = __builtin_LINE()) noexcept {
        return Site{file, function, line};
    }

    std::string_view fileName() const noexcept {
        const std::string_view path = file;
        return path.substr(path.rfind('/') + 1);
    }

    /// The function without template arguments, which only some compilers add.
    std::string_view functionName() const noexcept {
        const std::string_view name = function;
        return name.substr(0, name.find('<'));
    }
};

/// The action of a thread in one step of a schedule.
enum class Action : std::uint8_t {
    create,
    destroy,
    load,
    store,
    update,         // a read-modify-write, a successful compare-exchange included
    failedCompare,  // a compare-exchange that did not exchange: a load with the failure order
    lightFence,
    heavyFence,
    readCell,
    writeCell,
    rest,
    sleep,
    wake,
    end,
};

constexpr const char* nameOf(Action action) noexcept {
    constexpr const char* names[] = {
        "create",      "destroy",   "load",       "store", "update", "compare", "light fence",
        "heavy fence", "read cell", "write cell", "rest",  "sleep",  "wake",    "end"};
    return names[static_cast<int>(action)];
}

constexpr const char* nameOf(std::memory_order order) noexcept {
    switch (order) {
    case std::memory_order_relaxed:
        return "relaxed";
    case std::memory_order_consume:
        return "consume";
    case std::memory_order_acquire:
        return "acquire";
    case std::memory_order_release:
        return "release";
    case std::memory_order_acq_rel:
        return "acq_rel";
    default:
        return "seq_cst";
    }
}

constexpr bool acquires(std::memory_order order) noexcept {
    return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}

constexpr bool releases(std::memory_order order) noexcept {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}

/// One ordered operation of the code under test: the place that a mutant weakens.
struct OrderedSite {
    std::string file;
    std::string function;
    int line = 0;
    Action action = Action::load;
    std::memory_order order = std::memory_order_relaxed;

    friend bool operator<(const OrderedSite& a, const OrderedSite& b) {
        return std::tie(a.file, a.line, a.action, a.order) <
               std::tie(b.file, b.line, b.action, b.order);
    }
};

/// A site and the weaker order that it runs with. A fence is left out.
struct Weakening {
    OrderedSite site;
    std::memory_order instead = std::memory_order_relaxed;

    bool appliesTo(const Site& at, Action action, std::memory_order order) const {
        return site.line == at.line && site.action == action && site.order == order &&
               site.file == at.fileName();
    }
};

}  // namespace sluice::model
