"""Singles to the last bit (sections 46.7 and 46.8).

What is sent is by how much the rank of a single among all singles differs from the predicted one. A rotation goes along
the circle through both states: its lead tells the angle, that tells two components, and what is left of one is the last.
"""

import math
import struct

from cursors import Refusal, finite, to_f32

BITS = 26
ONE = 1 << BITS
UNKNOWN = 16
ROUNDING = 4
LINE_GAIN = 3
CHORD_MIN = 1024


def cut(value):
    return (value + 2**31) % 2**32 - 2**31


def ordinal(word):
    return word if word >= 0 else -(2**31) - word - 1


def single(word):
    return struct.unpack("<f", struct.pack("<i", word))[0]


def exponent(word):
    return word >> 23 & 255


def shifts_of(words):
    most = max(map(exponent, words))
    return [most - exponent(word) for word in words]


def width(difference):
    if difference == 0:
        return 0
    return (difference if difference > 0 else -1 - difference).bit_length() + 1


def expected_of(newer, older):
    if older is None:
        return UNKNOWN
    ways = [cut(ordinal(a) - ordinal(b)) for a, b in zip(newer, older)]
    return max(1, *(width(way) - shift for way, shift in zip(ways, shifts_of(newer))))


def read_differences(bits, newer, expected):
    count = len(newer)
    kind, mask = bits.unsigned(3), 2**count - 1
    if kind == 0:
        mask = bits.unsigned(count) if count > 1 else 0
        if mask == 0:
            return [0] * count
        kind = bits.unsigned(3)
        if kind == 0:
            raise Refusal("InvalidCode")
    size = bits.unsigned(5) + 1 if kind == 7 else min(max(expected, 4), 30) + kind - 4
    return [
        bits.signed(min(size + shift, 32)) if mask >> place & 1 else 0
        for place, shift in enumerate(shifts_of(newer))
    ]


def checked(words):
    for word in words:
        finite(single(word))
    return words


def read_singles(bits, newer, older=None, line=None):
    """Some singles; `older` and `line` are None if there is no line through both states."""
    from_line = older is not None and bits.unsigned(1) == 1
    expected = expected_of(newer, older) - (LINE_GAIN if from_line else 0)
    differences = read_differences(bits, newer, expected)
    steps = [0] * len(newer)
    if from_line:
        rises = [cut(ordinal(a) - ordinal(b)) for a, b in zip(newer, older)]
        steps = [(rise * line.ratio(11) + 1024) // 2048 for rise in rises]
    return checked([ordinal(cut(ordinal(a) + b + c)) for a, b, c in zip(newer, steps, differences)])


def fixed(word):
    return int(single(word) * ONE) if exponent(word) < 255 else 2 * ONE


def root(square):
    return math.isqrt(min(max(square, 0), ONE * ONE))


def nearest(value):
    return ordinal(struct.unpack("<i", struct.pack("<f", to_f32(value / ONE)))[0])


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def place_of_most(sizes):
    return sizes.index(max(sizes))


class Circle:
    """The circle through two rotations, of which the second is not nearly the first."""

    def __init__(self, newer, older):
        self.a, b = [fixed(word) for word in newer], [fixed(word) for word in older]
        if dot(self.a, b) < 0:
            b = [-component for component in b]
        cosine = dot(self.a, b) >> BITS
        beyond = [(x * cosine >> BITS) - y for x, y in zip(self.a, b)]
        self.sine = root(dot(beyond, beyond))
        self.exists = self.sine >= CHORD_MIN
        if self.exists:
            self.across = [(component << BITS) // self.sine for component in beyond]
            self.lead = place_of_most([abs(component) for component in self.across])

    def component(self, place, cosine, sine):
        return nearest((self.a[place] * cosine + self.across[place] * sine) >> BITS)

    def ahead(self, line):
        cubed = (self.sine * self.sine >> BITS) * self.sine >> BITS
        sine = (self.sine * line.ratio(11) >> 11) - (cubed * line.backwards >> 8)
        sine = min(max(sine, 0), ONE)
        return self.component(self.lead, root(ONE * ONE - sine * sine), sine)

    def angle(self, lead):
        x, y = self.a[self.lead], self.across[self.lead]
        square = x * x + y * y
        most = root(square)
        found = min(max(fixed(lead), -most), most)
        beside = root(square - found * found) * (-1 if y < 0 else 1)
        return (found * x + y * beside) // (square >> BITS), (found * y - x * beside) // (square >> BITS)


def read_turn(bits, newer, older=None, line=None):
    """A rotation; `older` and `line` are None if there is no line."""
    circle = Circle(newer, older) if older is not None else None
    along = circle is not None and circle.exists and bits.unsigned(1) == 1
    words = list(newer)

    def read(places, predicted, expected):
        differences = read_differences(bits, [newer[place] for place in places], expected)
        for place, ahead, difference in zip(places, predicted, differences):
            words[place] = ordinal(cut(ahead + difference))

    lead = circle.lead if along else None
    last = place_of_most([-1 if place == lead else newer[place] & 0x7FFFFFFF for place in range(4)])
    others = [place for place in range(4) if place not in (lead, last)]
    if along:
        read([lead], [circle.ahead(line)], expected_of([newer[lead]], [older[lead]]) - LINE_GAIN)
        angle = circle.angle(words[lead])
        read(others, [circle.component(place, *angle) for place in others], ROUNDING)
    else:
        after = [newer[place] for place in others]
        before = None if older is None else [older[place] for place in others]
        read(others, [ordinal(word) for word in after], expected_of(after, before))
    rest = root(ONE * ONE - sum(fixed(words[place]) ** 2 for place in range(4) if place != last))
    read([last], [nearest(-rest if newer[last] < 0 else rest)], ROUNDING)
    x, y, z, w = (single(word) for word in checked(words))
    if abs(x * x + y * y + z * z + w * w - 1.0) > 0.01:
        raise Refusal("InvalidRotation")
    return words
