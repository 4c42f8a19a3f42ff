"""gdb shows FixedString, FixedVector and SpscRing by their content. Load it inside gdb:

    source tools/gdb_printers.py
"""

import gdb
import gdb.printing


def number(atomic):
    """The value inside a std::atomic of libstdc++."""
    names = [field.name for field in atomic.type.strip_typedefs().fields()]
    return int((atomic["_M_base"] if "_M_base" in names else atomic)["_M_i"])


class FixedString:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return self.value["data_"].address.cast(gdb.lookup_type("char").pointer()).lazy_string(
            length=int(self.value["size_"])
        )

    def display_hint(self):
        return "string"


class FixedVector:
    def __init__(self, value):
        self.value = value
        self.element = value.type.strip_typedefs().template_argument(0)

    def to_string(self):
        capacity = self.value.type.strip_typedefs().template_argument(1)
        return f"FixedVector of {int(self.value['size_'])} of {int(capacity)}"

    def children(self):
        first = self.value["bytes_"].address.cast(self.element.pointer())
        for index in range(int(self.value["size_"])):
            yield f"[{index}]", (first + index).dereference()

    def display_hint(self):
        return "array"


class SpscRing:
    """The number of messages, and whether the ring is closed. A position grows by two a message."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        tail, head = self.value["tail_"], self.value["head_"]
        size = (number(tail) - number(head)) % 2 ** (8 * tail.type.sizeof) // 2
        closed = ", closed" if number(self.value["closed_"]) else ""
        return f"SpscRing of {size} messages{closed}"


def register():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("sluice")
    for printer in (FixedString, FixedVector, SpscRing):
        printers.add_printer(printer.__name__, f"^sluice::{printer.__name__}<.*>$", printer)
    gdb.printing.register_pretty_printer(None, printers, replace=True)


register()
