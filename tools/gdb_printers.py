"""gdb shows Sluice's strings, vectors, functions, queues, buses and handles by their content. Load it
inside gdb:

    source tools/gdb_printers.py
    set max-value-size unlimited

The second line lets gdb print objects of more than 64 KiB: a bus, for example.
The numbers are those of a stopped program: a message that a thread is pushing or handling counts.

The command sluice-log prints the log lines that are not yet written, also of a core file.
"""

import datetime
import struct

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


class OverwriteRing(Queue):
    """The mark of the tail means closed, or, with one producer, that a push is in progress."""

    def size(self):
        tail = self.value["tail_"]
        done = sum(number(self.value[name]) for name in ("taken_", "dropped_", "skipped_"))
        return distance(done, number(tail) & ~MARK, tail.type.sizeof)

    def is_closed(self):
        return number(self.value["closed_"]) or number(self.value["tail_"]) & MARK


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
        return f"Subscription in slot {int(self.value['slot_'])} of the bus at {bus:#x}"


class DataToken:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        state = self.value["state_"]
        if not int(state["releaser"]):
            return "DataToken, empty"
        return f"DataToken on {int(state['size'])} bytes at {state['data']}"


# ---- The unwritten lines of the log

LEVELS = ("trace", "debug", "info", "warning", "error", "critical", "off")
LARGE = 1  # the payload of the record is in a block
HAS_SOURCE, HAS_NO_TIME, HAS_FIELDS = 1, 4, 16  # RecordHead::Flags


def internal(name):
    return gdb.lookup_type(f"sluice::log::detail::{name}")


def at(address, type_):
    return gdb.Value(address).cast(type_.pointer()).dereference()


def memory(address, size):
    return gdb.selected_inferior().read_memory(address, size).tobytes() if size else b""


def decode(text):
    return text.decode("utf-8", "replace")


def std_string(value):
    """Of libstdc++: a pointer and a size. Programs of clang have no debug information for it."""
    text, size = struct.unpack("@PN", memory(int(value.address), struct.calcsize("@PN")))
    return decode(memory(text, size))


def elements(vector):
    first, end = vector["_M_impl"]["_M_start"], vector["_M_impl"]["_M_finish"]
    return [(first + index).dereference() for index in range(int(end - first))]


