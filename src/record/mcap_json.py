#!/usr/bin/env python3
"""Copies a recording with its messages as JSON, which Foxglove shows.

mcap_json.py RECORDING COPY: needs the packages mcap and msgpack of PyPI. A recording that is cut is copied up to there.
"""

import json
import math
import struct
import sys

import msgpack
from mcap.exceptions import EndOfFile
from mcap.reader import NonSeekingReader
from mcap.writer import Writer


def finite(value):
    """JSON has no infinity and no NaN."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def copy(source, target):
    with open(source, "rb") as stream, open(target, "xb") as out:
        writer = Writer(out)
        writer.start()
        channels = {}
        try:
            for schema, channel, message in NonSeekingReader(stream).iter_messages(log_time_order=False):
                if channel.id not in channels:
                    number = writer.register_schema(schema.name, schema.encoding, schema.data)
                    channels[channel.id] = writer.register_channel(channel.topic, "json", number, channel.metadata)
                text = json.dumps(finite(msgpack.unpackb(message.data)), allow_nan=False)
                writer.add_message(
                    channels[channel.id], message.log_time, text.encode(), message.publish_time, message.sequence
                )
        except (EndOfFile, struct.error):
            print(f"{source} is cut", file=sys.stderr)
        writer.finish()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    copy(sys.argv[1], sys.argv[2])
