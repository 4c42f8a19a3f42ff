"""check_trace.py FILE: checks the trace of flight_recorder_test.cpp by Perfetto's classes."""

import sys
from collections import Counter

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

Event = perfetto.TrackEvent


def main(path):
    trace = perfetto.Trace()
    with open(path, "rb") as stream:
        trace.ParseFromString(stream.read())
    for packet in trace.packet:
        assert not UnknownFieldSet(packet) and not UnknownFieldSet(packet.track_event)
    descriptors = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
    threads = [each for each in descriptors.values() if each.HasField("thread")]
    counters = [each for each in descriptors.values() if each.HasField("counter")]
    processes = [each for each in descriptors.values() if each.HasField("process")]
    assert len(threads) == len(counters) == len(processes) == 1, descriptors
    assert threads[0].thread.tid > 0 and threads[0].thread.pid == processes[0].process.pid > 0
    assert counters[0].name == "depth of control" and counters[0].parent_uuid == processes[0].uuid

    packets = [packet for packet in trace.packet if packet.HasField("track_event")]
    times = [packet.timestamp for packet in packets]
    assert times == sorted(times) and times[0] > 0
    assert {packet.trusted_packet_sequence_id for packet in trace.packet} == {1}
    events = [packet.track_event for packet in packets]
    assert {each.track_uuid for each in events} <= set(descriptors)

    depths = [each.counter_value for each in events if each.type == Event.TYPE_COUNTER]
    assert min(depths) == 0 and depths[-1] == 0 and max(depths) == 6, depths

    open_slices, names, published, slices = [], Counter(), {}, []
    for each in events:
        if each.type == Event.TYPE_COUNTER:
            continue
        if each.type == Event.TYPE_SLICE_END:
            open_slices.pop()
            continue
        assert list(each.categories) == ["control"]
        notes = {note.name: note.string_value or note.uint_value for note in each.debug_annotations}
        names[each.name] += 1
        if each.type == Event.TYPE_SLICE_BEGIN:
            open_slices.append(each.name)
            slices.append((each.name, notes["priority"]))
        if each.name.startswith("publish"):
            (flow,) = each.flow_ids
            assert flow not in published and flow != 0
            published[flow] = (each.name, notes["priority"], notes.get("id", 0))
        elif not each.name.startswith("refused"):
            (flow,) = each.terminating_flow_ids
            what, priority, number = published.pop(flow)
            assert what.split()[-1] == each.name.split()[-1]
            assert (priority, number) == (notes["priority"], notes.get("id", 0))
    assert not open_slices and not published
    # The stop was published last and handled first.
    assert slices[:3] == [("Stop", "high"), ("Scan", "medium"), ("Scan", "medium")], slices
    expected = {"publish Scan": 13, "publish Stop": 1, "refused Scan": 1, "dropped Scan": 5, "Scan": 8, "Stop": 1}
    assert names == expected, names


if __name__ == "__main__":
    main(sys.argv[1])
