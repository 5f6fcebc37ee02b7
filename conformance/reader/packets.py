"""Headers, trailers, keys and handshake packets (sections 17 to 22).

Everything here looks at one datagram and knows no connection: it says what the bytes mean, or which rejection of
section 27 they earn. What a connection makes of them is in `connection`.
"""

from crypto import BASE_POINT, TAG_BYTES, crc32c, hkdf_sha256, open_sealed, x25519
from cursors import Bytes, Refusal, fnv1a_64

PACKET_TYPES = ["Connect", "Challenge", "Response", "Accept", "Reject"]
PACKET_TYPES += ["Data", "Ack", "KeepAlive", "Disconnect", "PathChallenge", "PathResponse", "Quiet"]
HANDSHAKE_TYPES = PACKET_TYPES[:5]
REJECT_REASONS = ["Version", "Schema", "Tables", "Security", "Full", "Resume", "Denied"]
SECURITY = ["off", "optional", "required"]
CHANNEL_KINDS = ["priority", "ordered", "unordered", "unreliable", "sequenced"]

DATAGRAM_BYTES_MAX = 1200
HANDSHAKE_REQUEST_BYTES_MIN = 1000
WIRE_VERSION = 1
CLAIMS_BYTES = 66
NONCE_BYTES = 16
KEY_BYTES = 32
COOKIE_BYTES = 20
RESUME_TOKEN_BYTES = 32
CRC_BYTES = 4
ACCEPT_NUMBER = 2**64 - 1


def packet_type(datagram):
    """The type in the first byte, after the checks that come before any other."""
    if not datagram:
        raise Refusal("too_short")
    if len(datagram) > DATAGRAM_BYTES_MAX:
        raise Refusal("too_long")
    code = datagram[0] & 15
    if code >= len(PACKET_TYPES):
        raise Refusal("unknown_type")
    return PACKET_TYPES[code]


def read_header(source, receiver_has_alias):
    """The header of a session packet (section 18) as a dictionary."""
    try:
        first = source.unsigned(1)
        kind = PACKET_TYPES[first & 15]
        protected = bool(first & 0x40)
        if protected and kind != "Data":
            raise Refusal("bad_flags")
        header = {"type": kind, "protected": protected, "plain": bool(first & 0x80)}
        if header["plain"]:
            header["session"] = ("id", source.unsigned(8))
        elif receiver_has_alias:
            header["session"] = ("alias", source.unsigned(2))
        else:
            header["session"] = ("address", None)
        header["number"] = source.unsigned(2)
        header["ack"] = read_ack(source, first >> 4 & 3)
    except Refusal as refusal:
        raise Refusal("truncated_header" if refusal.reason == "UnexpectedEnd" else refusal.reason) from None
    return header


