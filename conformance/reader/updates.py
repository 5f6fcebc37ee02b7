"""What changed of one object (section 46).

Both sides hold the object's words at one or two earlier ticks. The bits say what changed, how it is predicted, and how
far the prediction was off:

    symbol | position | rotation | other fields

Everything here is integers. `near` is the only rounding: to nearest, ties up.
"""

import math
import re
import struct
from dataclasses import dataclass

from classes import field_words, others_of, visible_fields
from cursors import Refusal, bits_for, fnv1a_32
from deltas import CodeTable, read_changed_mask, read_residual
from values import NONE, BitForm, read_value

# Of each group the tables, the symbols, and the longest code.
GROUPS = {
    "residual": (1, 18, 12),
    "run": (1, 17, 12),
    "mask": (1, 6, 12),
    "symbol": (5, 71, 12),
    "triple": (25, 142, 10),
    "lead": (12, 16, 9),
    "others": (11, 26, 9),
}
GENERIC_ID = 0x794194CA
WORD_MIN, WORD_MAX = -(2**31), 2**31 - 1
JUMPED = 70
OTHERS_FOLLOW = 35
AGE_MAX = 1023
POSITION_LIMIT = {0: 32767, 1: 2147483647, 2: 32767}

SAME, PREDICTED, FROM_NEWER, FROM_LINE, PLACE_IN_FULL = range(5)
FROM_NEWER_DROPPING, FROM_ARC, FROM_ARC_DROPPING, TURN_IN_FULL = 3, 4, 5, 6


class Codes:
    """A set of code tables (section 46.1)."""

    def __init__(self, data):
        self.name, layout, packed = self.header(data)
        halves = [half for byte in packed for half in (byte & 15, byte >> 4)]
        self.tables, at = {}, 0
        count = sum(tables * symbols for tables, symbols, _ in GROUPS.values())
        if len(packed) != (count + 1) // 2:
            raise Refusal("Length")
        self.id = fnv1a_32(layout + packed)
        if self.id.to_bytes(4, "little") != data[14 + len(self.name) - 4 : 14 + len(self.name)]:
            raise Refusal("Id")
        if any(halves[count:]):
            raise Refusal("Padding")
        for name, (tables, symbols, bits_max) in GROUPS.items():
            self.tables[name] = []
            for _ in range(tables):
                lengths, at = halves[at : at + symbols], at + symbols
                if max(lengths) > bits_max:
                    raise Refusal("CodeLength")
                self.tables[name].append(CodeTable(lengths))

    @staticmethod
    def header(data):
        """The name, the layout, and what follows the id."""
        if data[:4] != b"NLCT":
            raise Refusal("Magic")
        if len(data) < 6:
            raise Refusal("Length")
        if data[4] != 1:
            raise Refusal("Version")
        end = 6 + data[5]
        name = data[6:end].decode("latin-1")
        if len(data) < end:
            raise Refusal("Length")
        if not re.fullmatch("[a-z0-9_-]{1,32}", name):
            raise Refusal("Name")
        layout = data[end : end + 4]
        if len(layout) < 4:
            raise Refusal("Length")
        described = b"".join(
            group.encode() + bytes([0]) + struct.pack("<HHB", *sizes) for group, sizes in GROUPS.items()
        )
        if layout != fnv1a_32(described).to_bytes(4, "little"):
            raise Refusal("Layout")
        return name, layout, data[end + 8 :]

    @property
    def wire(self):
        return {name: self.tables[name][0] for name in ("residual", "run", "mask")}

    def read(self, name, table, bits):
        return self.tables[name][table].read(bits)


def signed(value, count):
    value &= (1 << count) - 1
    return value - (1 << count) if value >> (count - 1) else value


def cut(value):
    """A number modulo 2^32, as a word."""
    return signed(value, 32)


def near(value, count):
    return (value + (1 << (count - 1))) >> count


def fold(difference):
    return difference if difference >= 0 else -1 - difference


