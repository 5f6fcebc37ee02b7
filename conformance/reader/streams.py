"""Framed streams, their compatibility mask, and classic datagrams (sections 12 and 13)."""

from cursors import Bytes, Refusal, finite

SIGNATURE = bytes.fromhex("22941e01")
HEADER_BYTES = 10
MASK_KEYS = 50

PLAYER_INPUT, ENTITY_POSITIONS, POWERUP_SPAWNED = 0x10, 0x11, 0x30
ENTITIES_MAX = 56
ENTITY_BYTES = 21


class FrameReader:
    """Takes a stream in pieces of any size and gives whole frames."""

    def __init__(self, payload_bytes_max):
        self.payload_bytes_max = payload_bytes_max
        self.held = b""

    def push(self, piece):
        self.held += piece
        frames = []
        while frame := self.next_frame():
            frames.append(frame)
        return frames

    def next_frame(self):
        signature = self.held[: len(SIGNATURE)]
        if signature != SIGNATURE[: len(signature)]:
            raise Refusal("BadSignature")
        if len(self.held) < 8:
            return None
        length = int.from_bytes(self.held[4:8], "little")
        if length > self.payload_bytes_max:
            raise Refusal("Oversize")
        end = HEADER_BYTES + length
        if len(self.held) < end:
            return None
        frame = (int.from_bytes(self.held[8:10], "little"), self.held[HEADER_BYTES:end])
        self.held = self.held[end:]
        return frame


def mask_keys(seed):
    state = seed or 0x9E3779B9
    keys = []
    for _ in range(MASK_KEYS):
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        keys.append(state >> 24)
    return keys


def unmask(data, seed):
    keys = mask_keys(seed)
    return bytes(byte ^ keys[place % MASK_KEYS] for place, byte in enumerate(data))


def read_classic(data):
    """Opcode and payload of one datagram of the classic shooter; a payload is a dictionary."""
    source = Bytes(data)
    opcode, size = source.unsigned(1), source.unsigned(2)
    payload = Bytes(source.take(size))
    source.end()
    readers = {PLAYER_INPUT: read_input, ENTITY_POSITIONS: read_entities, POWERUP_SPAWNED: read_powerup}
    if opcode in readers:
        content = readers[opcode](payload)
    else:
        content = {"payload": payload.take(payload.left())}
    payload.end()
    return opcode, content


def read_input(payload):
    mask = payload.unsigned(1)
    if mask >> 5:
        raise Refusal("ReservedBits")
    return {"mask": mask}


def read_floats(payload, names):
    return {name: finite(payload.f32()) for name in names}


def read_entities(payload):
    count = payload.unsigned(4)
    if count > ENTITIES_MAX:
        raise Refusal("TooLong")
    if payload.left() != ENTITY_BYTES * count:
        raise Refusal("UnexpectedEnd" if payload.left() < ENTITY_BYTES * count else "TrailingData")
    entities = []
    for _ in range(count):
        entity = {"id": payload.unsigned(4)} | read_floats(payload, ["x", "y", "vx", "vy"])
        entities.append(entity | {"type": payload.unsigned(1)})
    return {"entities": entities}


def read_powerup(payload):
    powerup = {"id": payload.unsigned(4)} | read_floats(payload, ["x", "y"])
    return powerup | {"type": payload.unsigned(1)}
