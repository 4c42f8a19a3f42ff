"""Reads and writes MCAP files by the official package, for the tests.

mcap_files.py check FILE COUNT: FILE has COUNT readings, whole in each part.
mcap_files.py write FILE COUNT zstd|none [unchunked]: writes COUNT readings, later ones first in each chunk.
"""

import json
import sys

import jsonschema
import msgpack
from mcap.reader import NonSeekingReader, make_reader
from mcap.writer import CompressionType, Writer


def check(path, count):
    with open(path, "rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        summary = reader.get_summary()
        messages = list(reader.iter_messages())
        stream.seek(0)
        linear = list(NonSeekingReader(stream, validate_crcs=True).iter_messages())
        stream.seek(0)
        late = list(make_reader(stream).iter_messages(starting_at=messages[-1][2].log_time))
    assert len(messages) == len(linear) == count, (len(messages), len(linear))
    assert late and late[-1][2].data == messages[-1][2].data
    statistics = summary.statistics
    assert statistics.message_count == count == sum(statistics.channel_message_counts.values())
    assert statistics.chunk_count == len(summary.chunk_indexes) > (messages[0][1].message_encoding == "msgpack")
    assert statistics.message_start_time == messages[0][2].log_time
    assert statistics.message_end_time == messages[-1][2].log_time
    for index in summary.chunk_indexes:
        assert index.message_index_length > 0 and index.message_index_offsets
    for number, (schema, channel, message) in enumerate(messages):
        assert (schema.name, schema.encoding, channel.topic) == ("Reading", "jsonschema", "bus/Reading")
        assert channel.metadata["priority"] == "medium" and message.sequence == number
        isJson = channel.message_encoding == "json"
        reading = json.loads(message.data) if isJson else msgpack.unpackb(message.data)
        jsonschema.validate(reading, json.loads(schema.data))
        expected = {"sensor": number, "celsius": number * 0.5, "place": f"place {number}", "samples": [-1, number]}
        assert reading == expected and list(reading) == list(expected), reading
        assert message.publish_time <= message.log_time + 1_000_000_000


def write(path, count, compression, *flags):
    with open(path, "wb") as stream:
        method = {"zstd": CompressionType.ZSTD, "none": CompressionType.NONE}[compression]
        writer = Writer(stream, chunk_size=600, compression=method, use_chunking="unchunked" not in flags)
        writer.start()
        schema = writer.register_schema("Reading", "jsonschema", b'{"type":"object"}')
        channel = writer.register_channel("theirs", "msgpack", schema)
        for number in range(count):
            reading = {"place": "\u00e9", "sensor": number, "more": [[1], {"x": 2}]}
            writer.add_message(channel, 1000 + number, msgpack.packb(reading), 1000 + number, number)
        writer.finish()


if __name__ == "__main__":
    {"check": check, "write": write}[sys.argv[1]](sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