@dataclass
class Line:
    """The ages of two baselines, and what follows from them."""

    ahead: int
    behind: int

    def ratio(self, count):
        return (self.ahead << count) // self.behind

    @property
    def squares(self):
        return bits_for((2**14 * self.ahead**2) // self.behind**2 + 1) - 15

    @property
    def inwards(self):
        return 128 * self.ahead * (self.ahead + self.behind) // self.behind**2

    @property
    def backwards(self):
        return 128 * self.ahead * (self.ahead**2 - self.behind**2) // (3 * self.behind**3)

    @property
    def bend_max(self):
        return 2**14 if self.ahead <= self.behind else 2**14 * self.behind**2 // self.ahead**2


def line_between(newer_age, older_age):
    behind = older_age - newer_age
    usable = behind > 0 and older_age <= AGE_MAX and newer_age <= 4 * behind
    return Line(newer_age, behind) if usable else None


def read_triple(codes, bits, level, from_line=False):
    """Three differences (section 46.3); `level` is None if nothing is expected."""
    table = 24 if level is None else min(level, 11) + (12 if from_line else 0)
    symbol = codes.read("triple", table, bits)
    if symbol < 64:
        return [signed(symbol >> place, 2) for place in (0, 2, 4)]
    if symbol == 141:
        count, mask = bits.unsigned(5) + 1, 7
    else:
        count, mask = 3 + (symbol - 64) // 7, 1 + (symbol - 64) % 7
    return [bits.signed(count) if mask >> axis & 1 else 0 for axis in range(3)]


def read_position(codes, bits, place, profile, newer, older, line):
    """Section 46.4; `newer` and `older` are four words each."""
    if profile == NONE or newer[3]:
        raise Refusal("InvalidCode")
    if older is None or older[3]:
        line = None
    level, predicted = None, None
    if line:
        rises = [cut(a - b) for a, b in zip(newer[:3], older[:3])]
        steps = [cut((rise * line.ratio(11) + 1024) // 2048) for rise in rises]
        level = max(bits_for(fold(step)) for step in steps)
        predicted = [cut(a + step) for a, step in zip(newer[:3], steps)]
    if place != FROM_NEWER and predicted is None:
        raise Refusal("InvalidCode")
    base = newer[:3] if place == FROM_NEWER else predicted
    differences = [0, 0, 0] if place == PREDICTED else read_triple(codes, bits, level, place == FROM_LINE)
    words = [cut(a + b) for a, b in zip(base, differences)]
    if any(abs(word) > POSITION_LIMIT[profile] for word in words):
        raise Refusal("OutOfRange")
    return [*words, 0]


@dataclass
class Unit:
    """What depends on the bits of a component (section 46.5)."""

    half: int
    chord_cut: int
    chord_factor: int
    weight: int
    reciprocal: int
    slope: int

    @property
    def one(self):
        return 2 * self.half**2


TEN = Unit(511, 7, 514, 10, 22, 10)
FIFTEEN = Unit(16383, 17, 512, 13, 30, 12)


def whole_quaternion(words, unit):
    dropped, *steps = words
    rest = unit.one - sum(step * step for step in steps)
    root = math.isqrt(rest)
    steps.insert(dropped, root + 1 if rest - root * root > root else root)
    return steps


def steps_of(quaternion, dropped):
    return [step for place, step in enumerate(quaternion) if place != dropped]


def follow_arc(newer, older, line, unit):
    """The predicted quaternion, and the level of the turn."""
    if sum(a * b for a, b in zip(newer, older)) < 0:
        older = [-step for step in older]
    rise = [a - b for a, b in zip(newer, older)]
    chord = sum(step * step for step in rise)
    bend = min(near(near(chord, unit.chord_cut) * unit.chord_factor, 8), line.bend_max)
    inner = near(line.inwards * bend, 21 - unit.weight)
    outer = line.ratio(unit.weight) - near(line.backwards * bend, 21 - unit.weight)
    predicted = [a + near(step * outer - a * inner, unit.weight) for a, step in zip(newer, rise)]
    return predicted, max(bits_for(chord) + line.squares + 2, 0) // 2


def read_by_lead(codes, bits, level, newer, predicted, unit):
    """Differences of three steps of which the lead says most."""
    ways = [ahead - now for ahead, now in zip(predicted, newer)]
    sizes = [abs(way) for way in ways]
    lead = sizes.index(max(sizes))
    others = [place for place in range(3) if place != lead]
    size = max(sizes[lead], 1)
    reciprocal = (2 ** (unit.reciprocal + 1) + size) // (2 * size)
    reciprocal = -reciprocal if ways[lead] < 0 else reciprocal
    symbol = codes.read("lead", min(level, 11), bits)
    count = max(symbol - 1, 0)
    value = bits.unsigned(count)
    led = [0, -1][symbol] if symbol < 2 else value if value >> (count - 1) else value - (1 << count)
    symbol = codes.read("others", min(count, 10), bits)
    if symbol < 16:
        left = [signed(symbol, 2), signed(symbol >> 2, 2)]
    else:
        left = [bits.signed(symbol - 13) for _ in range(2)]
    differences = [0, 0, 0]
    differences[lead] = led
    for place, rest in zip(others, left):
        slope = near(ways[place] * reciprocal, unit.reciprocal - unit.slope)
        differences[place] = rest + near(led * slope, unit.slope)
    return differences


def read_rotation(codes, bits, turn, profile, newer, older, line):
    """Section 46.5; `newer` and `older` are four words each."""
    if profile == NONE:
        raise Refusal("InvalidCode")
    unit = FIFTEEN if profile == 1 else TEN
    dropped = bits.unsigned(2) if turn in (FROM_NEWER_DROPPING, FROM_ARC_DROPPING) else newer[0]
    quaternion, level, predicted = whole_quaternion(newer, unit), None, None
    if line:
        predicted, level = follow_arc(quaternion, whole_quaternion(older, unit), line, unit)
    flips = (predicted or quaternion)[dropped] < 0
    turned = lambda components: [-step if flips else step for step in steps_of(components, dropped)]
    if turn in (FROM_NEWER, FROM_NEWER_DROPPING):
        base, differences = turned(quaternion), read_triple(codes, bits, level)
    elif predicted is None:
        raise Refusal("InvalidCode")
    else:
        base, differences = turned(predicted), [0, 0, 0]
        if turn != PREDICTED:
            differences = read_by_lead(codes, bits, level, turned(quaternion), base, unit)
    steps = [a + b for a, b in zip(base, differences)]
    if any(abs(step) > unit.half for step in steps) or sum(step * step for step in steps) > unit.one:
        raise Refusal("InvalidRotation")
    return [dropped, *steps]


def read_other(codes, bits, field, words):
    """One field beside the transform (section 46.6): its words, and its content if it has one."""
    kind, table = field["kind"], codes.wire["residual"]
    if kind == "int":
        return [read_residual(bits, table, field["min"], field["max"], words[0])], None
    if kind == "quantized":
        return [read_residual(bits, table, field["min_word"], field["max_word"], words[0])], None
    if kind in ("text", "bytes", "array"):
        number = read_residual(bits, table, WORD_MIN, WORD_MAX, words[0])
        return [number], read_value(BitForm(bits), field)
    if kind in ("scale", "velocity") and field["profile"] != NONE and not words[3]:
        limit = POSITION_LIMIT[field["profile"]]
        low, high = (1, 255) if kind == "scale" else (-limit, limit)
        if kind == "velocity" or not bits.peek_bit(0):
            bits.unsigned(1 if kind == "scale" else 0)
            return [*(read_residual(bits, table, low, high, word) for word in words[:3]), 0], None
    return field_words(field, read_value(BitForm(bits), field)), None


def read_symbol(codes, bits, layout, newer_age, newer, older):
    """How long ago the object jumped, the place, the turn, and whether other fields follow (section 46.2)."""
    table = 0
    if older is not None:
        differs = lambda field: newer[field.words] != older[field.words]
        table = 1 + sum(weight for weight, field in zip((1, 2), layout) if field and differs(field))
    symbol = codes.read("symbol", table, bits)
    jump_age = None
    if symbol == JUMPED:
        jump_age = bits.unsigned(bits_for(max(newer_age - 1, 0)))
        if jump_age >= newer_age:
            raise Refusal("OutOfRange")
        symbol = codes.read("symbol", table, bits)
    if symbol >= JUMPED:
        raise Refusal("InvalidCode")
    return jump_age, symbol % OTHERS_FOLLOW % 5, symbol % OTHERS_FOLLOW // 5, symbol >= OTHERS_FOLLOW


def read_update(codes, bits, class_, profile, audience, newer, older):
    """The words after an update, the contents it brought by field, and how long ago the object jumped,
    or None if it did not since the newer state.

    `newer` and `older` are (age, words); `older` may be None.
    """
    seen = visible_fields(class_, audience, profile)
    find = lambda kind: next((field for field in seen if field.kind == kind), None)
    position, rotation = find("position"), find("rotation")
    others = others_of(seen)
    words, line, older_words = list(newer[1]), None, None
    if older is not None:
        line = line_between(newer[0], older[0])
        older_words = older[1] if line else None
    jump_age, others_follow = None, bool(others)
    if position or rotation:
        known = (newer[1], older_words)
        layout = (position, rotation)
        jump_age, place, turn, others_follow = read_symbol(codes, bits, layout, newer[0], *known)
        if others_follow and not others:
            raise Refusal("InvalidCode")
        for field, said, in_full, read in (
            (position, place, PLACE_IN_FULL, read_position),
            (rotation, turn, TURN_IN_FULL, read_rotation),
        ):
            if said == SAME:
                continue
            if field is None:
                raise Refusal("InvalidCode")
            if said == in_full:
                words[field.words] = field_words(field.schema, read_value(BitForm(bits), field.schema))
            else:
                before = older_words[field.words] if older_words is not None else None
                words[field.words] = read(codes, bits, said, profile, newer[1][field.words], before, line)
    contents = {}
    if others_follow:
        mask = read_changed_mask(bits, codes.wire["mask"], len(others))
        for place, field in enumerate(others):
            if mask >> place & 1:
                words[field.words], content = read_other(codes, bits, field.schema, newer[1][field.words])
                if content is not None:
                    contents[field.index] = content
    return words, contents, jump_age
