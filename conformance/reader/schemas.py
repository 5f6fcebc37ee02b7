"""Schemas in their canonical form (sections 9.1 to 9.3).

Two ends agree on a schema by its hash alone. The hash is over bytes, so a reader that rebuilds a schema's description
from those bytes shows that the canonical form says everything, and says it once. The form is never sent, so nothing refuses
one: a vector that breaks the rules contradicts itself.
"""

from cursors import bits_for
from given import require
from values import element_bits

FIELDS_MAX = 64
NAME_BYTES_MAX = 64

ELEMENT_TAGS = (0, 1, 2, 3, 4, 9)
LATEST_BYTES_MAX = 1000
RELIABLE_BYTES_MAX = 65532
PROFILED_KINDS = {5: "position", 6: "rotation", 7: "scale", 8: "velocity"}
SIZED_KINDS = {10: "text", 11: "bytes"}
BARE_KINDS = {0: "bool", 3: "f32", 4: "u64", 9: "name"}

SYNCED, OWNER_SYNC, PUBLIC_SYNC, NO_SYNC, CLIENT_MAY, ANY_CLIENT_MAY = 1, 2, 4, 8, 16, 32
RELIABLE = 64


def check_flags(flags):
    """Section 9.2: what a field's flags may not say together."""
    in_some_set = bool(flags & (OWNER_SYNC | PUBLIC_SYNC))
    contradictions = [
        flags >= 64,
        bool(flags & SYNCED) != in_some_set,
        bool(flags & NO_SYNC) == in_some_set,
        flags & NO_SYNC and flags != NO_SYNC,
        flags & ANY_CLIENT_MAY and not flags & PUBLIC_SYNC,
    ]
    require(not any(contradictions), f"flags {flags} contradict each other")


def in_range(value, low, high):
    require(low <= value <= high, f"{value} is not within {low}..={high}")
    return value


def in_words(low, high):
    require(low < high, "a field can take more than one value")
    return low, high


def content_bytes_max(field):
    """The longest content of a field; None if it has a fixed size (section 9.1)."""
    if field["kind"] in ("text", "bytes"):
        return field["bytes_max"]
    if field["kind"] == "array":
        count = field["count_max"]
        count_bytes = max(1, -(-bits_for(count) // 7))
        return count_bytes + -(-count * element_bits(field["element"]) // 8)
    return None


def check_content(field, reliable):
    longest = content_bytes_max(field)
    require(longest is not None or not reliable, "only a field of variable length is delivered reliably")
    if longest is not None:
        in_range(longest, 1, RELIABLE_BYTES_MAX if reliable else LATEST_BYTES_MAX)


def read_kind(source):
    return read_kind_of(source, source.unsigned(1))


def read_kind_of(source, tag):
    if tag in BARE_KINDS:
        return {"kind": BARE_KINDS[tag]}
    if tag in PROFILED_KINDS:
        return {"kind": PROFILED_KINDS[tag], "profile": in_range(source.unsigned(1), 0, 3)}
    if tag in SIZED_KINDS:
        return {"kind": SIZED_KINDS[tag], "bytes_max": source.unsigned(2)}
    if tag == 1:
        low, high = in_words(source.signed(4), source.signed(4))
        return {"kind": "int", "min": low, "max": high}
    if tag == 2:
        low, high = in_words(source.signed(4), source.signed(4))
        words = {"kind": "quantized", "min_word": low, "max_word": high}
        return words | {"per_unit": in_range(source.unsigned(4), 1, 1_000_000)}
    if tag == 12:
        element = source.unsigned(1)
        require(element in ELEMENT_TAGS, f"no array has elements of kind {element}")
        array = {"kind": "array", "element": read_kind_of(source, element)}
        return array | {"count_max": in_range(source.unsigned(2), 1, 65535)}
    raise ValueError(f"kind {tag} does not exist")


def read_schema(source):
    """A schema's name and its fields in the order of their indexes."""
    in_range(source.unsigned(1), 1, 1)
    name = source.string(NAME_BYTES_MAX)
    fields = []
    for _ in range(in_range(source.varint(), 1, FIELDS_MAX)):
        field = {"name": source.string(NAME_BYTES_MAX)} | read_kind(source)
        flags = source.unsigned(1)
        field["flags"] = flags & ~RELIABLE
        check_flags(field["flags"])
        check_content(field, bool(flags & RELIABLE))
        if flags & RELIABLE:
            field["delivery"] = "reliable"
        fields.append(field)
    names = {field["name"] for field in fields}
    require(name and "" not in names and len(names) == len(fields), "names are there, and distinct")
    source.end()
    return name, fields
