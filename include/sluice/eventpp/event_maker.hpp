#pragma once

/// \file
/// EVENTPP_MAKE_EVENT and EVENTPP_MAKE_EMPTY_EVENT define event classes in one line.
///
///     EVENTPP_MAKE_EVENT(MoveEvent, Event, EventType::move, (int, getX, setX), (int, getY));
///     EVENTPP_MAKE_EMPTY_EVENT(QuitEvent, Event, EventType::quit);
///
/// The class MoveEvent in the example derives from Event, and passes EventType::move to Event's
/// constructor. MoveEvent has a default constructor, a constructor with a value for each field,
/// `const int& getX() const`, `void setX(const int&)` and `const int& getY() const`. An event has 1
/// to 15 fields of the form (type, getter) or (type, getter, setter).
///
/// Put an argument that contains a comma into parentheses, such as a base `(Base<A, B>)`, a field's
/// type `((std::map<int, int>), getMap)` or several arguments for the base `(1, 2)`. Write
/// `template <class T>` in front of a macro to define a class template.

#include <utility>

// The check is off, because C++ allows no parentheses around class names, bases and types.
// NOLINTBEGIN(bugprone-macro-parentheses)

#define EVENTPP_MAKE_EVENT(Class, Base, baseArgs, ...)                                             \
    class Class : public SLUICE_EVENT_BARE(Base) {                                                 \
    public:                                                                                        \
        static_assert(SLUICE_EVENT_COUNT(__VA_ARGS__) <= 15,                                       \
                      "EVENTPP_MAKE_EVENT: an event has 15 fields at most");                       \
        Class() : SLUICE_EVENT_BARE(Base) SLUICE_EVENT_ENCLOSED(baseArgs) {                        \
        }                                                                                          \
        Class(SLUICE_EVENT_EACH(SLUICE_EVENT_PARAMETER, SLUICE_EVENT_COMMA, __VA_ARGS__))          \
            : SLUICE_EVENT_BARE(Base) SLUICE_EVENT_ENCLOSED(baseArgs),                             \
              SLUICE_EVENT_EACH(SLUICE_EVENT_FILLED_FIELD, SLUICE_EVENT_COMMA, __VA_ARGS__) {      \
        }                                                                                          \
        SLUICE_EVENT_EACH(SLUICE_EVENT_ACCESS, SLUICE_EVENT_NOTHING, __VA_ARGS__)                  \
                                                                                                   \
    private:                                                                                       \
        SLUICE_EVENT_EACH(SLUICE_EVENT_FIELD, SLUICE_EVENT_NOTHING, __VA_ARGS__)                   \
    }

#define EVENTPP_MAKE_EMPTY_EVENT(Class, Base, baseArgs)                                            \
    class Class : public SLUICE_EVENT_BARE(Base) {                                                 \
    public:                                                                                        \
        Class() : SLUICE_EVENT_BARE(Base) SLUICE_EVENT_ENCLOSED(baseArgs) {                        \
        }                                                                                          \
    }

// These macros make the members of a class for a field (type, getter[, setter]).
#define SLUICE_EVENT_TYPE(field) SLUICE_EVENT_BARE(SLUICE_EVENT_FIRST field)
#define SLUICE_EVENT_NAME(field) SLUICE_EVENT_CONCAT(field_, SLUICE_EVENT_SECOND field)
#define SLUICE_EVENT_VALUE(field) SLUICE_EVENT_CONCAT(value_, SLUICE_EVENT_SECOND field)
#define SLUICE_EVENT_FIELD(field) SLUICE_EVENT_TYPE(field) SLUICE_EVENT_NAME(field){};
#define SLUICE_EVENT_PARAMETER(field) SLUICE_EVENT_TYPE(field) SLUICE_EVENT_VALUE(field)
#define SLUICE_EVENT_FILLED_FIELD(field)                                                           \
    SLUICE_EVENT_NAME(field)(std::move(SLUICE_EVENT_VALUE(field)))
#define SLUICE_EVENT_ACCESS(field)                                                                 \
    SLUICE_EVENT_TYPE(field) const& SLUICE_EVENT_SECOND field() const {                            \
        return SLUICE_EVENT_NAME(field);                                                           \
    }                                                                                              \
    SLUICE_EVENT_CONCAT(SLUICE_EVENT_SETTER_, SLUICE_EVENT_COUNT field)(field)

#define SLUICE_EVENT_SETTER_1(field) SLUICE_EVENT_WRONG_FIELD
#define SLUICE_EVENT_SETTER_2(field)
#define SLUICE_EVENT_SETTER_3(field)                                                               \
    void SLUICE_EVENT_THIRD field(SLUICE_EVENT_TYPE(field) const& SLUICE_EVENT_VALUE(field)) {     \
        SLUICE_EVENT_NAME(field) = SLUICE_EVENT_VALUE(field);                                      \
    }
