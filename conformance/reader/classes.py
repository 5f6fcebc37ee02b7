"""Classes and words (sections 35 and 36).

A class is a schema whose fields have places in a row of words. What a receiver sees of it depends on what it is to the
object, and how positions and rotations are quantized on the object's own profile.
"""

import struct
from dataclasses import dataclass

from cursors import fnv1a_64
from given import require
from values import NONE, Rotation, Triple

WORDS = {"bool": 1, "int": 1, "quantized": 1, "f32": 1, "u64": 2, "name": 2, "text": 1, "bytes": 1, "array": 1}
WORDS |= {"position": 4, "rotation": 4, "scale": 4, "velocity": 4}
WORDS_MAX = 96
TAGS = ["bool", "int", "quantized", "f32", "u64", "position", "rotation", "scale", "velocity", "name", "text", "bytes"]
TAGS += ["array"]
OWNER_SYNC, PUBLIC_SYNC, RELIABLE = 2, 4, 64


@dataclass
class Field:
    """A field with its place: `words` is a slice, empty if the field is delivered reliably."""

    index: int
    schema: dict
    words: slice
    reliable: bool

    @property
    def kind(self):
        return self.schema["kind"]

    def reaches(self, audience):
        flags = self.schema["flags"]
        return bool(flags & PUBLIC_SYNC) or (audience == "owner" and bool(flags & OWNER_SYNC))


@dataclass
class Class:
    name: str
    fields: list
    word_count: int


def make_class(description):
    fields, first = [], 0
    for index, schema in enumerate(description["fields"]):
        reliable = schema.get("delivery") == "reliable"
        count = 0 if reliable else WORDS[schema["kind"]]
        fields.append(Field(index, schema, slice(first, first + count), reliable))
        first += count
    require(first <= WORDS_MAX, "an object has at most 96 words")
    for kind in ("position", "rotation"):
        require(sum(field.kind == kind for field in fields) <= 1, "an object has one transform")
    return Class(description["name"], fields, first)


def canonical_kind(schema):
    tag = TAGS.index(schema["kind"])
    data = bytes([tag])
    if schema["kind"] == "int":
        return data + struct.pack("<ii", schema["min"], schema["max"])
    if schema["kind"] == "quantized":
        return data + struct.pack("<iiI", schema["min_word"], schema["max_word"], schema["per_unit"])
    if schema["kind"] in ("position", "rotation", "scale", "velocity"):
        return data + bytes([schema["profile"]])
    if schema["kind"] in ("text", "bytes"):
        return data + struct.pack("<H", schema["bytes_max"])
    if schema["kind"] == "array":
        return data + canonical_kind(schema["element"]) + struct.pack("<H", schema["count_max"])
    return data


def schema_hash(class_):
    """FNV-1a 64 of the canonical form (section 9.3); all lengths and counts here are below 128."""
    name = class_.name.encode()
    data = bytes([1, len(name)]) + name + bytes([len(class_.fields)])
    for field in class_.fields:
        own = field.schema["name"].encode()
        flags = field.schema["flags"] | (RELIABLE if field.reliable else 0)
        data += bytes([len(own)]) + own + canonical_kind(field.schema) + bytes([flags])
    return fnv1a_64(data)


def list_hash(classes):
    return fnv1a_64(b"".join(schema_hash(class_).to_bytes(8, "little") for class_ in classes))


def mask(class_, audience, reliable):
    fields = (field for field in class_.fields if field.reliable == reliable and field.reaches(audience))
    return sum(1 << field.index for field in fields)


def in_profile(field, profile):
    """Position and rotation are quantized as the object says, other fields as the schema does."""
    if field.kind not in ("position", "rotation"):
        return field
    return Field(field.index, field.schema | {"profile": profile}, field.words, field.reliable)


def visible_fields(class_, audience, profile):
    seen = (field for field in class_.fields if not field.reliable and field.reaches(audience))
    return [in_profile(field, profile) for field in seen]


def others_of(fields):
    return [field for field in fields if field.kind not in ("position", "rotation")]


def single_bits(value):
    return struct.unpack("<i", struct.pack("<f", value))[0]


def split(number):
    """Low and high 32 bits, as words."""
    return list(struct.unpack("<ii", struct.pack("<Q", number)))


def field_words(field, value):
    """The words of a value that has any of its own."""
    kind = field["kind"]
    if isinstance(value, Triple):
        return [*map(single_bits, value.values), 1] if value.words is None else [*value.words, 0]
    if isinstance(value, Rotation):
        if field["profile"] == NONE:
            return list(map(single_bits, value.quaternion))
        return [value.largest, *value.steps]
    if kind in ("u64", "name"):
        return split(value)
    if kind == "f32":
        return [single_bits(value)]
    return [int(value)]


def content_bytes(field, value):
    """The content of a value of variable length (section 9.1): of an array its byte form."""
    if field["kind"] == "text":
        return value.encode()
    if field["kind"] == "bytes":
        return value
    element, packed, at = field["element"], 0, 0
    for item in value:
        width, code = element_code(element, item)
        packed |= code << at
        at += width
    return varint(len(value)) + packed.to_bytes(-(-at // 8), "little")


def element_code(element, item):
    kind = element["kind"]
    if kind == "int":
        return (element["max"] - element["min"]).bit_length(), item - element["min"]
    if kind == "quantized":
        return (element["max_word"] - element["min_word"]).bit_length(), item - element["min_word"]
    if kind == "f32":
        return 32, single_bits(item) & 0xFFFFFFFF
    return (1, int(item)) if kind == "bool" else (64, item)


def varint(number):
    data = bytearray()
    while number >= 0x80:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*data, number])