class Record:
    """A record that begins at an address of a lane, or of a copy of one."""

    def __init__(self, address):
        frame, head = at(address, internal("RecordFrame")), internal("RecordHead")
        footprint = int(frame["footprintAndFlag"])
        self.stamp, self.footprint = int(frame["stamp"]), footprint & ~LARGE
        self.head = at(address + frame.type.sizeof, head)
        place = address + frame.type.sizeof + (head.sizeof + 7) // 8 * 8
        size = int(frame["payloadSize"])
        if footprint & LARGE:
            block = at(place, internal("LargePayload").pointer()).dereference()
            place, size = int(block.address) + block.type.sizeof, int(block["size"])
        self.payload = memory(place, size)

    def time(self, clock):
        """Nanoseconds since 1970. `clock` converts the stamps of records that have no time."""
        if int(self.head["flags"]) & HAS_NO_TIME:
            now, ticks = clock["now_"], float(clock["ticksLength_"])
            passed = (self.stamp - int(now["stamp"])) * ticks
            return int(now["wall"]["__d"]["__r"]) + int(passed)
        return int(self.head["time"]["__d"]["__r"])

    def text(self):
        flags, rest, fields = int(self.head["flags"]), self.payload, ""
        if flags & HAS_FIELDS:
            sizes = struct.unpack_from("@NN", rest)
            begin = struct.calcsize("@NN")
            fields = "".join(fields_of(rest[begin : begin + sum(sizes)]))
            rest = rest[begin + sum(sizes) :]
        if int(self.head["site"]):
            form = self.head["site"]["format"]
            text = decode(memory(int(form["data_"]), int(form["size_"])))
            return f"{text} (not formatted){fields}"
        if flags & HAS_SOURCE:
            rest = rest[gdb.lookup_type("spdlog::source_loc").sizeof :]
        return decode(rest) + fields

    def line(self, clock):
        passed = datetime.timedelta(microseconds=self.time(clock) // 1000)
        time = datetime.datetime(1970, 1, 1) + passed
        name, level = std_string(self.head["logger"]["name"]), LEVELS[int(self.head["level"])]
        return f"[{time:%Y-%m-%d %H:%M:%S.%f}] [{name}] [{level}] {self.text()}"


def fields_of(encoded):
    """The fields of a record as text sinks print them, except for quotes."""
    numbers = {1: "?", 2: "q", 3: "Q", 4: "f", 5: "d"}  # the place in key_value::value_type
    place = 0

    def take(form):
        nonlocal place
        (value,) = struct.unpack_from("@" + form, encoded, place)
        place += struct.calcsize("@" + form)
        return value

    while place < len(encoded):
        kind = take("B")
        key = decode(take(f"{take('N')}s"))
        if kind == 6:
            value = decode(take(f"{take('N')}s"))
        else:
            value = take(numbers[kind]) if kind in numbers else "null"
        yield f" {key}={value}"


class Backend:
    def __init__(self, core):
        self.name = std_string(core["options_"]["thread_name"])
        self.clock = core["writer_"]["times_"]
        # A std::unique_ptr is the pointer.
        state = gdb.lookup_type("sluice::log::detail::LoggerState").pointer()
        self.loggers = [at(int(one.address), state).dereference()
                        for one in elements(core["loggers_"]["loggers_"])]
        queue = core["queue_"]
        self.registry = queue["registry_"]
        self.readers = elements(queue["order_"]["_M_payload"]["_M_payload"]["_M_value"]["lanes_"])

    def records(self):
        """The records in the lanes and in copies of lanes, the oldest first."""
        found = [record for reader in self.readers for record in self.copies(reader)]
        slot = self.registry["first_"]
        while int(slot):
            found += self.records_of(slot.dereference())
            slot = slot["next"]
        return sorted(found, key=lambda record: record.stamp)

    def copies(self, reader):
        place = int(reader["staged_"]["_M_impl"]["_M_start"]) + int(reader["stagedAt_"])
        for _ in range(int(reader["stagedCount_"])):
            yield (record := Record(place))
            place += record.footprint

    def records_of(self, lane):
        ring = int(at(int(lane["ring_"].address), gdb.lookup_type("char").pointer()))
        mask = int(lane["mask_"])
        position, count = number(lane["releasedBytes_"]), number(lane["releasedCount_"])
        for _ in range((number(lane["word_"]) >> 1) - count):
            yield (record := Record(ring + (position & mask)))
            position += record.footprint

    def texts_of_files(self):
        """The file and the text of each file_sink that has unwritten text."""
        entries = [entry for logger in self.loggers for entry in elements(logger["sinks"])]
        for sink in {int(entry["batch"]): entry["batch"] for entry in entries}.values():
            if "sluice::log::file_sink<" not in str(sink.dynamic_type):
                continue
            sink = sink.cast(sink.dynamic_type).dereference()
            buffer = sink["buffer_"].cast(sink["buffer_"].type.strip_typedefs().fields()[0].type)
            char = gdb.lookup_type("char").pointer()
            members = (buffer[each] for each in buffer.type.fields())
            data = next(int(each) for each in members if each.type.strip_typedefs() == char)
            begun, size = int(sink["begun_"]), int(buffer["size_"])
            if size > begun:
                name = std_string(sink["file_"]["name_"])
                yield name, decode(memory(data + begun, size - begun))


def backends():
    try:
        member = pointer(gdb.parse_and_eval("sluice::log::detail::registryFromTheStart")["first_"])
    except gdb.error:
        return
    while int(member):
        yield Backend(member.cast(member.dynamic_type).dereference())
        member = pointer(member["next_"])


class UnwrittenLog(gdb.Command):
    """Print the log lines that are not written: text kept by file sinks, then queued records."""

    def __init__(self):
        super().__init__("sluice-log", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        found = list(backends())
        if not found:
            print("no back end of the log")
        for backend in found:
            for name, text in backend.texts_of_files():
                print(f"{backend.name}: not written to {name}:\n{text}", end="")
            records = backend.records()
            print(f"{backend.name}: {len(records)} queued records")
            for record in records:
                print(record.line(backend.clock))


PRINTERS = {
    "FixedString": FixedString,
    "FixedVector": FixedVector,
    "FixedFunction": FixedFunction,
    "SpscRing": SpscRing,
    "MpscRing": MpscRing,
    "MpmcRing": MpmcRing,
    "OverwriteRing": OverwriteRing,
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
UnwrittenLog()
