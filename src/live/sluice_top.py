#!/usr/bin/env python3
"""Shows a running program in a terminal: what is wrong, and the numbers of each object once a second.

The program has a sluice::LivePage. ADDRESS is what its address() returns: http://127.0.0.1:40123/, or unix:/path.
"""

import argparse
import http.client
import json
import os
import shutil
import socket
import sys
import time
import urllib.parse

SCHEMA = 1
CLEAR_LINE, CLEAR_BELOW, HOME = "\x1b[K", "\x1b[J", "\x1b[H"
ENTER, LEAVE = "\x1b[?1049h\x1b[?25l\x1b[?7l", "\x1b[?7h\x1b[?25h\x1b[?1049l"
BOLD, RED, YELLOW, GREEN, NORMAL = "\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[0m"
HEADS = ("name", "in/s", "out/s", "waiting", "room", "refused/s", "refused", "done", "mean wait", "busy")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def fetch(address, token):
    """The snapshot of the program; OSError or ValueError with one line."""
    timeout = 10
    if address.startswith("unix:") or address.startswith("/"):
        connection = UnixConnection(address.removeprefix("unix:"), timeout)
    else:
        parts = urllib.parse.urlsplit(address if "//" in address else f"//{address}")
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=timeout)
    try:
        connection.request("GET", "/snapshot", headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        text = answer.read(1 << 26).decode("utf-8", "replace")
    except http.client.HTTPException as error:
        raise ValueError(f"no answer that can be read: {error!r}") from error
    finally:
        connection.close()
    if answer.status != 200:
        raise ValueError(text.strip() or f"status {answer.status}")
    snapshot = json.loads(text)
    if snapshot.get("schema") != SCHEMA:
        raise ValueError(f"the program speaks version {snapshot.get('schema')} of the snapshot, this one reads {SCHEMA}")
    return snapshot


def total(readings, *families, reason=None):
    """None if the object has no such number."""
    values = [value for family, value, *_, why in readings if family in families and (reason is None or why == reason)]
    return sum(values) if values else None


class Shown:
    """One object in two snapshots."""

    def __init__(self, now, before, seconds):
        self.now, self.before, self.seconds = now, before, seconds

    def rate(self, *families, reason=None):
        now, before = (total(each, *families, reason=reason) for each in (self.now, self.before))
        return None if now is None or before is None or not self.seconds else max(0, now - before) / self.seconds

    def cpu(self):
        """Of the threads that both snapshots have: one that has ended takes its time away."""
        name = "sluice_thread_cpu_seconds"
        past = {of: value for family, value, of, *_ in self.before or () if family == name}
        grown = [max(0, value - past[of]) for family, value, of, *_ in self.now if family == name and of in past]
        return sum(grown) / self.seconds if self.seconds else None

    def cells(self):
        accepted = ("sluice_bus_published", "sluice_bus_queued", "sluice_events_enqueued", "sluice_log_logged")
        done = next(
            (f for f in ("sluice_bus_delivered", "sluice_object_handled", "sluice_events_processed", "sluice_log_written")
             if total(self.now, f) is not None), "")
        refused = ("sluice_bus_rejected", "sluice_object_rejected", "sluice_events_rejected", "sluice_log_rejected",
                   "sluice_pool_exhausted")
        waiting = ("sluice_bus_queued", "sluice_object_queued", "sluice_queue_length", "sluice_events_queued",
                   "sluice_log_queued", "sluice_pool_used")
        room = ("sluice_bus_room", "sluice_object_room", "sluice_queue_room", "sluice_pool_blocks")
        waited, count = self.rate("sluice_bus_queue_time_seconds"), self.rate("sluice_bus_timed")
        busy, cpu = self.rate("sluice_object_handler_seconds"), self.cpu()
        return (
            brief(self.rate(*accepted)), brief(self.rate(done)), brief(total(self.now, *waiting)), brief(total(self.now, *room)),
            brief(self.rate(*refused)), brief(total(self.now, *refused)), brief(total(self.now, done)),
            duration(waited / count) if count else "-", f"{min(100, busy / 1e7):.0f} %" if busy else f"{cpu / 1e7:.0f} %" if cpu else "-",
        )


def brief(number):
    if number is None:
        return "-"
    for size, unit in ((1e9, "G"), (1e6, "M")):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"


def duration(nanoseconds):
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.1f} {unit}"
    return f"{nanoseconds:.0f} ns"


def plain(text):
    """A text of the program, without what a terminal would obey."""
    return "".join(each if each.isprintable() else "?" for each in text)


def lines_of(now, before):
    """(text, style) of each line."""
    seconds = (now["at"] - before["at"]) / 1000
    past = {each["id"]: each["readings"] for each in before["objects"]}
    yield f"{plain(now['title'])}  process {plain(str(now['pid']))}, watched for {now['at'] // 1000} s", BOLD
    for finding in now["findings"]:
        yield f"! {plain(finding['object'])}: {plain(finding['text'])}", RED if finding["fault"] else YELLOW
    if not now["findings"]:
        yield "nothing is wrong", GREEN
    yield "", ""
    rows = [HEADS]
    for each in now["objects"]:
        shown = Shown(each["readings"], past.get(each["id"], []), seconds)
        rows.append((plain(each["name"])[:24], *shown.cells()))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, (name, *cells) in enumerate(rows):
        text = name.ljust(widths[0]) + "".join(f"  {cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        yield text, BOLD if number == 0 else ""


def frame_of(now, before, colours, size=None):
    lines = list(lines_of(now, before))
    if size:
        lines = [(text[: size.columns], style) for text, style in lines[: size.lines - 1]]
    styled = [f"{style}{text}{NORMAL}" if colours and style else text for text, style in lines]
    return "".join(line + (CLEAR_LINE if size else "") + "\n" for line in styled)


def run(options):
    write = sys.stdout.write
    before = fetch(options.address, options.token)
    if options.json:
        while True:
            write(json.dumps(before) + "\n")
            sys.stdout.flush()
            if options.once:
                return
            time.sleep(options.interval)
            before = fetch(options.address, options.token)
    is_terminal = sys.stdout.isatty() and not options.once
    write(ENTER if is_terminal else "")
    try:
        while True:
            time.sleep(options.interval)
            now = fetch(options.address, options.token)
            size = shutil.get_terminal_size() if is_terminal else None
            frame = frame_of(now, before, sys.stdout.isatty(), size)
            write(HOME + frame + CLEAR_BELOW if is_terminal else frame)
            sys.stdout.flush()
            if options.once:
                return
            before = now
    finally:
        write(LEAVE if is_terminal else "")


def main():
    parser = argparse.ArgumentParser(prog="sluice-top", description=__doc__)
    parser.add_argument("address", metavar="ADDRESS")
    parser.add_argument("--token", default=os.environ.get("SLUICE_TOKEN", ""), help="by default that of SLUICE_TOKEN")
    parser.add_argument("--json", action="store_true", help="print the snapshots, one a line")
    parser.add_argument("--once", action="store_true", help="print once and end")
    parser.add_argument("--interval", type=float, default=1.0, metavar="SECONDS")
    options = parser.parse_args()
    try:
        run(options)
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyError, TypeError, AttributeError, RecursionError):
        print(f"sluice-top: {options.address}: no snapshot that can be read", file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"sluice-top: {options.address}: {plain(str(error))}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
