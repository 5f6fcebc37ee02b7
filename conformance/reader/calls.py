"""Calls by name: their frames, the table of names, and arguments (sections 57 to 60)."""

import struct

from cursors import Bytes, Refusal, fnv1a_64
from sessions import alias, refuse_unless

ARGUMENTS_MAX = 16_384
DEPTH_MAX = 16
VALUES_MAX = 4_096
PAGE_BYTES_MAX = 1_024
NAMES_MAX = 4_096
ENTRY_BYTES = 11
PAGE_ENTRIES_MAX = 92
OWNER, PLAYER, GROUP, INTERESTED = 3, 4, 5, 6
OBJECT_EXTENSION = 1
NOBODY = 0xFFFFFFFF


def read_frame(source, is_client):
    found = {"id": source.unsigned(2)}
    flags = source.unsigned(1)
    refuse_unless(flags & (0xE0 if is_client else 0xE7) == 0, "ReservedBits")
    found |= read_target(source, flags) if is_client else {"caller": source.unsigned(4)}
    found["object"] = alias(source) if flags & 8 else None
    found["tick"] = source.unsigned(4) if flags & 16 else None
    arguments = source.take(source.left())
    refuse_unless(len(arguments) <= ARGUMENTS_MAX, "TooLong")
    return found | {"arguments": arguments.hex()}


def read_target(source, flags):
    target = flags & 7
    refuse_unless(target != 7)
    player = source.unsigned(4) if target == PLAYER else None
    refuse_unless(player != 0)
    group = str(source.unsigned(8)) if target == GROUP else None
    refuse_unless(target not in (OWNER, INTERESTED) or flags & 8, "InvalidFlags")
    return {"target": target, "player": player, "group": group}


def options_byte(call):
    return call["callers"] | call["delivery"] << 2 | call["at_view_time"] << 4 | call["forwarded"] << 5


def table_hash(calls):
    """Over all calls in the order of ids."""
    data = bytearray()
    for call in calls:
        name = call["name"].encode()
        data += bytes([len(name)]) + name + bytes([options_byte(call)]) + call["bytes_max"].to_bytes(2, "little")
    return fnv1a_64(data)


def table_pages(calls):
    """What a server with these calls, in the order of ids, sends."""
    for first in range(0, max(len(calls), 1), PAGE_ENTRIES_MAX):
        page = struct.pack("<HH", len(calls), first)
        for call in calls[first : first + PAGE_ENTRIES_MAX]:
            page += struct.pack("<QBH", fnv1a_64(call["name"].encode()), options_byte(call), call["bytes_max"])
        yield page


class NameList:
    """A server's list, as far as it has arrived."""

    def __init__(self):
        self.count = None
        self.entries = []

    def receive(self, data):
        source = Bytes(data)
        count = source.unsigned(2)
        refuse_unless(len(data) <= PAGE_BYTES_MAX and count <= NAMES_MAX, "TooLong")
        refuse_unless(self.count in (None, count))
        first = source.unsigned(2)
        refuse_unless(first == len(self.entries), "OutOfOrder")
        missing = count - first
        refuse_unless(source.left() <= missing * ENTRY_BYTES, "TrailingData")
        refuse_unless(missing == 0 or source.left() > 0, "UnexpectedEnd")
        entries = []
        while source.left() > 0:
            entries.append(read_entry(source))
        self.count = count
        self.entries += entries
        return {"count": count, "first": first, "entries": entries, "last": len(self.entries) == count}


def read_entry(source):
    name, options, limit = source.unsigned(8), source.unsigned(1), source.unsigned(2)
    callers, delivery = options & 3, options >> 2 & 3
    refuse_unless(options >> 6 == 0 and callers <= 2 and delivery <= 2 and 1 <= limit <= ARGUMENTS_MAX)
    shown = {"hash": str(name), "callers": callers, "delivery": delivery, "bytes_max": limit}
    return shown | {"at_view_time": bool(options >> 4 & 1), "forwarded": bool(options >> 5 & 1)}


class Arguments:
    """One MessagePack value within all limits, read value by value."""

    def __init__(self, data):
        refuse_unless(len(data) <= ARGUMENTS_MAX, "TooLong")
        self.source = Bytes(data)
        self.values = 0

    def read(self):
        value = self.value(0, False)
        self.source.end()
        refuse_unless("list" in value, "NotAList")
        return value["list"]

    def value(self, depth, is_key):
        found = self.token()
        self.values += 1
        refuse_unless(self.values <= VALUES_MAX, "TooManyElements")
        refuse_unless(not is_key or "text" in found, "KeyIsNoText")
        ((kind, count),) = found.items()
        if kind not in ("list", "map"):
            return found
        refuse_unless(count * (1 if kind == "list" else 2) <= self.source.left(), "UnexpectedEnd")
        refuse_unless(depth < DEPTH_MAX, "TooDeep")
        if kind == "list":
            return {"list": [self.value(depth + 1, False) for _ in range(count)]}
        return {"map": [[self.value(depth + 1, True)["text"], self.value(depth + 1, False)] for _ in range(count)]}

    def big(self, count, signed=False):
        return int.from_bytes(self.source.take(count), "big", signed=signed)

    def token(self):
        """A value, of lists and maps only how many are inside."""
        first = self.source.unsigned(1)
        if first < 0x80 or first >= 0xE0:
            return {"int": str(first if first < 0x80 else first - 256)}
        if first < 0x90:
            return {"map": first & 15}
        if first < 0xA0:
            return {"list": first & 15}
        if first < 0xC0:
            return {"text": self.text(first & 31)}
        return self.long_token(first)

    def long_token(self, first):
        match first:
            case 0xC0:
                return {"nil": None}
            case 0xC2 | 0xC3:
                return {"bool": first == 0xC3}
            case 0xC4 | 0xC5 | 0xC6:
                return {"bytes": self.source.take(self.big(1 << first - 0xC4)).hex()}
            case 0xCA | 0xCB:
                width = 4 << first - 0xCA
                return {f"f{8 * width}": self.source.take(width).hex()}
            case 0xCC | 0xCD | 0xCE | 0xCF:
                return {"int": str(self.big(1 << first - 0xCC))}
            case 0xD0 | 0xD1 | 0xD2 | 0xD3:
                return {"int": str(self.big(1 << first - 0xD0, signed=True))}
            case 0xD6:
                return self.object()
            case 0xD9 | 0xDA | 0xDB:
                return {"text": self.text(self.big(1 << first - 0xD9))}
            case 0xDC | 0xDD:
                return {"list": self.big(2 << first - 0xDC)}
            case 0xDE | 0xDF:
                return {"map": self.big(2 << first - 0xDE)}
        raise Refusal("UnknownType")

    def text(self, length):
        try:
            return self.source.take(length).decode("utf-8")
        except UnicodeDecodeError:
            raise Refusal("InvalidUtf8") from None

    def object(self):
        refuse_unless(self.source.unsigned(1) == OBJECT_EXTENSION, "UnknownType")
        number = self.source.unsigned(4)
        if number == NOBODY:
            return {"object": None}
        refuse_unless(number < 2**24, "InvalidObject")
        return {"object": {"slot": number % 65_536, "generation": number // 65_536}}
