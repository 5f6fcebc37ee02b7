"""One function per file `session_*.json` (section 61)."""

import sessions
from calls import Arguments, NameList, read_frame, table_hash, table_pages
from cursors import Bytes, Refusal, fnv1a_64
from given import require
from sessions import refuse_unless

OPTIONS = ("name", "callers", "delivery", "at_view_time", "forwarded", "bytes_max")
DATAGRAM_BYTES = 240
GAME_NAME_MAX = 64


def game(given, data):
    """Section 50: which game this is, in two numbers."""
    Bytes(data).end()
    name = given["game"].encode()
    require(1 <= len(name) <= GAME_NAME_MAX, "a name of 1 to 64 bytes")
    layout = fnv1a_64(given.integer("classes_hash").to_bytes(8, "little")) >> 16
    schema_hash = given["version"] << 48 | layout
    return {
        "protocol_id": str(fnv1a_64(b"netloom session 1 " + name)),
        "schema_hash": str(schema_hash),
        "version_in_hash": schema_hash >> 48,
    }


def whole(read):
    """A check that reads a message to its end."""
    return lambda _given, data: read(Bytes(data))


def head(source, magic):
    """What questions and answers begin with (section 53)."""
    refuse_unless(source.take(4) == magic and source.unsigned(1) == 1)
    return {"protocol": str(source.unsigned(8)), "nonce": str(source.unsigned(8))}


def question(_given, data):
    if len(data) != DATAGRAM_BYTES:
        return None
    source = Bytes(data)
    try:
        asked = head(source, b"NLFQ")
    except Refusal:
        return None
    return None if any(source.take(source.left())) else asked


def answer(_given, data):
    source = Bytes(data)
    found = head(source, b"NLFA")
    for name, count in (("version", 2), ("port", 2), ("transport", 1), ("players", 2), ("seats", 2)):
        found[name] = source.unsigned(count)
    for name in ("name", "room", "code"):
        found[name] = source.string(64)
    source.end()
    return found


def frame(given, data):
    require(given["from"] in ("client", "server"), "a side")
    return read_frame(Bytes(data), given["from"] == "client")


def table(given, data):
    Bytes(data).end()
    calls = [{option: call[option] for option in OPTIONS} for call in given["calls"]]
    calls.sort(key=lambda call: call["name"].encode())
    return {
        "hash": str(table_hash(calls)),
        "names": [call["name"] for call in calls],
        "pages": [page.hex() for page in table_pages(calls)],
    }


def page(given, data):
    names = NameList()
    for before in given["before"]:
        names.receive(bytes.fromhex(before))
    return names.receive(data)


def arguments(_given, data):
    return {"arguments": Arguments(data).read()}


CHECKS = {
    "session_game": game,
    "session_to_server": whole(sessions.read_to_server),
    "session_to_client": whole(sessions.read_to_client),
    "session_rejected": whole(sessions.read_rejected),
    "session_packed": whole(sessions.read_packed),
    "session_question": question,
    "session_answer": answer,
    "session_lobby_command": whole(sessions.read_lobby_command),
    "session_lobby_event": whole(sessions.read_lobby_event),
    "session_lobby_state": whole(sessions.read_lobby_state),
    "session_frame": frame,
    "session_table": table,
    "session_page": page,
    "session_arguments": arguments,
}
