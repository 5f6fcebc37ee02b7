"""The bytes of the classic protocol, written from docs/CLASSIC.md alone.

A datagram is an opcode, the size of the payload and the payload. `decode_request` and `decode_answer` take one apart into a dictionary, or
raise `Malformed` with the document's name of the reason; `encode` puts a message of a client together.
"""

import math
import struct

JOIN_LOBBY, LOBBY_STATUS, READY_TO_PLAY, GAME_START = 0x01, 0x02, 0x03, 0x04
CHALLENGE, SESSION, LEAVE = 0x05, 0x06, 0x07
PLAYER_INPUT, ENTITY_POSITIONS, GAME_INFO = 0x10, 0x11, 0x12
LEVEL_INFO, BOSS_SPAWNED, GAME_OVER = 0x20, 0x21, 0x22
POWERUP_SPAWNED, POWERUP_CHOICE, POWERUP_STATUS = 0x30, 0x31, 0x32
WEAPON_UPGRADE_AVAILABLE, WEAPON_UPGRADE_CHOICE, WEAPON_UPGRADE_CONFIRM = 0x40, 0x41, 0x42
PING, ERROR = 0xFE, 0xFF

UP, DOWN, LEFT, RIGHT, SHOOT = 0x01, 0x02, 0x04, 0x08, 0x10
RESERVED_BUTTONS = 0xE0
PLAYER, ENEMY, BOSS, SHOT, ENEMY_SHOT, CAPSULE, DEBRIS = range(1, 8)

VERSION = 1
HEADER_BYTES, TOKEN_BYTES, COOKIE_BYTES = 3, 8, 20
ENTITIES_MAX, ENTITY_BYTES = 56, 21

# Codes that a byte of a kind may have.
LOBBY_PHASES, GAME_PHASES, POWERS, WEAPONS = range(3), range(5), range(4), range(5)
BOSSES, ERRORS, BOOLEAN = range(1, 3), range(1, 8), range(2)

# What a payload is made of: (name, struct letter, the values that it may have).
FIELDS = {
    LOBBY_STATUS: [
        ("players", "B", None),
        ("ready", "B", None),
        ("capacity", "B", None),
        ("minimum", "B", None),
        ("phase", "B", LOBBY_PHASES),
        ("your_id", "I", None),
        ("your_ready", "B", BOOLEAN),
    ],
    GAME_START: [("your_id", "I", None)],
    SESSION: [("token", "Q", None)],
    GAME_INFO: [
        ("score", "I", None),
        ("lives", "B", None),
        ("level", "B", None),
        ("wave", "B", None),
        ("phase", "B", GAME_PHASES),
        ("shield", "B", None),
        ("thrusters", "B", None),
        ("drone", "B", BOOLEAN),
        ("weapon", "B", WEAPONS),
        ("weapon_level", "B", None),
        ("ammo", "B", None),
    ],
    LEVEL_INFO: [("level", "B", None), ("elapsed_ms", "I", None)],
    BOSS_SPAWNED: [("id", "I", None), ("kind", "B", BOSSES)],
    GAME_OVER: [("won", "B", BOOLEAN), ("score", "I", None), ("level", "B", None)],
    POWERUP_SPAWNED: [("id", "I", None), ("x", "f", None), ("y", "f", None), ("type", "B", None)],
    POWERUP_STATUS: [
        ("offer", "H", None),
        ("choice_0", "B", POWERS),
        ("choice_1", "B", POWERS),
        ("choice_2", "B", POWERS),
        ("taken", "B", POWERS),
        ("level", "B", None),
    ],
    WEAPON_UPGRADE_AVAILABLE: [
        ("offer", "H", None),
        ("choice_0", "B", WEAPONS),
        ("choice_1", "B", WEAPONS),
        ("choice_2", "B", WEAPONS),
    ],
    WEAPON_UPGRADE_CONFIRM: [("offer", "H", None), ("weapon", "B", WEAPONS), ("level", "B", None)],
    ERROR: [("code", "B", ERRORS), ("opcode", "B", None)],
    POWERUP_CHOICE: [("offer", "H", None), ("choice", "B", None)],
    WEAPON_UPGRADE_CHOICE: [("offer", "H", None), ("choice", "B", None)],
}

# Sizes of the payloads of clients, without a token.
REQUEST_BYTES = {
    JOIN_LOBBY: [0, 1 + COOKIE_BYTES],
    READY_TO_PLAY: [0],
    LEAVE: [0],
    PLAYER_INPUT: [1],
    POWERUP_CHOICE: [3],
    WEAPON_UPGRADE_CHOICE: [3],
    PING: [0, 4],
}


