"""The messages between a server and its players (sections 51, 52, 54 to 56).

The first byte of a message says what it is. Each message is a list of fields that are read one after the other, and
must end where the last of them does; one whose content stands in a section of its own hands that on as its rest.
"""

from cursors import Refusal

NAME_MAX, ROOM_MAX, TICKET_MAX, REASON_MAX, CHAT_MAX = 64, 64, 1_024, 256, 2_000
TYPED_MAX, KEY_MAX, VALUE_MAX, LOBBY_NAME_MAX, KICK_REASON_MAX, GAME_TEXT_MAX = 2_000, 32, 64, 128, 400, 120
SNAPSHOT_MAX = 1_200
GAME_CODES = 128


def refuse_unless(condition, reason="OutOfRange"):
    if not condition:
        raise Refusal(reason)


def number(count):
    return lambda source: source.unsigned(count)


def text(limit):
    return lambda source: source.string(limit)


def flag(source):
    return source.boolean()


def rest(source):
    return source.take(source.left()).hex()


def alias(source):
    return {"slot": source.unsigned(2), "generation": source.unsigned(1)}


def code(first, last):
    """A number of one byte in a range."""

    def read(source):
        found = source.unsigned(1)
        refuse_unless(first <= found <= last)
        return found

    return read


def read_fields(source, fields):
    """Fields in order, and nothing after them."""
    found = {name: read(source) for name, read in fields.items()}
    source.end()
    return found


def bits(source, *names):
    """A byte of flags, the lowest first; others must be zero."""
    byte = source.unsigned(1)
    refuse_unless(byte >> len(names) == 0, "ReservedBits")
    return {name: bool(byte >> place & 1) for place, name in enumerate(names)}


TO_SERVER = {
    1: (
        "Hello",
        {
            "name": text(NAME_MAX),
            "room": text(ROOM_MAX),
            "spectator": flag,
            "calls_hash": lambda source: str(source.unsigned(8)),
            "ticket": lambda source: source.blob(TICKET_MAX).hex(),
        },
    ),
    2: ("Input", {"rest": rest}),
    3: ("Unread", {"tick": number(2)}),
    4: ("Mismatch", {"region": number(2)}),
    5: ("Call", {"rest": rest}),
    6: ("Lobby", {"rest": rest}),
    7: ("Claim", {"object": alias, "wanted": flag}),
    8: ("Write", {"object": alias, "field": number(1), "rest": rest}),
    9: ("Viewing", {"ms": number(2)}),
    10: ("Chat", {"to_team": flag, "text": text(CHAT_MAX)}),
}

WELCOME = {
    "player": number(4),
    "tick": number(4),
    "step": number(4),
    "steps_per_second": number(2),
    "sends_per_second": number(2),
    "objects": number(4),
    "room": text(ROOM_MAX),
}

TO_CLIENT = {
    65: ("Refused", {"reason": code(1, 8), "text": text(REASON_MAX)}),
    66: ("Snapshot", {"rest": rest}),
    67: ("Property", {"rest": rest}),
    68: ("Joined", {"player": number(4), "spectator": flag, "name": text(NAME_MAX)}),
    69: ("Left", {"player": number(4)}),
    70: ("Call", {"rest": rest}),
    71: ("CallRefused", {"call": number(2), "reason": code(1, 10), "text": text(REASON_MAX)}),
    72: ("Lobby", {"news": code(0, 1), "rest": rest}),
    73: ("Claimed", {"object": alias, "granted": flag}),
    75: ("Names", {"rest": rest}),
    76: ("Notice", {"kind": code(1, 5), "text": text(REASON_MAX)}),
    77: ("Said", {"player": number(4), "to_team": flag, "text": text(CHAT_MAX)}),
    78: ("Packed", {"rest": rest}),
}


def read_to_server(source):
    kind = source.unsigned(1)
    refuse_unless(kind in TO_SERVER)
    name, fields = TO_SERVER[kind]
    return {"message": name} | read_fields(source, fields)


def read_to_client(source):
    kind = source.unsigned(1)
    if kind == 64:
        flags = bits(source, "resumed", "same_calls", "spectator")
        return {"message": "Welcome"} | flags | read_fields(source, WELCOME)
    if kind == 74:
        return {"message": "Rejected"} | read_rejected(source)
    refuse_unless(kind in TO_CLIENT)
    name, fields = TO_CLIENT[kind]
    return {"message": name} | read_fields(source, fields)


