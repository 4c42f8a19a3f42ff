#!/usr/bin/env python3
"""Draws a trace of FlightRecorder as SVG: `draw_trace.py TRACE >PICTURE`. Needs the package perfetto.

It shows what https://ui.perfetto.dev shows of it, for the guide: threads, publications, slices and arrows.
"""

import sys
from html import escape

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

WIDTH, LEFT, ROW, BAR = 900, 110, 110, 34
COLOURS = {"low": "#8aa4c8", "medium": "#4a7ebb", "high": "#c0392b"}


def read(path):
    """Tracks of threads, [(time, track, name, priority, flow)] of publications, [(begin, end, track, name, priority, flow)]."""
    trace = perfetto.Trace()
    with open(path, "rb") as stream:
        trace.ParseFromString(stream.read())
    threads, publications, slices, begun = [], [], [], {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor") and packet.track_descriptor.HasField("thread"):
            threads.append(packet.track_descriptor.uuid)
        event = packet.track_event
        priority = next((note.string_value for note in event.debug_annotations if note.name == "priority"), "")
        if event.name.startswith("publish "):
            publications.append((packet.timestamp, event.track_uuid, event.name, priority, event.flow_ids[0]))
        elif event.type == event.TYPE_SLICE_BEGIN:
            begun[event.track_uuid] = (packet.timestamp, event.name, priority, event.terminating_flow_ids[0])
        elif event.type == event.TYPE_SLICE_END and event.track_uuid in begun:
            begin, name, priority, flow = begun.pop(event.track_uuid)
            slices.append((begin, packet.timestamp, event.track_uuid, name, priority, flow))
    return threads, publications, slices


def draw(threads, publications, slices):
    first = min(each[0] for each in publications)
    scale = (WIDTH - LEFT - 20) / (max(each[1] for each in slices) - first)
    rows = {track: 46 + ROW * row for row, track in enumerate(threads)}
    height = 46 + ROW * len(threads) - 40

    def x(time):
        return round(LEFT + (time - first) * scale, 1)

    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">'
        "<title>A trace: the stop, published fifth, is handled before the scans that wait</title>"
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    )
    consumers = {each[2] for each in slices}
    for track in threads:
        name = "consumer" if track in consumers else "publisher"
        yield f'<text x="8" y="{rows[track] + 22}" fill="#1f2328">{name}</text>'
        yield f'<path d="M{LEFT} {rows[track] + BAR}H{WIDTH - 20}" stroke="#dddddd"/>'
    starts = {each[4]: each for each in publications}
    for begin, end, track, name, priority, flow in slices:
        colour = COLOURS[priority]
        yield (
            f'<rect x="{x(begin)}" y="{rows[track]}" width="{max(2, round((end - begin) * scale, 1))}" '
            f'height="{BAR}" fill="{colour}" stroke="#ffffff"/>'
            f'<text x="{x(begin) + 5}" y="{rows[track] + 22}" fill="#ffffff">{escape(name)}</text>'
        )
        if flow in starts:
            time, publisher = starts[flow][:2]
            yield (
                f'<path d="M{x(time)} {rows[publisher] + BAR}L{x(begin)} {rows[track]}" stroke="{colour}" '
                f'stroke-width="{3 if priority == "high" else 1}" fill="none"/>'
            )
    for time, track, name, priority, _ in publications:
        yield f'<path d="M{x(time)} {rows[track] + 6}v{BAR - 6}" stroke="{COLOURS[priority]}" stroke-width="3"/>'
        if priority == "high":
            yield f'<text x="{x(time) + 6}" y="{rows[track] + 2}" fill="{COLOURS[priority]}">{escape(name)}</text>'
    yield "</svg>"


if __name__ == "__main__":
    print("\n".join(draw(*read(sys.argv[1]))))
