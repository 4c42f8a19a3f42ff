#pragma once

#include "execution.hpp"

#include <sluice/base/platform.hpp>

#include <cstddef>
#include <utility>

namespace sluice::model {

/// The sluice::Cell of ModelPlatform. It checks each access for data races. It also checks that no
/// object is built over another, and that an object exists when it is used or destroyed.
template <class T>
class Cell {
public:
    Cell() : id_(execution().createPlain()) {}
    Cell(const Cell&) = delete;
    Cell& operator=(const Cell&) = delete;

    template <class... Args>
    T& construct(Args&&... args) {
        execution().accessPlain(id_, true, Site{"", "construct", 0});
        expectObject(false, "an object is constructed over one that lives");
        T& object = cell_.construct(std::forward<Args>(args)...);
        execution().holdsObject(id_) = true;
        return object;
    }

    /// Counts as a write, because the caller may change the object.
    T& get(Site site = Site::here()) {
        execution().accessPlain(id_, true, site);
        expectObject(true, "a cell is read that holds no object");
        return cell_.get();
    }

    const T& get(Site site = Site::here()) const {
        execution().accessPlain(id_, false, site);
        expectObject(true, "a cell is read that holds no object");
        return cell_.get();
    }

    void destroy(Site site = Site::here()) {
        execution().accessPlain(id_, true, site);
        expectObject(true, "an object is destroyed where none lives");
        execution().holdsObject(id_) = false;
        cell_.destroy();
    }

    /// A write as in destroy().
    void destroyAndOwnLines(Site site = Site::here()) {
        execution().accessPlain(id_, true, site);
        expectObject(true, "an object is destroyed where none lives");
        execution().holdsObject(id_) = false;
        cell_.destroyAndOwnLines();
    }

private:
    void expectObject(bool holds, const char* otherwise) const {
        if (execution().holdsObject(id_) != holds) {
            execution().fail(otherwise);
        }
    }

    std::size_t id_;
    sluice::Cell<T> cell_;
};

/// A plain variable of a message or of a shared object, checked for data races.
template <class T>
class Plain {
public:
    explicit Plain(T value = T{}) : id_(execution().createPlain()), value_(value) {}
    Plain(const Plain& other) noexcept : Plain(other.get()) {}
    Plain& operator=(const Plain& other) {
        set(other.get());
        return *this;
    }
    ~Plain() { execution().accessPlain(id_, true, Site{"", "destructor", 0}); }

    T get(Site site = Site::here()) const {
        execution().accessPlain(id_, false, site);
        return value_;
    }

    void set(T value, Site site = Site::here()) {
        execution().accessPlain(id_, true, site);
        value_ = value;
    }

private:
    std::size_t id_;
    T value_;
};

}  // namespace sluice::model
