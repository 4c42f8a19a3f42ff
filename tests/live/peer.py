"""The program that the tests look at: tests/live/live_peer.cpp."""

import contextlib
import json
import os
import subprocess


class Peer:
    def __init__(self, process):
        self.process = process
        self.address = process.stdout.readline().strip()

    def command(self, text):
        """The counts of the bus after a command."""
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@contextlib.contextmanager
def peer(*arguments):
    command = [os.environ["SLUICE_LIVE_PEER"], *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Peer(process)
        finally:
            process.stdin.close()
            process.wait(60)