#define SLUICE_EVENT_SETTER_4(field) SLUICE_EVENT_WRONG_FIELD
#define SLUICE_EVENT_SETTER_5(field) SLUICE_EVENT_WRONG_FIELD
#define SLUICE_EVENT_WRONG_FIELD                                                                   \
    static_assert(false, "EVENTPP_MAKE_EVENT: a field is (type, getter) or (type, getter, "        \
                         "setter)");

// COUNT counts up to 20 arguments. EACH applies the macro m to each of up to 15 arguments
// (f is the first of them), and separates the results by s().
#define SLUICE_EVENT_COUNT(...)                                                                    \
    SLUICE_EVENT_COUNT_OF(__VA_ARGS__, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5,  \
                          4, 3, 2, 1, 0)
#define SLUICE_EVENT_COUNT_OF(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15,    \
                              a16, a17, a18, a19, a20, count, ...)                                 \
    count

#define SLUICE_EVENT_EACH(make, separator, ...)                                                    \
    SLUICE_EVENT_CONCAT(SLUICE_EVENT_EACH_, SLUICE_EVENT_COUNT(__VA_ARGS__))                       \
    (make, separator, __VA_ARGS__)
#define SLUICE_EVENT_EACH_1(m, s, f) m(f)
#define SLUICE_EVENT_EACH_2(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_1(m, s, __VA_ARGS__)
#define SLUICE_EVENT_EACH_3(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_2(m, s, __VA_ARGS__)
#define SLUICE_EVENT_EACH_4(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_3(m, s, __VA_ARGS__)
#define SLUICE_EVENT_EACH_5(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_4(m, s, __VA_ARGS__)
#define SLUICE_EVENT_EACH_6(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_5(m, s, __VA_ARGS__)
#define SLUICE_EVENT_EACH_7(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_6(m, s, __VA_ARGS__)
#define SLUICE_EVENT_EACH_8(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_7(m, s, __VA_ARGS__)
#define SLUICE_EVENT_EACH_9(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_8(m, s, __VA_ARGS__)
#define SLUICE_EVENT_EACH_10(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_9(m, s, __VA_ARGS__)
#define SLUICE_EVENT_EACH_11(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_10(m, s, __VA_ARGS__)
#define SLUICE_EVENT_EACH_12(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_11(m, s, __VA_ARGS__)
#define SLUICE_EVENT_EACH_13(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_12(m, s, __VA_ARGS__)
#define SLUICE_EVENT_EACH_14(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_13(m, s, __VA_ARGS__)
#define SLUICE_EVENT_EACH_15(m, s, f, ...) m(f) s() SLUICE_EVENT_EACH_14(m, s, __VA_ARGS__)
#define SLUICE_EVENT_COMMA() ,
#define SLUICE_EVENT_NOTHING()

// BARE removes parentheses around x, if any. ENCLOSED adds parentheses around x if x has none.
#define SLUICE_EVENT_BARE(x) SLUICE_EVENT_CONCAT(SLUICE_EVENT_BARE_, SLUICE_EVENT_IS_ENCLOSED(x))(x)
#define SLUICE_EVENT_BARE_0(x) x
#define SLUICE_EVENT_BARE_1(x) SLUICE_EVENT_SAME x
#define SLUICE_EVENT_ENCLOSED(x)                                                                   \
    SLUICE_EVENT_CONCAT(SLUICE_EVENT_ENCLOSED_, SLUICE_EVENT_IS_ENCLOSED(x))(x)
#define SLUICE_EVENT_ENCLOSED_0(x) (x)
#define SLUICE_EVENT_ENCLOSED_1(x) x
#define SLUICE_EVENT_IS_ENCLOSED(x) SLUICE_EVENT_SECOND(SLUICE_EVENT_PROBE x, 0)
#define SLUICE_EVENT_PROBE(...) 1, 1

#define SLUICE_EVENT_SAME(...) __VA_ARGS__
#define SLUICE_EVENT_CONCAT(a, b) SLUICE_EVENT_CONCAT_OF(a, b)
#define SLUICE_EVENT_CONCAT_OF(a, b) a##b
#define SLUICE_EVENT_FIRST(...) SLUICE_EVENT_FIRST_OF(__VA_ARGS__, )
#define SLUICE_EVENT_FIRST_OF(a, ...) a
#define SLUICE_EVENT_SECOND(...) SLUICE_EVENT_SECOND_OF(__VA_ARGS__, )
#define SLUICE_EVENT_SECOND_OF(a, b, ...) b
#define SLUICE_EVENT_THIRD(...) SLUICE_EVENT_THIRD_OF(__VA_ARGS__, )
#define SLUICE_EVENT_THIRD_OF(a, b, c, ...) c

// NOLINTEND(bugprone-macro-parentheses)
