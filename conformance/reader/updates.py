"""What changed of one object (section 46).

Both sides hold the object's words at one or two earlier ticks. The bits say what changed, how it is predicted, and how
far the prediction was off:

    symbol, unless it is as usual | position | rotation | other fields

Everything here is integers. `near` is the only rounding: to nearest, ties up.
"""

import math
import re
import struct
from dataclasses import dataclass

from classes import field_words, others_of, visible_fields
from cursors import Refusal, bits_for, fnv1a_32
from deltas import RUN_MAX, CodeTable, read_changed_mask, read_residual
from singles import read_singles, read_turn
from values import NONE, BitForm, read_value

# Of each group the tables, the symbols, and the longest code.
GROUPS = {
    "residual": (1, 18, 12),
    "mask": (1, 6, 12),
    "gap": (1, 34, 12),
    "symbol": (10, 71, 12),
    "head": (60, 107, 11),
    "place": (60, 105, 11),
    "lead": (60, 105, 11),
    "rest": (60, 105, 11),
}
GENERIC_ID = 0x47CA4D2F
WORD_MIN, WORD_MAX = -(2**31), 2**31 - 1
JUMPED = 70
OTHERS_FOLLOW = 35
AGE_MAX = 1023
POSITION_LIMIT = {0: 32767, 1: 2147483647, 2: 32767}

# What differences are from: the first table of each kind, and how many bits less than the size its share has.
ALONE, NEWER, LINE = (0, 0), (12, 1), (24, 3)
ESCAPE, HEAD_FROM_NEWER, HEAD_OTHER = 104, 105, 106
SIZE_MAX = 2**20

SAME, PREDICTED, FROM_NEWER, FROM_LINE, PLACE_IN_FULL = range(5)
FROM_NEWER_DROPPING, FROM_ARC, FROM_ARC_DROPPING, TURN_IN_FULL = 3, 4, 5, 6


class Codes:
    """A set of code tables (section 46.1)."""

    def __init__(self, data):
        self.name, layout, packed = self.header(data)
        all_lengths = self.unpacked(packed)
        self.tables, at = {}, 0
        self.id = fnv1a_32(layout + bytes(all_lengths))
        if self.id.to_bytes(4, "little") != data[14 + len(self.name) - 4 : 14 + len(self.name)]:
            raise Refusal("Id")
        for name, (tables, symbols, bits_max) in GROUPS.items():
            self.tables[name] = []
            for _ in range(tables):
                lengths, at = all_lengths[at : at + symbols], at + symbols
                if max(lengths) > bits_max:
                    raise Refusal("CodeLength")
                self.tables[name].append(CodeTable(lengths))

    @staticmethod
    def unpacked(packed):
        """Half bytes, of which a zero and n say that the length before it comes n + 2 times more."""
        halves = iter([half for byte in packed for half in (byte & 15, byte >> 4)])
        count = sum(tables * symbols for tables, symbols, _ in GROUPS.values())
        lengths = []
        while len(lengths) < count:
            half = next(halves, None)
            if half == 0 and lengths:
                repeats = next(halves, None)
                lengths += [lengths[-1]] * (count if repeats is None else repeats + 2)
            elif half is not None:
                lengths.append(half)
            if half is None or len(lengths) > count:
                raise Refusal("Length")
        rest = list(halves)
        if len(rest) > 1:
            raise Refusal("Length")
        if any(rest):
            raise Refusal("Padding")
        return lengths

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
        if len(data) < end + 8:
            raise Refusal("Length")
        return name, layout, data[end + 8 :]

    @property
    def wire(self):
        return {name: self.tables[name][0] for name in ("residual", "mask")}

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


