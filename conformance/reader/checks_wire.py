"""One function per file `wire_*.json` (section 14): from the givens and the input to the value in JSON form."""

from cursors import Bits, Bytes, Refusal, fnv1a_32, fnv1a_64, read_name
from deltas import generic_set, predict, read_changed_mask, read_residual, read_run, read_table_set
from given import json_f32, json_f64, json_value, require
from schemas import check_content, check_flags, read_schema
from streams import FrameReader, read_classic, unmask
from values import POSITION_PER_UNIT, SCALE_PER_UNIT, VELOCITY_PER_UNIT, BitForm, dequantize, full_packet_number
from values import read_origin, read_property_block, read_record, read_value, unpack_rotation

GENERIC = generic_set()


def whole(source, value):
    """The value, if nothing is left in its source."""
    source.end()
    return value


def varint(_given, data):
    source = Bytes(data)
    return whole(source, {"value": str(source.varint())})


def bits(given, data):
    source = Bits(data)
    values = []
    for read in given["reads"]:
        if "align" in read:
            require(read["align"] is True, "align is true or absent")
            values.append(source.align())
        elif "bits" in read:
            values.append(str(source.unsigned(read["bits"])))
        elif "signed" in read:
            values.append(str(source.signed(read["signed"])))
        else:
            minimum = read.integer("min") if "min" in read else 0
            values.append(str(source.ranged(minimum, read.integer("max"))))
    return whole(source, {"values": values})


def bytes_(given, data):
    source = Bytes(data)
    readers = {
        "f32": lambda: json_f32(source.f32()),
        "f64": lambda: json_f64(source.f64()),
        "bool": source.boolean,
        "varint": lambda: str(source.varint()),
    }
    for size in (1, 2, 4, 8):
        readers[f"u{8 * size}"] = lambda size=size: str(source.unsigned(size))
        readers[f"i{8 * size}"] = lambda size=size: str(source.signed(size))
    values = []
    for read in given["reads"]:
        if isinstance(read, str):
            values.append(readers[read]())
        elif "str" in read:
            values.append(source.string(read["str"]))
        else:
            values.append(source.blob(read["blob"]).hex())
    return whole(source, {"values": values})


def name(given, data):
    source = Bytes(data)
    hash_, text = read_name(source, {"hashed": False, "with_text": True}[given["mode"]])
    return whole(source, {"hash": str(hash_), "text": text})


def hash_(_given, data):
    return {"fnv1a_64": str(fnv1a_64(data)), "fnv1a_32": fnv1a_32(data)}


def packet_number(given, data):
    source = Bytes(data)
    return whole(source, {"value": str(full_packet_number(given.integer("largest"), source.unsigned(2)))})


def alias(_given, data):
    source = Bytes(data)
    slot, generation = source.unsigned(2), source.unsigned(1)
    return whole(source, {"slot": slot, "generation": generation, "script_int": slot | generation << 16})


def quantized(given, data):
    source = Bytes(data)
    words = [source.signed(4) for _ in range(3)]
    what = given["what"]
    if what == "custom":
        per_unit = given["per_unit"]
    else:
        tables = {"position": POSITION_PER_UNIT, "velocity": VELOCITY_PER_UNIT}
        profile = given["profile"]
        per_unit = SCALE_PER_UNIT if what == "scale" else tables[what][profile]
    return whole(source, {"values": [json_f32(dequantize(word, per_unit)) for word in words]})


def rotation(given, data):
    source = Bytes(data)
    component_bits = given["component_bits"]
    code = source.unsigned({10: 4, 15: 6}[component_bits])
    value = json_value(unpack_rotation(code, component_bits))
    del value["raw"]
    return whole(source, value)


def origin(_given, data):
    source = Bytes(data)
    metres, version = read_origin(source)
    return whole(source, {"metres": [json_f64(metre) for metre in metres], "version": version})


def record(_given, data):
    source = Bytes(data)
    fields = read_record(source)
    return whole(source, {key: json_value(value) for key, value in fields.items()})


def schema(_given, data):
    name_, fields = read_schema(Bytes(data))
    return {"name": name_, "fields": fields, "hash": str(fnv1a_64(data))}


