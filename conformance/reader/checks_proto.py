"""One function per file `proto_*.json` (section 32).

Most go from givens and input to a value, like those of Part I. `sessions` and `conversation` are many datagrams each;
they give back what every step should say.
"""

import packets
from channels import RELIABLE_WINDOW
from connection import BLOCK_BYTES_MAX, CONNECTED, CONNECTING, REPLAY_WINDOW, Endpoint, ReplayWindow, Session
from connection import full_number
from cursors import Bytes, Refusal
from frames import BLOCK_DISTANCE_MAX, CHANNELS_MAX, LINK_CHANNEL, RELIABLE_FRAGMENTS_MAX, UNRELIABLE_FRAGMENTS_MAX
from frames import Copy, Parity, read_payload
from given import require
from values import wrapping_distance

DISCONNECT_REASONS = ["Requested", "Timeout", "ConnectTimeout", "Cancelled", "Rejected", "Protocol", "Undeliverable"]
DISCONNECT_REASONS += ["SlowConsumer", "Resumed", "Shutdown", "Kicked", "Broken"]
REJECTIONS = ["too_short", "too_long", "unknown_type", "bad_flags", "truncated_header", "not_listening", "unpadded"]
REJECTIONS += ["unknown_session", "wrong_state", "wrong_security", "wrong_address", "replayed", "too_old", "integrity"]
REJECTIONS += ["rate_limited", "bad_cookie", "unsolicited", "ack_of_unsent", "malformed", "out_of_window", "no_room"]
CODES = {
    "packet_types": [[name, code] for code, name in enumerate(packets.PACKET_TYPES)],
    "reject_reasons": [[name, code] for code, name in enumerate(packets.REJECT_REASONS, start=1)],
    "disconnect_reasons": [[name, code] for code, name in enumerate(DISCONNECT_REASONS)],
    "rejections": REJECTIONS,
    "limits": {
        "block_bytes_max": BLOCK_BYTES_MAX,
        "block_distance_max": BLOCK_DISTANCE_MAX,
        "channels_max": CHANNELS_MAX,
        "datagram_max": packets.DATAGRAM_BYTES_MAX,
        "fragment_bytes": 900,
        "handshake_request_min": packets.HANDSHAKE_REQUEST_BYTES_MIN,
        "link_channel": LINK_CHANNEL,
        "messages_per_datagram_max": 255,
        "reliable_fragments_max": RELIABLE_FRAGMENTS_MAX,
        "reliable_window": RELIABLE_WINDOW,
        "replay_window": REPLAY_WINDOW,
        "resume_token_bytes": packets.RESUME_TOKEN_BYTES,
        "unreliable_fragments_max": UNRELIABLE_FRAGMENTS_MAX,
        "wire_version": packets.WIRE_VERSION,
    },
}


def codes(name, _given, data):
    Bytes(data).end()
    return CODES[name]


def layout(given, data):
    schema_hash, kinds = given.integer("schema_hash"), given["channel_kinds"]
    if data != packets.layout_bytes(schema_hash, kinds):
        raise Refusal("other bytes are hashed")
    return {"layout_hash": str(packets.layout_hash(schema_hash, kinds))}


def json_header(header):
    form, value = header["session"]
    session = {"id": {"form": form, "value": str(value)}, "alias": {"form": form, "value": value}}
    ack = header["ack"] and header["ack"] | {"bits": str(header["ack"]["bits"])}
    fields = {key: header[key] for key in ("type", "protected", "number")}
    return fields | {"session": session.get(form, {"form": form}), "ack": ack}


def headers(given, data):
    source = Bytes(data)
    header = packets.read_header(source, given["aliased"])
    source.end()
    return json_header(header)


def whole_packets(given, data):
    source = Bytes(data)
    header = packets.read_header(source, given["aliased"])
    if header["plain"]:
        payload = packets.without_checksum(data, given.integer("protocol_id"))[source.at :]
    else:
        number = given.integer("number")
        if number % 65536 != header["number"]:
            raise Refusal("the header has another number")
        payload = packets.unseal(given.octets("key"), number, data[: source.at], data[source.at :])
    return {"header": json_header(header), "payload": payload.hex()}


def json_frame(frame):
    if isinstance(frame, Copy):
        return {"frame": "copy", "distance": frame.distance, "body": frame.body.hex()}
    if isinstance(frame, Parity):
        distances = {"distance": frame.distance, "other_distance": frame.other_distance}
        return distances | {"frame": "parity", "lengths_xored": frame.lengths_xored, "body": frame.body.hex()}
    fragment = None if frame.index is None else {"index": frame.index, "count": frame.count}
    place = {"channel": frame.channel, "kind": frame.kind, "id": frame.id}
    return place | {"frame": "message", "fragment": fragment, "data": frame.data.hex()}


