"""mcap_check.py - a small reader of MCAP, written by the specification, that checks every CRC and index.

    file = mcap_check.read(path)    messages in the order of the file, schemas, channels, metadata, attachments
"""
import dataclasses
import struct
import zlib

MAGIC = b"\x89MCAP0\r\n"


@dataclasses.dataclass
class Message:
    topic: str
    schema: str
    encoding: str
    channel_metadata: dict
    sequence: int
    log_ns: int
    publish_ns: int
    data: bytes


@dataclasses.dataclass
class File:
    messages: list = dataclasses.field(default_factory=list)
    schemas: dict = dataclasses.field(default_factory=dict)
    channels: dict = dataclasses.field(default_factory=dict)
    metadata: dict = dataclasses.field(default_factory=dict)
    attachments: dict = dataclasses.field(default_factory=dict)
    chunks: list = dataclasses.field(default_factory=list)
    whole: bool = False


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def bytes(self, n):
        assert self.at + n <= len(self.data), "a record is too short"
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, n):
        return int.from_bytes(self.bytes(n), "little")

    def text(self):
        return self.bytes(self.number(4)).decode()

    def pairs(self):
        end = self.number(4) + self.at
        found = {}
        while self.at < end:
            key = self.text()
            found[key] = self.text()
        return found


def records(data, at):
    while at + 9 <= len(data):
        n = int.from_bytes(data[at + 1:at + 9], "little")
        if at + 9 + n > len(data):
            return
        yield data[at], data[at + 9:at + 9 + n], at
        at += 9 + n


def add_record(file, opcode, body):
    c = Cursor(body)
    if opcode == 0x03:
        number = c.number(2)
        file.schemas[number] = (c.text(), c.text(), c.bytes(c.number(4)).decode())
    elif opcode == 0x04:
        number = c.number(2)
        file.channels[number] = (c.number(2), c.text(), c.text(), c.pairs())
    elif opcode == 0x05:
        schema, topic, encoding, metadata = file.channels[c.number(2)]
        name = file.schemas[schema][0] if schema else ""
        sequence, log_ns, publish_ns = c.number(4), c.number(8), c.number(8)
        file.messages.append(Message(topic, name, encoding, metadata, sequence, log_ns, publish_ns, body[c.at:]))


def add_chunk(file, body):
    c = Cursor(body)
    first, last, size, crc, compression = c.number(8), c.number(8), c.number(8), c.number(4), c.text()
    data = c.bytes(c.number(8))
    assert compression == "" and len(data) == size and zlib.crc32(data) == crc, "CRC of a chunk"
    before = len(file.messages)
    places = {}
    for opcode, inner, at in records(data, 0):
        if opcode == 0x05:
            places.setdefault(int.from_bytes(inner[:2], "little"), []).append(
                (struct.unpack_from("<Q", inner, 6)[0], at))
        add_record(file, opcode, inner)
    times = [m.log_ns for m in file.messages[before:]]
    assert (min(times), max(times)) == (first, last), "times of a chunk"
    file.chunks.append({"places": places, "indexed": {}})


def check_summary(data, summary, footer_at, file):
    seen = {}
    for opcode, body, at in records(data, summary):
        if at >= footer_at:
            break
        seen.setdefault(opcode, []).append((body, at))
        c = Cursor(body)
        if opcode == 0x0B:
            counts = {}
            n, schemas, channels, attachments, metadata, chunks = (c.number(k) for k in (8, 2, 4, 4, 4, 4))
            c.number(16)
            for _ in range(c.number(4) // 10):
                channel = c.number(2)
                counts[channel] = c.number(8)
            assert (n, schemas, channels, attachments, metadata, chunks) == (
                len(file.messages), len(file.schemas), len(file.channels), len(file.attachments), len(file.metadata),
                len(file.chunks)), "statistics"
            assert sum(counts.values()) == n
        elif opcode == 0x0E:
            group, start, length = c.number(1), c.number(8), c.number(8)
            assert data[start] == group, "summary offset"
            first, last = seen[group][0][1], seen[group][-1]
            assert start == first and start + length == last[1] + 9 + len(last[0])
        elif opcode == 0x08:
            c.number(16)
            start, length = c.number(8), c.number(8)
            assert data[start] == 0x06 and struct.unpack_from("<Q", data, start + 1)[0] + 9 == length, "chunk index"


def read(path):
    data = open(path, "rb").read()
    assert data.startswith(MAGIC), "no MCAP"
    file = File()
    for opcode, body, at in records(data, 8):
        c = Cursor(body)
        if opcode == 0x06:
            add_chunk(file, body)
        elif opcode == 0x07:
            channel = c.number(2)
            count = c.number(4) // 16
            file.chunks[-1]["indexed"][channel] = [(c.number(8), c.number(8)) for _ in range(count)]
        elif opcode == 0x0C:
            name = c.text()
            file.metadata[name] = c.pairs()
        elif opcode == 0x09:
            c.number(16)
            name, media_type = c.text(), c.text()
            file.attachments[name] = (media_type, c.bytes(c.number(8)))
            assert zlib.crc32(body[:c.at]) == c.number(4), "CRC of an attachment"
        elif opcode == 0x0F:
            assert zlib.crc32(data[:at]) == c.number(4), "CRC of the data"
            summary = at + 9 + len(body)
        elif opcode == 0x02:
            start, offsets, crc = c.number(8), c.number(8), c.number(4)
            assert start == summary and data[offsets] == 0x0E
            assert zlib.crc32(data[start:at + 9 + 16]) == crc, "CRC of the summary"
            assert data[at + 9 + len(body):] == MAGIC
            check_summary(data, start, at, file)
            file.whole = True
            break
        elif opcode in (0x03, 0x04, 0x05):
            if not file.whole and "summary" not in locals():
                add_record(file, opcode, body)
    for chunk in file.chunks:
        assert not file.whole or chunk["places"] == chunk["indexed"], "index of messages"
    return file
