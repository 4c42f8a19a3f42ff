"""`sluice-top` against a program, by its address and by its socket."""

import http.server
import json
import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from peer import peer

SNAPSHOT = {"schema": 1, "title": "t", "pid": 1, "at": 1000, "findings": [], "families": {}, "objects": [], "flows": []}
TOP = Path(__file__).resolve().parents[2] / "src/live/sluice_top.py"


def top(*arguments, code=0):
    done = subprocess.run([sys.executable, TOP, *arguments], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


@pytest.fixture(params=["address", "socket"])
def program(request, tmp_path):
    arguments = ["--unix", str(tmp_path / "live")] if request.param == "socket" else []
    with peer(*arguments) as program:
        yield program


def test_the_table_has_what_is_wrong_and_the_rates(program):
    program.command("flood")
    while True:  # until the flood fills the second between the two readings
        text = top(program.address, "--once")
        if "! mapper: low is refused" in text:
            break
    heads, control, mapper = (line.split() for line in text.splitlines()[-5:-2])
    assert heads[:3] == ["name", "in/s", "out/s"]
    assert (control[0], mapper[0]) == ("control", "mapper")
    assert float(control[2]) > 100
    assert "\x1b" not in text


def test_json_is_the_snapshot(program):
    counts = program.command("pause")
    while True:
        snapshot = json.loads(top(program.address, "--json", "--once"))
        control = next(each for each in snapshot["objects"] if each["name"] == "control")
        if sum(v for family, v, *_ in control["readings"] if family == "sluice_bus_delivered") == counts["delivered"]:
            break
    assert snapshot["schema"] == 1


def test_a_token():
    with peer("--token", "0123456789abcdef") as program:
        assert "a token is needed" in top(program.address, "--once", code=1)
        assert "control" in top(program.address, "--once", "--token", "0123456789abcdef")


@pytest.mark.parametrize(("body", "code"), [
    (dict(SNAPSHOT, pid="\x1b]0;owned\x07"), 0),
    ([1], 1),
    ({"schema": 1}, 1),
    (dict(SNAPSHOT, objects=[{"id": 1, "name": "x", "readings": [["sluice_bus_published", "9", "", "", ""]]}]), 1),
    ("[" * 200_000, 1),
])
def test_a_strange_server_is_one_line(body, code):
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write((body if isinstance(body, str) else json.dumps(body)).encode())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        text = top("--once", "--interval", "0.1", f"127.0.0.1:{server.server_port}", code=code)
        server.shutdown()
    assert "\x1b" not in text
    assert code == 0 or text.count("\n") == 1


def test_a_name_cannot_command_the_terminal():
    with peer("--title", "evil\x1b[2Jname") as program:
        assert "evil?[2Jname" in top(program.address, "--once")


def test_a_program_that_has_ended_is_one_line():
    with peer() as program:
        address = program.address
    for each in (address, "unix:/nowhere/live"):
        error = top(each, code=1)
        assert error.startswith(f"sluice-top: {each}: ")
        assert error.count("\n") == 1


def test_on_a_terminal_it_redraws_and_gives_the_screen_back(program):
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, TOP, program.address, "--interval", "0.1"], stdout=theirs, stderr=theirs) as shown:
        os.close(theirs)
        text = b""
        while text.count(b"\x1b[H") < 3:
            text += os.read(ours, 65536)
        shown.send_signal(2)
        while not text.endswith(b"\x1b[?1049l"):
            text += os.read(ours, 65536)
        assert shown.wait(60) == 0
    os.close(ours)
    assert b"control" in text