def frames(given, data):
    found, block = read_payload(data, given["channel_kinds"])
    return {"frames": [json_frame(frame) for frame in found], "block": block.hex()}


def keys(given, data):
    Bytes(data).end()
    client_secret, server_secret = given.octets("client_secret"), given.octets("server_secret")
    client_nonce, server_nonce = given.octets("client_nonce"), given.octets("server_nonce")
    transcript = given.octets("transcript")
    client_public, server_public = packets.public_key(client_secret), packets.public_key(server_secret)
    shared = packets.agree(client_secret, server_public)
    require(shared == packets.agree(server_secret, client_public), "both sides agree on one secret")
    source = Bytes(transcript)
    source.take(8)
    claims = packets.read_claims(source)
    require((claims["nonce"], claims["public"]) == (client_nonce, client_public), "the claims are the client's")
    require(source.take(packets.KEY_BYTES) == server_public, "the transcript has the server's key")
    require(source.left() == packets.COOKIE_BYTES, "the transcript ends with the cookie")
    to_server, to_client, fingerprint = packets.session_keys(shared, client_nonce, server_nonce, transcript)
    return {
        "client_public": client_public.hex(),
        "server_public": server_public.hex(),
        "shared": shared.hex(),
        "response_key": packets.response_key(shared, client_nonce, transcript).hex(),
        "to_server_key": to_server.hex(),
        "to_client_key": to_client.hex(),
        "fingerprint": str(fingerprint),
    }


def json_handshake(value):
    """Nested fields: bytes as hex, 64-bit numbers as strings."""
    wide = ("layout_hash", "session_id", "detail")
    shown = {}
    for key, item in value.items():
        if isinstance(item, dict):
            shown[key] = json_handshake(item)
        elif isinstance(item, bytes):
            shown[key] = item.hex()
        else:
            shown[key] = str(item) if key in wide else item
    return shown


def handshake(given, data):
    return json_handshake(packets.read_handshake(data, given.integer("protocol_id"), given.octets("key")))


def numbers(given, data):
    source = Bytes(data)
    low16 = source.unsigned(2)
    source.end()
    if given["what"] == "id_distance":
        distance = wrapping_distance(low16, given["from"], 16)
        return {"distance": distance, "newer": distance > 0}
    require(given["truncated"] == low16, "the input is the truncated number")
    window = ReplayWindow()
    if given["newest"] is not None:
        window.mark(given.integer("newest"))
    full = full_number(window.newest, low16)
    window.check(full)
    return {"full": str(full)}


def acks(given, data):
    source = Bytes(data)
    header = packets.read_header(source, receiver_has_alias=True)
    source.end()
    ack, received = header["ack"], given["received"]
    offsets = [place for place in range(ack["width"]) if ack["bits"] >> place & 1]
    acknowledged = [ack["newest"]] + [ack["newest"] - 1 - place for place in offsets]
    in_reach = [number for number in received if ack["newest"] - ack["width"] <= number <= ack["newest"]]
    if acknowledged != sorted(in_reach, reverse=True):
        raise Refusal("the header names other packets than were received")
    if ack["newest"] != max(received) and ack["delay_ms"] != 255:
        raise Refusal("a round trip is measured from the highest number only")
    return {"ack": json_header(header)["ack"], "acknowledged": acknowledged}


def rejects(given, data):
    receiver = given["receiver"]
    listens, protocol_id = receiver["listens"], receiver.integer("protocol_id")
    session = None
    if "session_id" in receiver:
        key = receiver.octets("key")
        require(receiver["sealed"] == (key is not None), "a sealed session has a key")
        kinds, id_, exchanged = receiver["channel_kinds"], receiver.integer("session_id"), receiver["exchanged"]
        state = CONNECTED if exchanged else CONNECTING
        session = Session(kinds, protocol_id, id_, receiver["alias"], key, state)
        for number in range(exchanged):
            session.window.mark(number)
            session.last_sent = number
    from_its_address = {"the client's address": True, "another address": False, "anywhere": False}[given["from"]]
    header, payload, _ = Endpoint(listens, protocol_id, session).handle(data, from_its_address)
    return {"header": json_header(header), "payload": payload.hex()}


def sessions(given, steps):
    """What each datagram of a session delivers, or why it is dropped."""
    protocol_id, session_id, key = given.integer("protocol_id"), given.integer("session_id"), given.octets("key")
    session = Session(given["channel_kinds"], protocol_id, session_id, given["alias"], key, CONNECTING)
    server = Endpoint(True, protocol_id, session)
    outcomes = []
    for data in steps:
        try:
            _, _, messages = server.handle(data)
            outcomes.append({"messages": [{"channel": channel, "data": sent.hex()} for channel, sent in messages]})
        except Refusal as refusal:
            outcomes.append({"error": refusal.reason})
    return outcomes