def read_rejected(source):
    """Section 55: only the game's own codes have a text."""
    step, reason = source.unsigned(4), source.unsigned(1)
    refuse_unless(reason <= 7 or reason >= GAME_CODES)
    said = source.string(GAME_TEXT_MAX)
    refuse_unless(not said or reason >= GAME_CODES)
    source.end()
    return {"step": step, "code": reason, "text": said}


def read_packed(source):
    """Section 56: a length, and a block that gives exactly as many bytes."""
    length = source.unsigned(2)
    refuse_unless(1 <= length <= SNAPSHOT_MAX)
    try:
        snapshot = unpack_block(source, length)
    except Refusal:
        raise Refusal("OutOfRange") from None
    refuse_unless(len(snapshot) == length)
    return {"snapshot": snapshot.hex()}


def unpack_block(source, limit):
    """One LZ4 block: literals and copies of what came before in turn, literals last."""

    def length_of(nibble):
        total, byte = nibble, 255
        while nibble == 15 and byte == 255:
            byte = source.unsigned(1)
            total += byte
        return total

    out = bytearray()
    while True:
        token = source.unsigned(1)
        out += source.take(length_of(token >> 4))
        refuse_unless(len(out) <= limit)
        if source.left() == 0:
            return bytes(out)
        offset = source.unsigned(2)
        count = length_of(token & 15) + 4
        refuse_unless(1 <= offset <= len(out) and len(out) + count <= limit)
        for _ in range(count):
            out.append(out[-offset])


COMMANDS = {
    0: ("ready", {"is": flag}),
    1: ("team", {"team": number(2)}),
    2: ("spectate", {"is": flag}),
    3: ("rename", {"text": text(TYPED_MAX)}),
    4: ("set", {"key": text(KEY_MAX), "value": text(VALUE_MAX)}),
    5: ("start", {}),
    6: ("cancel", {}),
    7: ("restart", {}),
    8: ("kick", {"player": number(4), "text": text(TYPED_MAX)}),
    9: ("chat", {"text": text(TYPED_MAX)}),
    10: ("team chat", {"text": text(TYPED_MAX)}),
}

EVENTS = {
    0: ("started", {"player": number(4)}),
    1: ("stopped", {}),
    2: ("kicked", {"player": number(4), "text": text(KICK_REASON_MAX)}),
    4: ("refused", {"code": code(1, 25)}),
}


def read_lobby_command(source):
    kind = source.unsigned(1)
    refuse_unless(kind in COMMANDS)
    name, fields = COMMANDS[kind]
    return {"command": name} | read_fields(source, fields)


def read_lobby_event(source):
    kind = source.unsigned(1)
    if kind == 3:
        flags = bits(source, "from_server", "to_team")
        sender = None if flags["from_server"] else source.unsigned(4)
        team = source.unsigned(2) if flags["to_team"] else None
        return {"event": "chat", "from": sender, "team": team} | read_fields(source, {"text": text(CHAT_MAX)})
    refuse_unless(kind in EVENTS)
    name, fields = EVENTS[kind]
    return {"event": name} | read_fields(source, fields)


def read_lobby_state(source):
    phase = code(0, 2)(source)
    state = {"phase": phase, "left_ms": source.unsigned(4) if phase == 1 else None}
    state["host"] = source.unsigned(4) if source.boolean() else None
    for name, limit in (("seats", 64), ("needed", 64), ("teams", 16), ("places_to_watch", 64)):
        state[name] = read_count(source, limit)
    state["settings"] = [[source.string(KEY_MAX), source.string(VALUE_MAX)] for _ in range(read_count(source, 32))]
    state["members"] = [read_member(source, state["teams"]) for _ in range(read_count(source, 128))]
    source.end()
    return state


def read_count(source, limit):
    count = source.unsigned(1)
    refuse_unless(count <= limit, "TooLong")
    return count


def read_member(source, teams):
    player = source.unsigned(4)
    flags = bits(source, "watches", "ready", "has_team")
    team = source.unsigned(2) if flags.pop("has_team") else None
    refuse_unless(team is None or team < teams)
    return {"player": player, "team": team, "name": source.string(LOBBY_NAME_MAX)} | flags
