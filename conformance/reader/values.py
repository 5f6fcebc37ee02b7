"""Game values: quantized words, rotations, records, schemas, property blocks (sections 6 to 9).

A value is a few integers on the wire and a few floats in the game. Both ends must get the same float bits from the
same integers, so the arithmetic below is done in doubles in the order that the standard writes it, and rounded to a
single once.
"""

import math
from dataclasses import dataclass

from cursors import Bits, Bytes, Refusal, as_text, bits_for, finite, read_name, to_f32

STANDARD, HIGH, WORLD, NONE = range(4)
POSITION_PER_UNIT = {STANDARD: 100, HIGH: 10000, WORLD: 1}
VELOCITY_PER_UNIT = {STANDARD: 100, HIGH: 10000, WORLD: 100}
SCALE_PER_UNIT = 32
WORD_BYTES = {STANDARD: 2, HIGH: 4, WORLD: 2}
ROTATION_COMPONENT_BITS = {STANDARD: 10, HIGH: 15, WORLD: 10}

HAS_POSITION, HAS_ROTATION, HAS_SCALE, HAS_PROPERTIES, HAS_VELOCITY = 1, 2, 4, 8, 16
IS_TELEPORT, SCALE_IS_RAW, POSITION_IS_RAW = 32, 64, 128


def full_packet_number(largest, low16):
    """Section 6.2: the nearest number to the next expected one, the larger of two that are equally near."""
    expected = min(largest + 1, 2**64 - 1)
    candidate = expected - expected % 65536 + low16
    if expected >= 32768 and candidate <= expected - 32768 and candidate <= 2**64 - 1 - 65536:
        return candidate + 65536
    if candidate >= 65536 and candidate - 32768 > expected:
        return candidate - 65536
    return candidate


def wrapping_distance(newer, older, bits):
    """Section 6.1: how far `newer` lies ahead of `older`, as a signed number."""
    distance = (newer - older) % (1 << bits)
    return distance - (1 << bits) if distance >= 1 << (bits - 1) else distance


def dequantize(word, per_unit):
    return to_f32(float(word) / float(per_unit))


@dataclass
class Triple:
    """x y z: words and the floats they stand for, or raw floats only."""

    words: list | None
    values: list


@dataclass
class Rotation:
    """A unit quaternion x y z w; `largest` and `steps` only if it came as smallest three."""

    largest: int | None
    steps: list | None
    quaternion: list


def element_bits(element):
    """How many bits an element of an array takes (section 9.4)."""
    if element["kind"] == "int":
        return bits_for(element["max"] - element["min"])
    if element["kind"] == "quantized":
        return bits_for(element["max_word"] - element["min_word"])
    return {"bool": 1, "f32": 32, "u64": 64, "name": 64}[element["kind"]]


