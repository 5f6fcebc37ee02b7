"""The payload of a Data packet (sections 23 and 24): frames, and the block that redundancy repeats.

    count | frame | frame | ...          frame = first byte | fields | length | data
            └─ block: leading whole reliable frames ─┘

A payload parses as a whole or not at all, before anything of it takes effect.
"""

from dataclasses import dataclass

from cursors import Bytes, Refusal

RELIABLE_KINDS = ("priority", "ordered", "unordered")
LINK_CHANNEL = 15
CHANNELS_MAX = 15
WHOLE, FRAGMENT = 0, 1
COPY, PARITY, NEAR_PARITY = 0, 1, 2
BLOCK_DISTANCE_MAX = 8
RELIABLE_FRAGMENTS_MAX = 512
UNRELIABLE_FRAGMENTS_MAX = 64


@dataclass
class Message:
    """A whole message, or the part `index` of `count`. A whole unreliable message has no id: it is 0 here."""

    channel: int
    kind: str
    id: int
    index: int | None
    count: int | None
    data: bytes

    def is_repeatable(self):
        """Whether a block may contain it."""
        return self.kind in RELIABLE_KINDS and self.index is None


@dataclass
class Copy:
    distance: int
    body: bytes


@dataclass
class Parity:
    distance: int
    other_distance: int
    lengths_xored: int
    body: bytes


def read_payload(payload, channel_kinds):
    """All frames of a payload and its block, or `malformed`."""
    source = Bytes(payload)
    try:
        count = source.unsigned(1)
        frames, block_end = [], source.at
        for _ in range(count):
            block_goes_on = block_end == source.at
            frame = read_frame(source, channel_kinds)
            if block_goes_on and isinstance(frame, Message) and frame.is_repeatable():
                block_end = source.at
            frames.append(frame)
        source.end()
    except Refusal:
        raise Refusal("malformed") from None
    if count == 0:
        raise Refusal("malformed")
    return frames, payload[1:block_end]


def read_block(block, channel_kinds):
    """The frames of a block that came back: whole messages of reliable channels and nothing else."""
    source = Bytes(block)
    frames = []
    try:
        while source.left() > 0:
            frames.append(read_frame(source, channel_kinds))
    except Refusal:
        raise Refusal("malformed") from None
    if not all(isinstance(frame, Message) and frame.is_repeatable() for frame in frames):
        raise Refusal("malformed")
    return frames


def read_frame(source, channel_kinds):
    first = source.unsigned(1)
    channel, form = first & 15, first >> 4 & 3
    if first >> 6:
        raise Refusal("malformed")
    if channel == LINK_CHANNEL:
        return read_link_frame(source, form)
    if channel >= len(channel_kinds) or form not in (WHOLE, FRAGMENT):
        raise Refusal("malformed")
    kind = channel_kinds[channel]
    id_ = 0 if kind == "unreliable" and form == WHOLE else source.unsigned(2)
    index = count = None
    if form == FRAGMENT:
        index, count = source.varint(), source.varint()
        count_max = RELIABLE_FRAGMENTS_MAX if kind in RELIABLE_KINDS else UNRELIABLE_FRAGMENTS_MAX
        if not (2 <= count <= count_max and index < count):
            raise Refusal("malformed")
    return Message(channel, kind, id_, index, count, source.take(source.varint()))


def read_link_frame(source, form):
    if form == COPY:
        distance = source.unsigned(1)
        frame = Copy(distance, source.take(source.unsigned(1)))
        valid = 1 <= distance <= BLOCK_DISTANCE_MAX
    elif form == PARITY:
        distances, lengths = source.unsigned(1), source.unsigned(1)
        frame = Parity(distances & 15, distances >> 4, lengths, source.take(source.unsigned(1)))
        is_near = (frame.distance, frame.other_distance, lengths) == (1, 2, 0)
        valid = 1 <= frame.distance < frame.other_distance <= BLOCK_DISTANCE_MAX and not is_near
    elif form == NEAR_PARITY:
        frame = Parity(1, 2, 0, source.take(source.unsigned(1)))
        valid = True
    else:
        valid = False
    if not valid:
        raise Refusal("malformed")
    return frame
