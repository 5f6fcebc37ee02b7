"""What a client makes of snapshots (sections 37 to 45).

Snapshots come late, twice or not at all. A client keeps the last 32 states of each object by the tick that brought
them, so that whatever the server builds on is there:

    slot -> Held: what its entry said, states {tick: words}, jumps {tick: newest jump by then}, contents of the newest
"""

from dataclasses import dataclass, field

from classes import content_bytes, field_words, others_of, visible_fields
from cursors import Bits, Bytes, Refusal, fnv1a_32
from updates import read_gap, read_update
from values import NONE, WORLD, read_origin, read_property_block, read_record, wrapping_distance

AGE, OLDER_AGE, LEAVES, ENTERS, UPDATES, DIGEST, FEEDBACK = 1, 2, 4, 8, 16, 32, 64
OWNED, TEAM, ATTACHED, ORIGIN = 1, 2, 4, 8
SLOTS = 65535
STATES_KEPT = 32
JUMP_AGE_MAX = 2**30
REGION_SLOTS, REGIONS = 64, 1024


def is_newer(tick, other):
    return wrapping_distance(tick, other, 32) > 0


def tick_before(tick, age):
    return None if age is None else (tick - age) % 2**32


def check_slot(slot):
    if slot >= SLOTS:
        raise Refusal("OutOfRange")
    return slot


def limited_varint(source, limit):
    value = source.varint()
    if value > limit:
        raise Refusal("TooLong")
    return value


def check_ages(newer, older):
    if newer == 0 or (older is not None and older <= newer):
        raise Refusal("OutOfRange")
    return newer, older


def read_header(source):
    """Section 38: the truncated tick, the flags, the common baselines, step and slack, region and digest."""
    tick, flags = source.unsigned(2), source.unsigned(1)
    if flags > 127 or (flags & OLDER_AGE and not flags & AGE):
        raise Refusal("ReservedBits")
    ages = None
    if flags & AGE:
        newer = source.unsigned(1)
        ages = check_ages(newer, source.unsigned(1) if flags & OLDER_AGE else None)
    feedback = None
    if flags & FEEDBACK:
        step, slack = source.unsigned(2), source.signed(1)
        feedback = (step, None if slack == -128 else slack)
    digest = (source.unsigned(2), source.unsigned(4)) if flags & DIGEST else None
    return tick, flags, ages, feedback, digest


@dataclass
class Entry:
    """What an entry says besides words and contents (section 40)."""

    slot: int
    generation: int
    class_: int
    audience: str
    parent: int | None
    profile: int
    origin: tuple
    jump_age: int | None = field(compare=False)


def read_entry(source, classes):
    """An entry, its words, and its contents by field."""
    number = source.unsigned(1)
    if number >= len(classes):
        raise Refusal("OutOfRange")
    class_, bits = classes[number], source.unsigned(1)
    if bits > 15 or bits & OWNED and bits & TEAM:
        raise Refusal("ReservedBits")
    parent = source.unsigned(2) if bits & ATTACHED else None
    origin = read_origin(source) if bits & ORIGIN else ([0.0, 0.0, 0.0], 0)
    record = read_record(source)
    check_slot(record["slot"])
    if parent is not None:
        check_slot(parent)
    profile = record["profile"]
    idle_origin = bits & ORIGIN and profile in (WORLD, NONE)
    astray = record["scale"] is not None or record["velocity"] is not None
    if record["origin_version"] != origin[1] or idle_origin or astray:
        raise Refusal("InvalidFlags")
    audience = "owner" if bits & OWNED else "team" if bits & TEAM else "public"
    words, contents = fill(class_, record, audience)
    alias = (record["slot"], record["generation"])
    jump_age = limited_varint(source, JUMP_AGE_MAX) if record["teleport"] else None
    return Entry(*alias, number, audience, parent, profile, origin, jump_age), words, contents


def fill(class_, record, audience):
    """Exactly the visible fields, or `InvalidField`."""
    words, contents, told = [0] * class_.word_count, {}, set()
    places = {field.kind: field for field in class_.fields if field.kind in ("position", "rotation")}
    for kind in ("position", "rotation"):
        if record[kind] is not None:
            if kind not in places:
                raise Refusal("InvalidField")
            place = places[kind]
            words[place.words] = field_words(place.schema | {"profile": record["profile"]}, record[kind])
            told.add(place.index)
    if record["properties"] is not None:
        schemas = [field.schema for field in class_.fields]
        for index, value in read_property_block(Bytes(record["properties"]), schemas):
            place = class_.fields[index]
            if place.reliable or place.kind in ("position", "rotation"):
                raise Refusal("InvalidField")
            if place.kind in ("text", "bytes", "array"):
                contents[index] = content_bytes(place.schema, value)
            else:
                words[place.words] = field_words(place.schema, value)
            told.add(index)
    if told != {field.index for field in visible_fields(class_, audience, record["profile"])}:
        raise Refusal("InvalidField")
    return words, contents


@dataclass
class Held:
    """One object as a client holds it."""

    entry: Entry
    entered: int
    states: dict
    contents: dict
    jumps: dict
    in_sight: bool = True

    @property
    def alias(self):
        return self.entry.slot, self.entry.generation

    @property
    def tick(self):
        newest = next(iter(self.states))
        for tick in self.states:
            newest = tick if is_newer(tick, newest) else newest
        return newest

    def keep(self, tick, words, contents, jumped):
        """One more state (section 44); contents count only if it is the newest."""
        if is_newer(tick, self.tick):
            self.contents |= contents
        if tick in self.states:
            return
        self.states[tick], self.jumps[tick] = words, jumped
        if len(self.states) > STATES_KEPT:
            oldest = self.tick
            for kept in self.states:
                oldest = oldest if is_newer(kept, oldest) else kept
            del self.states[oldest], self.jumps[oldest]