class Malformed(Exception):
    """A datagram that its receiver must refuse, with the document's name of the reason."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


def split(datagram):
    """Opcode and payload; the size must be exact."""
    if len(datagram) < HEADER_BYTES:
        raise Malformed("UnexpectedEnd")
    opcode, size = struct.unpack_from("<BH", datagram)
    if len(datagram) != HEADER_BYTES + size:
        raise Malformed("UnexpectedEnd" if len(datagram) < HEADER_BYTES + size else "TrailingData")
    return opcode, datagram[HEADER_BYTES:]


def read_fields(fields, payload):
    """The fields of a payload, which has them and nothing else; the first that is wrong is the reason."""
    message, at = {}, 0
    for name, letter, allowed in fields:
        size = struct.calcsize("<" + letter)
        if len(payload) < at + size:
            raise Malformed("UnexpectedEnd")
        (value,) = struct.unpack_from("<" + letter, payload, at)
        at += size
        if letter == "f" and not math.isfinite(value):
            raise Malformed("NonFinite")
        if allowed is not None and value not in allowed:
            raise Malformed("InvalidBool" if allowed is BOOLEAN else "OutOfRange")
        message[name] = value
    if at != len(payload):
        raise Malformed("TrailingData")
    return message


def read_entities(payload):
    """Where everything is: a count, and 21 bytes for each."""
    if len(payload) < 4:
        raise Malformed("UnexpectedEnd")
    (count,) = struct.unpack_from("<I", payload)
    if count > ENTITIES_MAX:
        raise Malformed("TooLong")
    if len(payload) != 4 + ENTITY_BYTES * count:
        raise Malformed("UnexpectedEnd" if len(payload) < 4 + ENTITY_BYTES * count else "TrailingData")
    entities = []
    for number in range(count):
        id_, x, y, vx, vy, kind = struct.unpack_from("<IffffB", payload, 4 + ENTITY_BYTES * number)
        if not all(map(math.isfinite, (x, y, vx, vy))):
            raise Malformed("NonFinite")
        entities.append({"id": id_, "x": x, "y": y, "vx": vx, "vy": vy, "type": kind})
    return {"entities": entities}


def decode_answer(datagram):
    """A datagram of the server, as (opcode, message)."""
    opcode, payload = split(datagram)
    if opcode == ENTITY_POSITIONS:
        return opcode, read_entities(payload)
    if opcode == CHALLENGE:
        if payload and len(payload) != COOKIE_BYTES:
            raise Malformed("UnexpectedEnd" if len(payload) < COOKIE_BYTES else "TrailingData")
        return opcode, {"cookie": payload.hex() if payload else None}
    if opcode == PING:
        return opcode, read_fields([("nonce", "I", None)], payload) if payload else {"nonce": None}
    if opcode not in FIELDS or opcode in REQUEST_BYTES:
        raise Malformed("OutOfRange")
    return opcode, read_fields(FIELDS[opcode], payload)


def decode_request(datagram):
    """A datagram of a client, as (opcode, message, token or None)."""
    opcode, payload = split(datagram)
    if opcode not in REQUEST_BYTES:
        raise Malformed("UnknownOpcode")
    sizes, token = REQUEST_BYTES[opcode], None
    if len(payload) not in sizes:
        if opcode == JOIN_LOBBY or len(payload) - TOKEN_BYTES not in sizes:
            raise Malformed("Size")
        token = int.from_bytes(payload[-TOKEN_BYTES:], "little")
        payload = payload[:-TOKEN_BYTES]
    if opcode == JOIN_LOBBY:
        join = {"version": payload[0], "cookie": payload[1:].hex()} if payload else None
        return opcode, {"join": join}, token
    if opcode == PLAYER_INPUT:
        if payload[0] & RESERVED_BUTTONS:
            raise Malformed("ReservedBits")
        return opcode, {"mask": payload[0]}, token
    if opcode == PING:
        nonce = int.from_bytes(payload, "little") if payload else None
        return opcode, {"nonce": nonce}, token
    return opcode, read_fields(FIELDS.get(opcode, []), payload), token


def encode(opcode, body=b"", token=None):
    """A datagram of a client."""
    if token is not None:
        body += token.to_bytes(TOKEN_BYTES, "little")
    return struct.pack("<BH", opcode, len(body)) + body


def encode_join(cookie=None):
    """The JOIN that asks for a challenge, or answers it."""
    return encode(JOIN_LOBBY, bytes([VERSION]) + (cookie or bytes(COOKIE_BYTES)))


def encode_choice(opcode, offer, choice, token=None):
    """The answer to an offer."""
    return encode(opcode, struct.pack("<HB", offer, choice), token)