@dataclass
class Expected:
    """What is expected of three differences (section 46.3)."""

    kind: tuple
    size: int

    def __post_init__(self):
        self.size = min(self.size, SIZE_MAX)
        self.share = self.size >> self.kind[1]

    def table(self, size):
        return self.kind[0] + min(bits_for(size), 11)

    def first(self):
        return self.table(self.size)

    def second(self, first):
        return self.table(min(fold(first), SIZE_MAX) + self.share)

    def third(self, first, second):
        sizes = [min(fold(number), SIZE_MAX) for number in (first, second)]
        return self.table(sum(sizes) // 2 + self.share - self.share // 4)


def read_number(symbol, bits):
    """The number that a symbol begins."""
    if symbol > ESCAPE:
        raise Refusal("InvalidCode")
    if symbol == ESCAPE:
        return bits.signed(bits.unsigned(5) + 1)
    index, count = symbol // 2, max(symbol // 8 - 1, 0)
    folded = index if index < 8 else ((4 + index % 4) << count) + bits.unsigned(count)
    return -1 - folded if symbol % 2 else folded


def read_chain(codes, bits, groups, expected, symbol=None):
    """Three differences (section 46.3); the symbol of the first one if it has been read."""
    firsts, nexts = groups
    if symbol is None:
        symbol = codes.read(firsts, expected.first(), bits)
    first = read_number(symbol, bits)
    second = read_number(codes.read(nexts, expected.second(first), bits), bits)
    third = read_number(codes.read(nexts, expected.third(first, second), bits), bits)
    return [first, second, third]


@dataclass
class Course:
    """Where a position goes (section 46.4): the newer one, and what it makes along the line if there is one."""

    newer: list
    steps: list | None

    def expected(self, from_line):
        if self.steps is None:
            return Expected(ALONE, 0)
        x, y, z = (fold(step) for step in self.steps)
        return Expected(LINE if from_line else NEWER, x | y | z)


def course_of(profile, newer, older, line):
    """None if nothing is predicted from the newer position in words."""
    if profile == NONE or newer[3]:
        return None
    if line is None or older is None or older[3]:
        return Course(newer[:3], None)
    rises = [cut(a - b) for a, b in zip(newer[:3], older[:3])]
    return Course(newer[:3], [cut((rise * line.ratio(11) + 1024) // 2048) for rise in rises])


def read_position(codes, bits, place, profile, course, symbol):
    """Section 46.4."""
    from_line = place != FROM_NEWER
    if course is None or (from_line and course.steps is None):
        raise Refusal("InvalidCode")
    differences = [0, 0, 0]
    if place != PREDICTED:
        differences = read_chain(codes, bits, ("place", "place"), course.expected(from_line), symbol)
    steps = course.steps if from_line else [0, 0, 0]
    words = [cut(a + b + c) for a, b, c in zip(course.newer, steps, differences)]
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
    """The predicted quaternion."""
    if sum(a * b for a, b in zip(newer, older)) < 0:
        older = [-step for step in older]
    rise = [a - b for a, b in zip(newer, older)]
    chord = sum(step * step for step in rise)
    bend = min(near(near(chord, unit.chord_cut) * unit.chord_factor, 8), line.bend_max)
    inner = near(line.inwards * bend, 21 - unit.weight)
    outer = line.ratio(unit.weight) - near(line.backwards * bend, 21 - unit.weight)
    return [a + near(step * outer - a * inner, unit.weight) for a, step in zip(newer, rise)]


def restore(differences, newer, predicted, unit):
    """The differences of three steps, of which the lead and what it leaves were said."""
    ways = [ahead - now for ahead, now in zip(predicted, newer)]
    sizes = [abs(way) for way in ways]
    lead = sizes.index(max(sizes))
    others = [place for place in range(3) if place != lead]
    size = max(sizes[lead], 1)
    reciprocal = (2 ** (unit.reciprocal + 1) + size) // (2 * size)
    reciprocal = -reciprocal if ways[lead] < 0 else reciprocal
    led, *left = differences
    restored = [led] * 3
    for place, rest in zip(others, left):
        slope = near(3 * near(ways[place] * reciprocal, unit.reciprocal - unit.slope), 2)
        restored[place] = rest + near(led * slope, unit.slope)
    return restored


def read_rotation(codes, bits, turn, profile, newer, older, line):
    """Section 46.5; `newer` and `older` are four words each."""
    if profile == NONE and turn == FROM_NEWER:
        return read_turn(bits, newer, older, line)
    if profile == NONE:
        raise Refusal("InvalidCode")
    unit = FIFTEEN if profile == 1 else TEN
    from_newer = turn in (FROM_NEWER, FROM_NEWER_DROPPING)
    if not from_newer and line is None:
        raise Refusal("InvalidCode")
    quaternion, predicted = whole_quaternion(newer, unit), None
    if line:
        predicted = follow_arc(quaternion, whole_quaternion(older, unit), line, unit)
    if turn in (FROM_NEWER_DROPPING, FROM_ARC_DROPPING):
        dropped = bits.unsigned(2)
    elif from_newer:
        dropped = newer[0]
    else:
        sizes = [abs(step) for step in predicted]
        dropped = sizes.index(max(sizes))
    flips = (predicted or quaternion)[dropped] < 0
    turned = lambda components: [-step if flips else step for step in steps_of(components, dropped)]
    now, ahead = turned(quaternion), turned(predicted or quaternion)
    differences = [0, 0, 0]
    if turn != PREDICTED:
        size = max(abs(a - b) for a, b in zip(ahead, now))
        expected = Expected(ALONE, 0) if line is None else Expected(NEWER if from_newer else LINE, size)
        differences = read_chain(codes, bits, ("lead", "rest"), expected)
        if not from_newer:
            differences = restore(differences, now, ahead, unit)
    steps = [a + b for a, b in zip(now if from_newer else ahead, differences)]
    if any(abs(step) > unit.half for step in steps) or sum(step * step for step in steps) > unit.one:
        raise Refusal("InvalidRotation")
    return [dropped, *steps]


def read_gap(bits, codes, left):
    """The slots to the next object, and whether it has the common baselines (section 41)."""
    symbol = codes.read("gap", 0, bits)
    extra = symbol % 17
    gap = (1 << extra | bits.unsigned(extra)) - 1
    if gap > min(left, RUN_MAX):
        raise Refusal("OutOfRange")
    return gap, symbol < 17


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
    if kind == "f32":
        return read_singles(bits, words), None
    if kind in ("scale", "velocity") and field["profile"] == NONE:
        return [*read_singles(bits, words[:3]), 1], None
    if kind in ("scale", "velocity") and not words[3]:
        limit = POSITION_LIMIT[field["profile"]]
        low, high = (1, 255) if kind == "scale" else (-limit, limit)
        if kind == "velocity" or not bits.peek_bit(0):
            bits.unsigned(1 if kind == "scale" else 0)
            return [*(read_residual(bits, table, low, high, word) for word in words[:3]), 0], None
    return field_words(field, read_value(BitForm(bits), field)), None


@dataclass
class Form:
    """What changed and how it is said (section 46.2)."""

    jump_age: int | None
    place: int
    turn: int
    others: bool
    symbol: int | None = None  # that of the first number of the position, if the head was it


def read_symbol(codes, bits, table, newer_age):
    symbol = codes.read("symbol", table, bits)
    jump_age = None
    if symbol == JUMPED:
        jump_age = bits.unsigned(bits_for(max(newer_age - 1, 0)))
        if jump_age >= newer_age:
            raise Refusal("OutOfRange")
        symbol = codes.read("symbol", table, bits)
    if symbol >= JUMPED:
        raise Refusal("InvalidCode")
    combination = symbol % OTHERS_FOLLOW
    return Form(jump_age, combination % 5, combination // 5, symbol >= OTHERS_FOLLOW)


def line_of_singles(newer, older):
    """Whether there are two positions of singles to draw a line through."""
    return older is not None and bool(newer[3] and older[3])


def read_form(codes, bits, layout, profile, newer_age, known, course):
    newer, older = known
    differs = lambda field: older is not None and field is not None and newer[field.words] != older[field.words]
    moved, turned = (differs(field) for field in layout)
    has_line = course is not None and course.steps is not None
    turn = SAME
    if layout[1] is not None:
        turned_on = FROM_NEWER if profile == NONE else FROM_ARC
        turn = FROM_NEWER if older is None else turned_on if turned else SAME
    if layout[0] is not None and newer[layout[0].words][3]:
        before = None if older is None else older[layout[0].words]
        is_usual = moved or not line_of_singles(newer[layout[0].words], before)
        if is_usual and bits.unsigned(1):
            return Form(None, FROM_NEWER, turn, False)
    if course is not None and (moved or not has_line):
        symbol = codes.read("head", course.expected(has_line).first(), bits)
        if symbol == HEAD_FROM_NEWER and not has_line:
            raise Refusal("InvalidCode")
        if symbol == HEAD_FROM_NEWER:
            return Form(None, FROM_NEWER, turn, False)
        if symbol != HEAD_OTHER:
            return Form(None, FROM_LINE if has_line else FROM_NEWER, turn, False, symbol)
    table = 0 if older is None else 1 + moved + 2 * turned
    return read_symbol(codes, bits, table, newer_age)


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
    form = Form(None, SAME, SAME, bool(others))
    if position or rotation:
        before = lambda field: older_words[field.words] if older_words is not None else None
        course = None
        if position:
            course = course_of(profile, newer[1][position.words], before(position), line)
        known = (newer[1], older_words)
        form = read_form(codes, bits, (position, rotation), profile, newer[0], known, course)
        if form.others and not others:
            raise Refusal("InvalidCode")
        for field, said, in_full in ((position, form.place, PLACE_IN_FULL), (rotation, form.turn, TURN_IN_FULL)):
            if said == SAME:
                continue
            if field is None:
                raise Refusal("InvalidCode")
            if said == in_full:
                words[field.words] = field_words(field.schema, read_value(BitForm(bits), field.schema))
            elif field is position and newer[1][field.words][3]:
                if said != FROM_NEWER:
                    raise Refusal("InvalidCode")
                now, then = newer[1][field.words], before(field)
                through = then[:3] if line_of_singles(now, then) else None
                words[field.words] = [*read_singles(bits, now[:3], through, line), 1]
            elif field is position:
                words[field.words] = read_position(codes, bits, said, profile, course, form.symbol)
            else:
                now = newer[1][field.words]
                words[field.words] = read_rotation(codes, bits, said, profile, now, before(field), line)
    jump_age, others_follow = form.jump_age, form.others
    contents = {}
    if others_follow:
        mask = read_changed_mask(bits, codes.wire["mask"], len(others))
        for place, field in enumerate(others):
            if mask >> place & 1:
                words[field.words], content = read_other(codes, bits, field.schema, newer[1][field.words])
                if content is not None:
                    contents[field.index] = content
    return words, contents, jump_age
