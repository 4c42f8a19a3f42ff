"""The C++20 module exports the public names of the headers, and no other."""

import unittest

from planted_tree import PROJECT  # also lets tools/ be imported

import write_module

HEADER = """\
namespace [[gnu::visibility("default")]] sluice {

struct Forward;
namespace detail {
class Hidden {};
}  // namespace detail

template <class T>
class [[nodiscard]] Queue {
    void member();
};
template <>
struct Queue<int> {};
template <class R, class... Args>
class Queue<R(Args...)> {};
template <class T>
class Queue<T>::Producer {};

enum class Result : unsigned char { ok };
using Short = Queue<int>;
inline constexpr std::size_t most = 4;
template <class T>
inline constexpr bool isLarge =
    sizeof(T) > 8;
[[nodiscard]] constexpr const char* toString(Result result) noexcept {
    return "";
}
static_assert(most == 4);
bool operator==(const Forward& a, const Forward& b) noexcept;

}  // namespace sluice

namespace sluice::wire {
void encode();
}  // namespace sluice::wire

struct std::hash<sluice::Short>;
"""


class WriteModuleTest(unittest.TestCase):
    def test_finds_each_public_declaration(self):
        names = {}
        for space, name in write_module.names_of(HEADER):
            names.setdefault(space, set()).add(name)
        self.assertEqual(
            names,
            {
                "sluice": {"Forward", "Queue", "Result", "Short", "most", "isLarge", "toString", "operator=="},
                "sluice::wire": {"encode"},
            },
        )

    def test_the_module_of_the_tree_is_up_to_date(self):
        module = (PROJECT / write_module.MODULE).read_text(encoding="utf-8")
        self.assertEqual(module, write_module.written(), "run tools/write_module.py, and commit it")


if __name__ == "__main__":
    unittest.main()