def field_value(field, value):
    """A hash or a u64 may exceed 53 bits and is written as a string."""
    if field["kind"] == "array":
        return [field_value(field["element"], element) for element in value]
    return str(value) if field["kind"] in ("u64", "name") else json_value(value)


def check_step(field):
    """A quantized field is compared as its word; its step needs only to be one."""
    if field["kind"] == "array":
        return check_step(field["element"])
    require(field["kind"] != "quantized" or 1 <= field["per_unit"] <= 1_000_000, "per_unit in 1..=1000000")


def property_block(given, data):
    fields = given["fields"]
    for field in fields:
        check_flags(field["flags"])
        require(field["name"], "a field has a name")
        check_content(field, reliable="delivery" in field and field["delivery"] == "reliable")
        check_step(field)
    properties = read_property_block(Bytes(data), fields)
    return {"properties": [{"index": index, "value": field_value(fields[index], value)} for index, value in properties]}


def bit_value(given, data):
    source = Bits(data)
    if source.unsigned(3) != 5:
        raise Refusal("the three leading bits are not 101")
    check_step(given)
    return whole(source, {"value": field_value(given, read_value(BitForm(source), given))})


def code_table(_given, data):
    tables = read_table_set(data)
    described = {name_: {"id": table.id(), "lengths": table.lengths} for name_, table in tables.items()}
    return {"id": fnv1a_32(data)} | described


def changed_mask(given, data):
    source = Bits(data)
    return whole(source, {"mask": str(read_changed_mask(source, GENERIC["mask"], given["field_count"]))})


def residual(given, data):
    source = Bits(data)
    word = read_residual(source, GENERIC["residual"], given["min"], given["max"], given["predicted"])
    return whole(source, {"word": word})


def run(given, data):
    source = Bits(data)
    return whole(source, {"run": read_run(source, GENERIC["run"], given["max"])})


def prediction(given, data):
    newer, older = given["newer"], given["older"]
    ages_and_words = (newer["word"], newer["age"], older["word"], older["age"])
    return whole(Bytes(data), {"predicted": predict(*ages_and_words, given["min"], given["max"])})


def frame(given, data):
    """Read twice, whole and byte by byte: where a stream is cut must not matter."""
    outcomes = []
    for pieces in ([data], [data[place : place + 1] for place in range(len(data))]):
        reader = FrameReader(given["payload_bytes_max"])
        try:
            frames = [frame for piece in pieces for frame in reader.push(piece)]
            outcomes.append((frames, len(reader.held)))
        except Refusal as refusal:
            outcomes.append(refusal.reason)
    require(outcomes[0] == outcomes[1], "a stream in pieces reads like the whole")
    if isinstance(outcomes[0], str):
        raise Refusal(outcomes[0])
    frames, left_over = outcomes[0]
    return {"frames": [{"id": id_, "payload": payload.hex()} for id_, payload in frames], "left_over": left_over}


def stream_mask(given, data):
    return {"plain": unmask(data, given["seed"]).hex()}


def classic(_given, data):
    opcode, payload = read_classic(data)
    if "entities" in payload:
        entities = [{key: json_value(item) for key, item in entity.items()} for entity in payload["entities"]]
        return {"opcode": opcode, "payload": {"entities": entities}}
    return {"opcode": opcode, "payload": {key: json_value(item) for key, item in payload.items()}}


CHECKS = {
    "wire_varint": varint,
    "wire_bits": bits,
    "wire_bytes": bytes_,
    "wire_name": name,
    "wire_hash": hash_,
    "wire_packet_number": packet_number,
    "wire_alias": alias,
    "wire_quantized": quantized,
    "wire_rotation": rotation,
    "wire_origin": origin,
    "wire_record": record,
    "wire_schema": schema,
    "wire_property_block": property_block,
    "wire_bit_value": bit_value,
    "wire_code_table": code_table,
    "wire_changed_mask": changed_mask,
    "wire_residual": residual,
    "wire_run": run,
    "wire_predict": prediction,
    "wire_frame": frame,
    "wire_stream_mask": stream_mask,
    "wire_classic": classic,
}
