"""The primitives of Part II, from their RFCs, on Python integers (sections 19 and 21).

A reader that is to prove the text cannot lean on a library that the reference leans on too, and the standard library
has only SHA-256. These are slow and not constant in time: good for reading vectors, for nothing else.
"""

import hashlib
import hmac

CRC32C_REVERSED = 0x82F63B78
TAG_BYTES = 16


def _crc_row(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (CRC32C_REVERSED if byte & 1 else 0)
    return byte


_CRC_TABLE = [_crc_row(byte) for byte in range(256)]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def hkdf_sha256(salt, key_material, info, length):
    """RFC 5869, extract then expand."""
    pseudorandom = hmac.digest(salt, key_material, hashlib.sha256)
    output, block = b"", b""
    while len(output) < length:
        counter = bytes([len(output) // 32 + 1])
        block = hmac.digest(pseudorandom, block + info + counter, hashlib.sha256)
        output += block
    return output[:length]


_FIELD = 2**255 - 19
BASE_POINT = (9).to_bytes(32, "little")


def x25519(secret, point):
    """RFC 7748: the Montgomery ladder on Curve25519."""
    scalar = int.from_bytes(secret, "little") & ~7 & (1 << 255) - 1 | 1 << 254
    u = int.from_bytes(point, "little") & (1 << 255) - 1
    x2, z2, x3, z3, swapped = 1, 0, u, 1, 0
    for place in reversed(range(255)):
        bit = scalar >> place & 1
        if bit != swapped:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swapped = bit
        plus, minus = x2 + z2, x2 - z2
        plus_squared, minus_squared = plus * plus % _FIELD, minus * minus % _FIELD
        difference = plus_squared - minus_squared
        left, right = (x3 - z3) * plus, (x3 + z3) * minus
        x3, z3 = (left + right) ** 2 % _FIELD, u * (left - right) ** 2 % _FIELD
        x2 = plus_squared * minus_squared % _FIELD
        z2 = difference * (plus_squared + 121665 * difference) % _FIELD
    # No last swap: the lowest bits of every scalar are zero.
    return (x2 * pow(z2, _FIELD - 2, _FIELD) % _FIELD).to_bytes(32, "little")


_WORD = 0xFFFFFFFF
_ROUND = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
_ROUND += [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


def _rotate(word, count):
    return (word << count | word >> 32 - count) & _WORD


def _quarter_round(state, a, b, c, d):
    for x, y, z, count in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        state[x] = state[x] + state[y] & _WORD
        state[z] = _rotate(state[z] ^ state[x], count)


def _chacha20_block(key, counter, nonce):
    words = b"expand 32-byte k" + key + counter.to_bytes(4, "little") + nonce
    start = [int.from_bytes(words[place : place + 4], "little") for place in range(0, 64, 4)]
    state = list(start)
    for _ in range(10):
        for quarter in _ROUND:
            _quarter_round(state, *quarter)
    return b"".join((word + first & _WORD).to_bytes(4, "little") for word, first in zip(state, start))


def _chacha20(key, nonce, data):
    stream = b"".join(_chacha20_block(key, 1 + place, nonce) for place in range((len(data) + 63) // 64))
    return bytes(byte ^ mask for byte, mask in zip(data, stream))


def _poly1305(key, data):
    multiplier = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    total = 0
    for place in range(0, len(data), 16):
        part = int.from_bytes(data[place : place + 16] + b"\x01", "little")
        total = (total + part) * multiplier % (2**130 - 5)
    return ((total + int.from_bytes(key[16:], "little")) % 2**128).to_bytes(16, "little")


def _padded(data):
    return data + bytes(-len(data) % 16)


def open_sealed(key, nonce, associated, sealed):
    """RFC 8439: the plaintext of ciphertext and tag, or None if the tag does not match."""
    ciphertext, tag = sealed[:-TAG_BYTES], sealed[-TAG_BYTES:]
    lengths = len(associated).to_bytes(8, "little") + len(ciphertext).to_bytes(8, "little")
    one_time_key = _chacha20_block(key, 0, nonce)[:32]
    expected = _poly1305(one_time_key, _padded(associated) + _padded(ciphertext) + lengths)
    if len(sealed) < TAG_BYTES or not hmac.compare_digest(expected, tag):
        return None
    return _chacha20(key, nonce, ciphertext)
