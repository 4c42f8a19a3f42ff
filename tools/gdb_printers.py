"""gdb shows Sluice's strings, vectors, functions, queues, buses and handles by their content. Load it
inside gdb:

    source tools/gdb_printers.py
    set max-value-size unlimited

The second line lets gdb print objects of more than 64 KiB: a bus, for example.
The numbers are those of a stopped program: a message that a thread is pushing or handling counts.
"""

import gdb
import gdb.printing

MARK = 1  # the lowest bit of a tail: the queue is closed
STEP = 2  # a position grows by this with each message


def number(atomic):
    """The value inside a std::atomic of libstdc++."""
    names = [field.name for field in atomic.type.strip_typedefs().fields()]
    if "_M_b" in names:  # a pointer
        return int(atomic["_M_b"]["_M_p"])
    return int((atomic["_M_base"] if "_M_base" in names else atomic)["_M_i"])


def pointer(atomic):
    return atomic["_M_b"]["_M_p"]


def argument(value, place):
    return value.type.strip_typedefs().template_argument(place)


def name_of(value):
    """The name of the type, without namespaces and arguments."""
    return value.type.strip_typedefs().name.split("<")[0].split("::")[-1]


def distance(head, tail, size):
    """The messages between two positions, which take `size` bytes each."""
    return (tail - head) % 2 ** (8 * size) // STEP


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

    def to_string(self):
        return f"FixedVector of {int(self.value['size_'])} of {int(argument(self.value, 1))}"

    def children(self):
        first = self.value["bytes_"].address.cast(argument(self.value, 0).pointer())
        for index in range(int(self.value["size_"])):
            yield f"[{index}]", (first + index).dereference()

    def display_hint(self):
        return "array"


class FixedFunction:
    """The function that it calls."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        if not int(self.value["operations_"]):
            return "FixedFunction, empty"
        block = gdb.block_for_pc(int(self.value["invoke_"]))
        return f"FixedFunction of {block.function if block else self.value['invoke_']}"


class Queue:
    """The number of messages in a queue, and whether the queue is closed."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        closed = ", closed" if self.is_closed() else ""
        return f"{name_of(self.value)} of {self.size()} messages{closed}"


class SpscRing(Queue):
    """SegmentQueue has the same words."""

    def size(self):
        tail, head = self.value["tail_"], self.value["head_"]
        return distance(number(head), number(tail), tail.type.sizeof)

    def is_closed(self):
        return number(self.value["closed_"])


class MpscRing(Queue):
    """The mark of the tail means that the ring is closed."""

    removed = "head_"

    def size(self):
        tail = self.value["tail_"]
        return distance(number(self.value[self.removed]), number(tail) & ~MARK, tail.type.sizeof)

    def is_closed(self):
        return number(self.value["tail_"]) & MARK


class MpmcRing(MpscRing):
    removed = "passed_"


class MpscLanes(Queue):
    """All lanes together."""

    def lanes(self):
        lane = pointer(self.value["first_"])
        while int(lane):
            yield lane["ring"]
            lane = pointer(lane["next"])

    def size(self):
        return sum(SpscRing(ring).size() for ring in self.lanes())

    def is_closed(self):
        return number(self.value["closed_"])


class BlockingQueue:
    """The queue inside it."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "BlockingQueue"

    def children(self):
        yield "queue", self.value["queue_"]


class Bus:
    """The messages of each priority."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "Bus"

    def children(self):
        for name in ("high", "medium", "low"):
            ring = self.value[f"{name}_"]
            if ring.type.strip_typedefs().fields():  # a bus without priorities has one ring
                yield name, ring


class Subscription:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        bus = number(self.value["bus_"])
        if not bus:
            return "Subscription, empty"
        ended = ", ended" if number(self.value["hasEnded_"]) else ""
        return f"Subscription in slot {int(self.value['slot_'])} of the bus at {bus:#x}{ended}"


class DataToken:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        if not int(self.value["releaser_"]):
            return "DataToken, empty"
        return f"DataToken on {int(self.value['size_'])} bytes at {self.value['data_']}"


PRINTERS = {
    "FixedString": FixedString,
    "FixedVector": FixedVector,
    "FixedFunction": FixedFunction,
    "SpscRing": SpscRing,
    "MpscRing": MpscRing,
    "MpmcRing": MpmcRing,
    "MpscLanes": MpscLanes,
    "MpmcLanes": MpscLanes,
    "SegmentQueue": SpscRing,
    "BlockingQueue": BlockingQueue,
    "Bus": Bus,
    "Subscription": Subscription,
    "DataToken": DataToken,
}


def register():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("sluice")
    for name, printer in PRINTERS.items():
        printers.add_printer(name, f"^sluice::{name}(<.*>)?$", printer)
    gdb.printing.register_pretty_printer(None, printers, replace=True)


register()
