"""One function per file `replica_*.json` (section 48).

The generic code tables and the classes of all cases stand in files of their own, which are read once from the folder
beside this reader's.
"""

import functools
import json
import pathlib

from classes import content_bytes, list_hash, make_class, mask
from cursors import Bits, Bytes, Refusal
from given import json_f64, require
from inputs import read_inputs
from replicas import Client, object_digest, read_entry, read_header, region_digest
from updates import GENERIC_ID, Codes, read_gap, read_update
from values import ByteForm, read_value, wrapping_distance

VECTORS = pathlib.Path(__file__).resolve().parent.parent / "vectors"
AUDIENCES = ("owner", "team", "public")
CONTENT_BYTES_MAX = 65532


def cases_of(stem):
    return json.loads((VECTORS / f"{stem}.json").read_text("utf-8"))["cases"]


@functools.cache
def generic_codes():
    codes = Codes(bytes.fromhex(cases_of("replica_codes")[0]["hex"]))
    require(codes.id == GENERIC_ID, "the generic set has another id")
    return codes


@functools.cache
def all_classes():
    cases = {case["name"]: case["given"]["classes"] for case in cases_of("replica_classes")}
    return [make_class(description) for description in cases["the classes of all other files"]]


def json_contents(contents):
    return {str(index): content.hex() for index, content in contents.items()}


def codes(_given, data):
    found = Codes(data)
    lengths = {name: sum(len(table.lengths) for table in tables) for name, tables in found.tables.items()}
    return {"id": found.id, "name": found.name, "lengths": lengths}


def classes(given, data):
    Bytes(data).end()
    found = [
        make_class({"name": item["name"], "fields": [plain_field(field) for field in item["fields"]]})
        for item in given["classes"]
    ]
    shown = [
        {
            "words": class_.word_count,
            "firsts": [None if field.reliable else field.words.start for field in class_.fields],
            "visible": {audience: mask(class_, audience, False) for audience in AUDIENCES},
            "reliable": {audience: mask(class_, audience, True) for audience in AUDIENCES},
        }
        for class_ in found
    ]
    return {"hash": str(list_hash(found)), "classes": shown}


def plain_field(field):
    """A field's givens as a dictionary; every entry is asked for."""
    keys = ("kind", "name", "flags", "delivery", "min", "max", "min_word", "max_word", "per_unit", "profile")
    keys += ("bytes_max", "count_max")
    plain = {key: field[key] for key in keys if key in field}
    if "element" in field:
        plain["element"] = plain_field(field["element"])
    return plain


def gap(given, data):
    bits = Bits(data)
    found, is_common = read_gap(bits, generic_codes(), given["max"])
    bits.end()
    return {"gap": found, "common": is_common}


def header(_given, data):
    source = Bytes(data)
    tick, _, ages, feedback, digest = read_header(source)
    return {
        "tick": tick,
        "ages": ages and list(ages),
        "feedback": feedback and {"step": feedback[0], "slack": feedback[1]},
        "digest": digest and {"region": digest[0], "digest": digest[1]},
        "rest": source.take(source.left()).hex(),
    }


def input_(given, data):
    newest, view, inputs = read_inputs(data, given["bytes"], given["near"])
    return {
        "newest": newest,
        "view": view and {"step": view[0], "fraction": view[1]},
        "inputs": [found.hex() for found in inputs],
    }


def entry(_given, data):
    source = Bytes(data)
    found, words, contents = read_entry(source, all_classes())
    source.end()
    metres, version = found.origin
    return {
        "slot": found.slot,
        "generation": found.generation,
        "class": found.class_,
        "audience": found.audience,
        "parent": found.parent,
        "profile": found.profile,
        "origin": {"metres": [json_f64(metre) for metre in metres], "version": version},
        "jump_age": found.jump_age,
        "words": words,
        "contents": json_contents(contents),
    }


def state(given):
    return None if given is None else (given["age"], list(given["words"]))


def update(given, data):
    class_, bits = all_classes()[given["class"]], Bits(data)
    baselines = (state(given["newer"]), state(given["older"]))
    require(given["audience"] in AUDIENCES, "an audience")
    words, values, jump_age = read_update(
        generic_codes(), bits, class_, given["profile"], given["audience"], *baselines
    )
    bits.end()
    contents = {index: content_bytes(class_.fields[index].schema, value) for index, value in values.items()}
    return {"words": words, "contents": json_contents(contents), "jump_age": jump_age}


def digest(given, data):
    Bytes(data).end()
    objects, regions = [], set()
    for item in given["objects"]:
        contents = {int(index): item["contents"].octets(index) for index in item["contents"].content}
        made = object_digest(item["class"], all_classes()[item["class"]], item["words"], contents)
        objects.append((item["slot"], item["generation"], made))
        regions.add(item["slot"] // 64)
    (region,) = regions
    return {"region": region, "digest": region_digest(objects)}


def is_applied(field, message_generation, generation, audience, content):
    """Section 45: whether a message is applied; not if it waits or is stale."""
    if generation is None or message_generation != generation:
        newer = generation is None or wrapping_distance(message_generation, generation, 8) > 0
        require(newer or generation is not None, "a message waits or is stale")
        return False
    if field is None or not field.reliable or not field.reaches("owner"):
        raise Refusal("InvalidField")
    if field.kind == "array":
        source = Bytes(content)
        read_value(ByteForm(source), field.schema)
        source.end()
    elif len(content) > field.schema["bytes_max"]:
        raise Refusal("TooLong")
    elif field.kind == "text":
        try:
            content.decode("utf-8")
        except UnicodeDecodeError:
            raise Refusal("InvalidUtf8") from None
    return field.reaches(audience)


def property_(given, data):
    source = Bytes(data)
    slot, generation, index = source.unsigned(2), source.unsigned(1), source.unsigned(1)
    content = source.take(source.left())
    if len(content) > CONTENT_BYTES_MAX:
        raise Refusal("TooLong")
    fields = all_classes()[given["class"]].fields
    field = fields[index] if index < len(fields) else None
    applied = is_applied(field, generation, given["generation"], given["audience"], content)
    shown = {"slot": slot, "generation": generation, "field": index, "content": content.hex()}
    return shown | {"applied": applied}


def json_object(held):
    entry_ = held.entry
    return {
        "slot": entry_.slot,
        "generation": entry_.generation,
        "class": entry_.class_,
        "audience": entry_.audience,
        "parent": entry_.parent,
        "profile": entry_.profile,
        "origin_version": entry_.origin[1],
        "tick": held.tick,
        "jumped": held.jumps[held.tick],
        "words": held.states[held.tick],
        "contents": json_contents(held.contents),
    }


def session(snapshots):
    """What a client says and holds after each snapshot."""
    client = Client(all_classes(), generic_codes())
    for data in snapshots:
        tick, error = client.receive(data)
        in_sight = (client.slots[slot] for slot in sorted(client.slots) if client.slots[slot].in_sight)
        objects = [json_object(held) for held in in_sight]
        shown = {"tick": tick, "error": error, "events": client.events, "mismatch": client.mismatch}
        yield {"value": shown | {"objects": objects}}


CHECKS = {
    "replica_codes": codes,
    "replica_classes": classes,
    "replica_gap": gap,
    "replica_header": header,
    "replica_input": input_,
    "replica_entry": entry,
    "replica_update": update,
    "replica_digest": digest,
    "replica_property": property_,
}