class ByteForm:
    """How the parts of a value are read in the byte form of section 9.4."""

    def __init__(self, source):
        self.source = source
        self.flag = source.boolean
        self.f32 = source.f32

    def word(self, profile):
        size = WORD_BYTES[profile]
        word = self.source.signed(size)
        if word == -(1 << (8 * size - 1)):
            raise Refusal("OutOfRange")
        return word

    def scale_word(self):
        word = self.source.unsigned(1)
        if word == 0:
            raise Refusal("OutOfRange")
        return word

    def ranged(self, minimum, maximum):
        offset = self.source.varint()
        if offset > maximum - minimum:
            raise Refusal("OutOfRange")
        return minimum + offset

    def u64(self):
        return self.source.unsigned(8)

    def name(self):
        return read_name(self.source, with_text=False)[0]

    def rotation_code(self, component_bits):
        return self.source.unsigned(4 if component_bits == 10 else 6)

    def blob(self, limit):
        return self.source.blob(limit)

    def array(self, element, limit):
        """A count, then the elements in their bit form up to a byte border (section 9.6)."""
        count = self.source.varint()
        if count > limit:
            raise Refusal("TooLong")
        packed = Bits(self.source.take(-(-count * element_bits(element) // 8)))
        form = BitForm(packed)
        elements = [read_value(form, element) for _ in range(count)]
        packed.end()
        return elements


class BitForm:
    """The same parts in the bit form: nothing aligned, words as ranged numbers."""

    def __init__(self, source):
        self.source = source
        self.f32 = source.f32
        self.ranged = source.ranged

    def flag(self):
        return self.source.unsigned(1) == 1

    def word(self, profile):
        limit = (1 << (8 * WORD_BYTES[profile] - 1)) - 1
        return self.source.ranged(-limit, limit)

    def scale_word(self):
        return self.source.ranged(1, 255)

    def u64(self):
        return self.source.unsigned(64)

    name = u64

    def rotation_code(self, component_bits):
        return self.source.unsigned(2 + 3 * component_bits)

    def blob(self, limit):
        return self.source.octets(self.source.ranged(0, limit))

    def array(self, element, limit):
        return [read_value(self, element) for _ in range(self.source.ranged(0, limit))]


def raw_triple(form):
    values = [form.f32() for _ in range(3)]
    return Triple(None, [finite(value) for value in values])


def word_triple(form, profile, per_unit):
    words = [form.word(profile) for _ in range(3)]
    return Triple(words, [dequantize(word, per_unit) for word in words])


def read_position(form, profile, raw):
    if raw or profile == NONE:
        return raw_triple(form)
    return word_triple(form, profile, POSITION_PER_UNIT[profile])


def read_velocity(form, profile):
    if profile == NONE:
        return raw_triple(form)
    return word_triple(form, profile, VELOCITY_PER_UNIT[profile])


def read_scale(form, profile, raw):
    if raw or profile == NONE:
        return raw_triple(form)
    words = [form.scale_word() for _ in range(3)]
    return Triple(words, [dequantize(word, SCALE_PER_UNIT) for word in words])


def unpack_rotation(code, component_bits):
    """Smallest three (section 7.2): an index of two bits, three steps, the fourth component from the other three."""
    if code >> (2 + 3 * component_bits):
        raise Refusal("ReservedBits")
    half = 511 if component_bits == 10 else 16383
    largest = code & 3
    codes = [(code >> (2 + place * component_bits)) & (2 * half + 1) for place in range(3)]
    if 2 * half + 1 in codes:
        raise Refusal("OutOfRange")
    steps = [part - half for part in codes]
    rest = 2 * half * half - sum(step * step for step in steps)
    if rest < 0:
        raise Refusal("InvalidRotation")
    quaternion = [to_f32(float(step) * 0.7071067811865476 / float(half)) for step in steps]
    quaternion.insert(largest, to_f32(math.sqrt(float(rest) / float(2 * half * half))))
    return Rotation(largest, steps, quaternion)


def read_rotation(form, profile):
    if profile != NONE:
        component_bits = ROTATION_COMPONENT_BITS[profile]
        return unpack_rotation(form.rotation_code(component_bits), component_bits)
    quaternion = [form.f32() for _ in range(4)]
    x, y, z, w = (finite(component) for component in quaternion)
    if abs(x * x + y * y + z * z + w * w - 1.0) > 0.01:
        raise Refusal("InvalidRotation")
    return Rotation(None, None, quaternion)


def read_origin(source):
    """A sector origin (section 7.4): metres and version."""
    metres = [source.f64() for _ in range(3)]
    version = source.unsigned(1)
    if version > 63:
        raise Refusal("ReservedBits")
    if not all(abs(metre) <= 1e12 for metre in metres):
        raise Refusal("OutOfRange")
    return metres, version


def check_record_flags(mask, profile, origin_version):
    contradictions = [
        mask & (IS_TELEPORT | POSITION_IS_RAW) and not mask & HAS_POSITION,
        mask & SCALE_IS_RAW and not mask & HAS_SCALE,
        mask & (SCALE_IS_RAW | POSITION_IS_RAW) and profile == NONE,
        origin_version != 0 and profile in (WORLD, NONE),
    ]
    if any(contradictions):
        raise Refusal("InvalidFlags")


def read_record(source):
    """A full record (section 8) as a dictionary; what the mask leaves out is None."""
    head = Bytes(source.take(6))
    record = {"slot": head.unsigned(2), "generation": head.unsigned(1)}
    mask, place = head.unsigned(1), head.unsigned(1)
    profile = place & 3
    record |= {"profile": profile, "origin_version": place >> 2, "sequence": head.unsigned(1)}
    check_record_flags(mask, profile, place >> 2)
    form = ByteForm(source)
    record["teleport"] = bool(mask & IS_TELEPORT)
    readers = [
        ("position", HAS_POSITION, lambda: read_position(form, profile, mask & POSITION_IS_RAW)),
        ("rotation", HAS_ROTATION, lambda: read_rotation(form, profile)),
        ("scale", HAS_SCALE, lambda: read_scale(form, profile, mask & SCALE_IS_RAW)),
        ("properties", HAS_PROPERTIES, lambda: source.blob(1024)),
        ("velocity", HAS_VELOCITY, lambda: read_velocity(form, profile)),
    ]
    for name, bit, read in readers:
        record[name] = read() if mask & bit else None
    return record


def read_value(form, field):
    """One value of a schema's field, in whichever form (section 9.4)."""
    kind = field["kind"]
    if kind == "bool":
        return form.flag()
    if kind == "int":
        return form.ranged(field["min"], field["max"])
    if kind == "quantized":
        return form.ranged(field["min_word"], field["max_word"])
    if kind == "f32":
        return finite(form.f32())
    if kind == "u64":
        return form.u64()
    if kind == "name":
        return form.name()
    if kind == "text":
        return as_text(form.blob(field["bytes_max"]))
    if kind == "bytes":
        return form.blob(field["bytes_max"])
    if kind == "array":
        return form.array(field["element"], field["count_max"])
    profile = field["profile"]
    if kind == "velocity":
        return read_velocity(form, profile)
    if kind == "rotation":
        return read_rotation(form, profile)
    raw = profile != NONE and form.flag()
    return read_position(form, profile, raw) if kind == "position" else read_scale(form, profile, raw)


def read_property_block(source, fields):
    """Index and value of each property (section 9.5); the block ends where the source does."""
    count = source.varint()
    if count > len(fields):
        raise Refusal("TooLong")
    properties, previous = [], -1
    for _ in range(count):
        index = source.varint()
        if index >= len(fields) or index <= previous:
            raise Refusal("InvalidField")
        properties.append((index, read_value(ByteForm(source), fields[index])))
        previous = index
    source.end()
    return properties