def object_digest(number, class_, words, contents):
    data = bytes([number])
    for place in visible_fields(class_, "public", 0):
        if place.kind in ("text", "bytes", "array"):
            data += len(contents[place.index]).to_bytes(4, "little") + contents[place.index]
        else:
            data += b"".join(word.to_bytes(4, "little", signed=True) for word in words[place.words])
    return fnv1a_32(data)


def region_digest(objects):
    """The sum over (slot, generation, digest) of section 42."""
    placed = ((digest ^ (slot * 256 + generation)) * 0x9E3779B1 for slot, generation, digest in objects)
    return sum(placed) % 2**32


class Client:
    def __init__(self, classes, codes):
        self.classes, self.codes = classes, codes
        self.newest = None
        self.slots, self.leaves, self.events, self.mismatch = {}, {}, [], None

    def full_tick(self, low16):
        if self.newest is None:
            return low16
        return (self.newest + wrapping_distance(low16, self.newest % 65536, 16)) % 2**32

    def receive(self, data):
        """The full tick, and why the snapshot was refused, or None."""
        self.events, self.mismatch, error = [], None, None
        tick = self.full_tick(Bytes(data).unsigned(2))
        try:
            self.apply(tick, data)
        except Refusal as refusal:
            error = refusal.reason
        if self.newest is None or is_newer(tick, self.newest):
            self.newest = tick
        return tick, error

    def apply(self, tick, data):
        source = Bytes(data)
        _, flags, ages, _, digest = read_header(source)
        if flags & LEAVES:
            for _ in range(limited_varint(source, 255)):
                alias = (source.unsigned(2), source.unsigned(1))
                check_slot(alias[0])
                self.leave(alias, (tick - limited_varint(source, 2**32 - 1)) % 2**32)
        if flags & ENTERS:
            for _ in range(limited_varint(source, 255)):
                self.enter(tick, *read_entry(source, self.classes))
        if flags & UPDATES:
            count = limited_varint(source, SLOTS)
            self.update(tick, ages, count, Bits(source.take(source.left())))
        source.end()
        if digest and (self.newest is None or not is_newer(self.newest, tick)):
            self.compare(*digest)

    def leave(self, alias, tick):
        slot = alias[0]
        if slot not in self.leaves or is_newer(tick, self.leaves[slot]):
            self.leaves[slot] = tick
        held = self.slots.get(slot)
        if held and held.in_sight and held.alias == alias and not is_newer(held.entered, tick):
            held.in_sight = False
            self.events.append(["left", *alias])

    def is_outdated(self, entry, tick):
        if entry.slot in self.leaves and not is_newer(tick, self.leaves[entry.slot]):
            return True
        held = self.slots.get(entry.slot)
        if held is None:
            return False
        same = held.in_sight and held.entry == entry
        return not is_newer(tick, held.entered if same else held.tick)

    def enter(self, tick, entry, words, contents):
        if self.is_outdated(entry, tick):
            return
        held = self.slots.get(entry.slot)
        jumped = tick_before(tick, entry.jump_age)
        if held and held.in_sight and held.entry == entry:
            held.keep(tick, words, contents, jumped)
            return
        self.slots[entry.slot] = Held(entry, tick, {tick: words}, contents, {tick: jumped})
        alias = [entry.slot, entry.generation]
        if held and held.in_sight and list(held.alias) == alias:
            self.events.append(["refreshed", *alias])
            return
        if held and held.in_sight:
            self.events.append(["left", *held.alias])
        self.events.append(["entered", *alias])

    def update(self, tick, common, count, bits):
        slot, named = -1, None
        for _ in range(count):
            if slot + 1 >= SLOTS:
                raise Refusal("OutOfRange")
            gap, is_common = read_gap(bits, self.codes, SLOTS - 1 - (slot + 1))
            slot += 1 + gap
            if is_common:
                ages = common
            elif bits.unsigned(1):
                ages = named
            else:
                two, newer = bits.unsigned(1), bits.unsigned(8)
                ages = named = check_ages(newer, newer + bits.unsigned(8) if two else None)
            if ages is None:
                raise Refusal("InvalidFlags")
            self.update_one(tick, slot, ages, bits)
        bits.end()

    def update_one(self, tick, slot, ages, bits):
        held = self.slots.get(slot)
        if held is None:
            raise Refusal("UnknownObject")
        baselines = []
        for age in ages:
            if age is not None and (tick - age) % 2**32 not in held.states:
                raise Refusal("MissingBaseline")
            baselines.append(None if age is None else (age, held.states[(tick - age) % 2**32]))
        class_, entry = self.classes[held.entry.class_], held.entry
        read = read_update(self.codes, bits, class_, entry.profile, entry.audience, *baselines)
        words, values, jump_age = read
        contents = {index: content_bytes(class_.fields[index].schema, value) for index, value in values.items()}
        before = held.jumps[(tick - ages[0]) % 2**32]
        held.keep(tick, words, contents, before if jump_age is None else tick_before(tick, jump_age))

    def compare(self, region, digest):
        if region >= REGIONS:
            raise Refusal("OutOfRange")
        inside = [held for slot, held in self.slots.items() if held.in_sight and slot // REGION_SLOTS == region]
        own = []
        for held in inside:
            class_ = self.classes[held.entry.class_]
            made = object_digest(held.entry.class_, class_, held.states[held.tick], held.contents)
            own.append((*held.alias, made))
        if region_digest(own) != digest:
            self.mismatch = region