def read_ack(source, form):
    if form == 0:
        return None
    width = 8 << form
    return {
        "newest": source.unsigned(2),
        "delay_ms": source.unsigned(1),
        "width": width,
        "bits": source.unsigned(width // 8),
    }


def without_checksum(datagram, protocol_id):
    """The bytes before a datagram's checksum, if it matches (section 19.1)."""
    body, crc = datagram[:-CRC_BYTES], datagram[-CRC_BYTES:]
    if crc32c(protocol_id.to_bytes(8, "little") + body) != int.from_bytes(crc, "little"):
        raise Refusal("integrity")
    return body


def unseal(key, number, associated, sealed):
    """Opens a seal of section 19.2."""
    plain = open_sealed(key, bytes(4) + number.to_bytes(8, "little"), associated, sealed)
    if plain is None:
        raise Refusal("integrity")
    return plain


def layout_bytes(schema_hash, channel_kinds):
    return schema_hash.to_bytes(8, "little") + bytes(CHANNEL_KINDS.index(kind) for kind in channel_kinds)


def layout_hash(schema_hash, channel_kinds):
    return fnv1a_64(layout_bytes(schema_hash, channel_kinds))


def public_key(secret):
    return x25519(secret, BASE_POINT)


def agree(secret, public):
    shared = x25519(secret, public)
    if not any(shared):
        raise Refusal("malformed")
    return shared


def response_key(shared, client_nonce, transcript):
    return hkdf_sha256(client_nonce, shared, b"netloom response" + transcript, KEY_BYTES)


def session_keys(shared, client_nonce, server_nonce, transcript):
    """The key to the server, the key to the client, and the fingerprint (section 21)."""
    material = hkdf_sha256(client_nonce + server_nonce, shared, b"netloom session" + transcript, 72)
    return material[:32], material[32:64], int.from_bytes(material[64:], "little")


def make_transcript(protocol_id, claims, server_public, cookie):
    return protocol_id.to_bytes(8, "little") + claims + server_public + cookie


def flag(source):
    value = source.unsigned(1)
    if value > 1:
        raise Refusal("malformed")
    return value == 1


def read_claims(source):
    """Section 22.1."""
    claims = {
        "version": source.unsigned(2),
        "layout_hash": source.unsigned(8),
        "table_id": source.unsigned(4),
        "security": source.unsigned(1),
        "nonce": source.take(NONCE_BYTES),
        "public": source.take(KEY_BYTES),
    }
    has_alias, alias = flag(source), source.unsigned(2)
    if claims["security"] >= len(SECURITY) or (alias and not has_alias):
        raise Refusal("malformed")
    return claims | {"security": SECURITY[claims["security"]], "alias": alias if has_alias else None}


def read_connect(body, _key):
    return {"claims": read_claims(Bytes(body[1:]))}


def read_challenge(body, _key):
    source = Bytes(body[1:])
    nonce, sealed = source.take(NONCE_BYTES), flag(source)
    challenge = {"nonce": nonce, "sealed": sealed}
    challenge |= {"public": source.take(KEY_BYTES), "cookie": source.take(COOKIE_BYTES)}
    source.end()
    return challenge


def read_response(body, key):
    """Claims, cookie and resume token; with a key, the last of them is opened first (section 22.4)."""
    open_bytes = 1 + CLAIMS_BYTES + COOKIE_BYTES
    source = Bytes(body[1:])
    response = {"claims": read_claims(source), "cookie": source.take(COOKIE_BYTES)}
    secret_bytes = 1 + RESUME_TOKEN_BYTES
    if key is None:
        secret = source.take(secret_bytes)
    else:
        secret = unseal(key, 0, body[:open_bytes], source.take(secret_bytes + TAG_BYTES))
    return response | {"resume": secret[1:] if flag(Bytes(secret)) else None}


def read_accept(body, key):
    """Section 22.5: nonces, and the session behind the seal."""
    open_bytes = 1 + 2 * NONCE_BYTES
    head, rest = Bytes(body[1:open_bytes]), body[open_bytes:]
    accept = {"client_nonce": head.take(NONCE_BYTES), "server_nonce": head.take(NONCE_BYTES)}
    if key is not None:
        rest = unseal(key, ACCEPT_NUMBER, body[:open_bytes], rest)
    source = Bytes(rest)
    accept |= {"session_id": source.unsigned(8), "alias": source.unsigned(2)}
    accept["resume"] = source.take(RESUME_TOKEN_BYTES)
    source.end()
    return accept


def read_reject(body, _key):
    source = Bytes(body[1:])
    reject = {"nonce": source.take(NONCE_BYTES), "reason": source.unsigned(1)}
    if not 1 <= reject["reason"] <= len(REJECT_REASONS):
        raise Refusal("malformed")
    reject["detail"] = source.unsigned(8)
    source.end()
    return reject


HANDSHAKE_READERS = {
    "Connect": read_connect,
    "Challenge": read_challenge,
    "Response": read_response,
    "Accept": read_accept,
    "Reject": read_reject,
}


def open_handshake(datagram, protocol_id):
    """Type and body of a handshake packet; length, flags and checksum in the order of section 27."""
    kind = packet_type(datagram)
    if kind in ("Connect", "Response") and len(datagram) < HANDSHAKE_REQUEST_BYTES_MIN:
        raise Refusal("unpadded")
    if len(datagram) < 1 + CRC_BYTES:
        raise Refusal("too_short")
    if datagram[0] >> 4:
        raise Refusal("bad_flags")
    return kind, without_checksum(datagram, protocol_id)


def read_handshake(datagram, protocol_id, key):
    """A handshake packet's fields; `key` opens its sealed part, None if it has none."""
    kind, body = open_handshake(datagram, protocol_id)
    try:
        return {"type": kind} | HANDSHAKE_READERS[kind](body, key)
    except Refusal as refusal:
        named = {"TrailingData": "malformed", "UnexpectedEnd": "too_short"}
        raise Refusal(named.get(refusal.reason, refusal.reason)) from None
