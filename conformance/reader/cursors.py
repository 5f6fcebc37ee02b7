"""Bytes, bits and hashes (sections 1 to 5 of the standard).

Wire input ends early, runs on, or holds numbers that no sender may write. Both cursors below take values from the
front and raise `Refusal` with the standard's name of the reason, so that callers never look at a length themselves.

    Bytes   octets, little-endian integers, varints, blobs
    Bits    bit 0 of byte 0 first; a value's low bits first
"""

import math
import struct


class Refusal(Exception):
    """An input that a receiver must refuse, with the reason that the standard gives it."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


def bits_for(maximum):
    """How many bits the number has in binary: 0 for 0 (section 1)."""
    return maximum.bit_length()


def finite(value):
    """The float itself, or `NonFinite`."""
    if not math.isfinite(value):
        raise Refusal("NonFinite")
    return value


def to_f32(value):
    """Rounds a double to the nearest single."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


class Bytes:
    """A cursor over octets (section 4)."""

    def __init__(self, data):
        self.data = bytes(data)
        self.at = 0

    def left(self):
        return len(self.data) - self.at

    def take(self, count):
        if self.left() < count:
            raise Refusal("UnexpectedEnd")
        self.at += count
        return self.data[self.at - count : self.at]

    def unsigned(self, count):
        return int.from_bytes(self.take(count), "little")

    def signed(self, count):
        return int.from_bytes(self.take(count), "little", signed=True)

    def f32(self):
        return struct.unpack("<f", self.take(4))[0]

    def f64(self):
        return struct.unpack("<d", self.take(8))[0]

    def boolean(self):
        value = self.unsigned(1)
        if value > 1:
            raise Refusal("InvalidBool")
        return value == 1

    def varint(self):
        """Seven bits a byte, low bits first, the shortest form only (section 2)."""
        value, shift = 0, 0
        while True:
            byte = self.unsigned(1)
            if (shift == 63 and byte > 1) or (shift > 0 and byte == 0):
                raise Refusal("InvalidVarint")
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def blob(self, limit):
        length = self.varint()
        if length > limit:
            raise Refusal("TooLong")
        return self.take(length)

    def string(self, limit):
        return as_text(self.blob(limit))

    def end(self):
        if self.left() > 0:
            raise Refusal("TrailingData")


class Bits:
    """A cursor over bits (section 3)."""

    def __init__(self, data):
        self.number = int.from_bytes(data, "little")
        self.count = 8 * len(data)
        self.at = 0

    def left(self):
        return self.count - self.at

    def peek_bit(self, ahead):
        """A bit further on, zero beyond the end: what a code lookup sees (section 10)."""
        return (self.number >> (self.at + ahead)) & 1

    def unsigned(self, count):
        if self.left() < count:
            raise Refusal("UnexpectedEnd")
        value = (self.number >> self.at) & ((1 << count) - 1)
        self.at += count
        return value

    def signed(self, count):
        value = self.unsigned(count)
        return value - (1 << count) if count > 0 and value >> (count - 1) else value

    def ranged(self, minimum, maximum):
        offset = self.unsigned(bits_for(maximum - minimum))
        if offset > maximum - minimum:
            raise Refusal("OutOfRange")
        return minimum + offset

    def octets(self, count):
        return self.unsigned(8 * count).to_bytes(count, "little")

    def f32(self):
        return struct.unpack("<f", self.octets(4))[0]

    def align(self):
        if self.unsigned(-self.at % 8) != 0:
            raise Refusal("ReservedBits")

    def end(self):
        if self.left() >= 8:
            raise Refusal("TrailingData")
        self.align()


def as_text(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal("InvalidUtf8") from None


def fnv1a_64(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x00000100000001B3) % 2**64
    return value


def fnv1a_32(data):
    value = 0x811C9DC5
    for byte in data:
        value = ((value ^ byte) * 0x01000193) % 2**32
    return value


def read_name(source, with_text):
    """A name's hash, and its text if the sender sent one (section 5.2)."""
    name = source.unsigned(8)
    text = source.string(255) if with_text else ""
    if text and fnv1a_64(text.encode()) != name:
        raise Refusal("NameMismatch")
    return name, text or None