class Conversation:
    """One sealed connection from its first datagram, read with the client's secret."""

    def __init__(self, protocol_id, client_secret):
        self.protocol_id = protocol_id
        self.client_secret = client_secret
        self.value = {"events": []}
        self.endpoints = {}
        self.handlers = {
            "Connect": self.connect,
            "Challenge": self.challenge,
            "Response": self.response,
            "Accept": self.accept,
        }

    def handle(self, sender, ms, data):
        """What the datagram shows; events go to the value."""
        kind = packets.packet_type(data)
        if kind in packets.HANDSHAKE_TYPES:
            asks = kind in ("Connect", "Response")
            require(sender == ("client" if asks else "server"), "clients ask, servers answer")
            self.handlers[kind](ms, data)
            return {"type": kind}
        receiver = {"client": "server", "server": "client"}[sender]
        return self.session_packet(sender, receiver, ms, data)

    def event(self, event, to, ms, channel=None, data=None):
        self.value["events"].append({"event": event, "to": to, "ms": ms, "channel": channel, "data": data})

    def connect(self, _ms, data):
        self.claims_bytes = data[1 : 1 + packets.CLAIMS_BYTES]
        self.claims = packets.read_handshake(data, self.protocol_id, None)["claims"]
        require(self.claims["public"] == packets.public_key(self.client_secret), "the key is the client's")
        require(self.claims["version"] == packets.WIRE_VERSION, "one wire version")
        # The file names no channels; this hash says that they are the five kinds in the order of their codes.
        require(self.claims["layout_hash"] == packets.layout_hash(0, packets.CHANNEL_KINDS), "the five kinds")

    def challenge(self, _ms, data):
        challenge = packets.read_handshake(data, self.protocol_id, None)
        require(challenge["sealed"] and challenge["nonce"] == self.claims["nonce"], "a sealed answer to this client")
        self.cookie = challenge["cookie"]
        parts = (self.protocol_id, self.claims_bytes, challenge["public"], self.cookie)
        self.transcript = packets.make_transcript(*parts)
        self.shared = packets.agree(self.client_secret, challenge["public"])

    def response(self, _ms, data):
        key = packets.response_key(self.shared, self.claims["nonce"], self.transcript)
        response = packets.read_handshake(data, self.protocol_id, key)
        require((response["claims"], response["cookie"]) == (self.claims, self.cookie), "the same claims, its cookie")
        self.value["response_key"] = key.hex()

    def accept(self, ms, data):
        server_nonce = data[1 + packets.NONCE_BYTES : 1 + 2 * packets.NONCE_BYTES]
        parts = (self.shared, self.claims["nonce"], server_nonce, self.transcript)
        to_server, to_client, fingerprint = packets.session_keys(*parts)
        accept = packets.read_handshake(data, self.protocol_id, to_client)
        require(accept["client_nonce"] == self.claims["nonce"], "an Accept for this client")
        self.value |= {"to_server_key": to_server.hex(), "to_client_key": to_client.hex()}
        self.value["fingerprint"] = str(fingerprint)
        common = (packets.CHANNEL_KINDS, self.protocol_id, accept["session_id"])
        server = Session(*common, accept["alias"], to_server, CONNECTING)
        client = Session(*common, None, to_client, CONNECTED)
        self.endpoints["server"] = Endpoint(True, self.protocol_id, server)
        self.endpoints["client"] = Endpoint(False, self.protocol_id, client)
        self.event("connected", "client", ms)

    def session_packet(self, sender, receiver, ms, data):
        session = self.endpoints[receiver].session
        was_connecting = session.state == CONNECTING
        header, payload, messages = self.endpoints[receiver].handle(data)
        self.endpoints[sender].session.last_sent = session.window.newest
        if was_connecting:
            self.event("connected", receiver, ms)
        for channel, sent in messages:
            self.event("message", receiver, ms, channel, sent.hex())
        if header["type"] == "Disconnect":
            self.event("disconnected", receiver, ms)
        return {"type": header["type"], "header": json_header(header), "payload": payload.hex()}


def conversation(given, datagrams):
    """What each datagram shows to a reader with the client's secret, and keys and events of the whole."""
    talk = Conversation(given.integer("protocol_id"), given.octets("client_secret"))
    shown = [talk.handle(sender, ms, data) for sender, ms, data in datagrams]
    return shown, talk.value


CHECKS = {
    "proto_layout": layout,
    "proto_headers": headers,
    "proto_packets": whole_packets,
    "proto_frames": frames,
    "proto_keys": keys,
    "proto_handshake": handshake,
    "proto_numbers": numbers,
    "proto_acks": acks,
    "proto_rejects": rejects,
}
