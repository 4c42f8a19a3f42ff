#pragma once

#include <memory>
#include <utility>

namespace sluice {

/// Makes a listener that calls a member function, without std::bind and its placeholders:
///
///     dispatcher.appendListener(3, memberListener(window, &Window::onThree));
///
/// With a reference, the object must outlive the listener. With a std::shared_ptr, the listener
/// keeps the object alive. With a std::weak_ptr, the listener keeps the object alive during a call,
/// and does nothing after the end of the object. The result of the member function is discarded.
template <class T, class Member>
[[nodiscard]] auto memberListener(T& object, Member member) noexcept {
    return [&object, member](auto&&... args) {
        (void)(object.*member)(std::forward<decltype(args)>(args)...);
    };
}

template <class T, class Member>
[[nodiscard]] auto memberListener(std::shared_ptr<T> object, Member member) noexcept {
    return [object = std::move(object), member](auto&&... args) {
        (void)((*object).*member)(std::forward<decltype(args)>(args)...);
    };
}

template <class T, class Member>
[[nodiscard]] auto memberListener(std::weak_ptr<T> object, Member member) noexcept {
    return [object = std::move(object), member](auto&&... args) {
        if (const std::shared_ptr<T> alive = object.lock()) {
            (void)((*alive).*member)(std::forward<decltype(args)>(args)...);
        }
    };
}

}  // namespace sluice
