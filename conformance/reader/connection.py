"""The receiving half of a connection: from a datagram to messages or a rejection (sections 18, 24, 25, 27).

A datagram passes every check before it changes anything:

    shape -> session -> state -> security -> address -> window -> seal -> ack -> payload  |  then it is believed

What this reader is: a receiver without clock, limits of memory or a sending side. Of what it would send it knows only
the highest number, which the caller tells it, to judge acks.
"""

from channels import make_channel
from crypto import TAG_BYTES
from cursors import Bytes, Refusal
from frames import Copy, Parity, read_block, read_payload
from packets import CRC_BYTES, HANDSHAKE_TYPES, open_handshake, packet_type, read_claims, read_header
from packets import unseal, without_checksum
from values import full_packet_number

REPLAY_WINDOW = 512
BLOCKS_KEPT = 16
BLOCK_BYTES_MAX = 255
GOODBYE, CONFIRM = 0, 1
PAYLOAD_BYTES = {"Ack": 0, "KeepAlive": 0, "Disconnect": 2, "PathChallenge": 8, "PathResponse": 8}

CONNECTING, CONNECTED, DISCONNECTING, DISCONNECTED = "connecting", "connected", "disconnecting", "disconnected"
ACCEPTED_TYPES = {
    CONNECTING: {"Data", "Quiet", "Ack", "KeepAlive", "Disconnect"},
    CONNECTED: {"Data", "Quiet", *PAYLOAD_BYTES},
    DISCONNECTING: {"Disconnect"},
    DISCONNECTED: {"Disconnect"},
}


def full_number(newest, low16):
    """Section 18.2: the full number behind its low 16 bits, `newest` being the highest accepted or None."""
    return low16 if newest is None else full_packet_number(newest, low16)


class ReplayWindow:
    def __init__(self):
        self.newest = None
        self.seen = set()

    def check(self, number):
        if self.newest is not None and number <= self.newest - REPLAY_WINDOW:
            raise Refusal("too_old")
        if number in self.seen:
            raise Refusal("replayed")

    def mark(self, number):
        self.newest = number if self.newest is None else max(self.newest, number)
        self.seen.add(number)


class Redundancy:
    """Blocks and parities of recent packets, and what can be recovered from them (section 24)."""

    def __init__(self):
        self.blocks = {}
        # Number of the packet that carried it -> (numbers of its two blocks, lengths, body), the oldest first.
        self.parities = {}

    def keep(self, number, block):
        if len(block) > BLOCK_BYTES_MAX:
            return
        self.blocks[number] = block
        for old in sorted(self.blocks)[:-BLOCKS_KEPT]:
            del self.blocks[old]

    def keep_parity(self, number, frame):
        pair = (number - frame.distance, number - frame.other_distance)
        if min(pair) < 0:
            return
        self.parities[number] = (pair, frame.lengths_xored, frame.body.ljust(BLOCK_BYTES_MAX, b"\0"))
        for old in sorted(self.parities)[:-BLOCKS_KEPT]:
            del self.parities[old]

    def recover(self, tried):
        """The next block that a parity gives: the packet with the parity, the block's own and its bytes; or None."""
        for carrier, (pair, lengths, body) in list(self.parities.items()):
            if carrier in tried:
                continue
            missing = [number for number in pair if number not in self.blocks]
            if len(missing) == 2:
                continue
            if not missing:
                del self.parities[carrier]
                continue
            kept = self.blocks[pair[0] + pair[1] - missing[0]]
            both = bytes(one ^ other for one, other in zip(body, kept.ljust(BLOCK_BYTES_MAX, b"\0")))
            return carrier, missing[0], both[: lengths ^ len(kept)]
        return None

    def handle_taken(self, carrier, number, block):
        del self.parities[carrier]
        self.keep(number, block)


class Session:
    """One accepted connection, as its receiver sees it."""

    def __init__(self, channel_kinds, protocol_id, session_id, alias, key, state):
        self.channel_kinds = channel_kinds
        self.protocol_id = protocol_id
        self.session_id = session_id
        self.alias = alias
        self.key = key
        self.state = state
        self.last_sent = None
        self.window = ReplayWindow()
        self.redundancy = Redundancy()
        self.channels = [make_channel(kind) for kind in channel_kinds]

    def is_named_by(self, header):
        form, value = header["session"]
        return form == "address" or value == {"id": self.session_id, "alias": self.alias}[form]

    def check(self, header, header_bytes, rest, from_its_address):
        """Rows 7 to 14 of section 27. Gives the full number, the payload and its parsed content."""
        if not self.is_named_by(header):
            raise Refusal("unknown_session")
        if header["type"] not in ACCEPTED_TYPES[self.state]:
            raise Refusal("wrong_state")
        if header["plain"] != (self.key is None):
            raise Refusal("wrong_security")
        if header["plain"] and not from_its_address:
            raise Refusal("wrong_address")
        number = full_number(self.window.newest, header["number"])
        self.window.check(number)
        if self.key is None:
            payload = without_checksum(header_bytes + rest, self.protocol_id)[len(header_bytes) :]
        else:
            payload = unseal(self.key, number, header_bytes, rest)
        self.check_ack(header["ack"])
        return number, payload, self.parse(header["type"], payload)

    def check_ack(self, ack):
        if ack is None:
            return
        if self.last_sent is None:
            raise Refusal("ack_of_unsent")
        behind = (self.last_sent - ack["newest"]) % 65536
        if behind >= 32768 or behind > self.last_sent:
            raise Refusal("ack_of_unsent")

    def parse(self, kind, payload):
        if kind in ("Data", "Quiet"):
            return read_payload(payload, self.channel_kinds)
        if len(payload) != PAYLOAD_BYTES[kind] or (kind == "Disconnect" and payload[0] not in (GOODBYE, CONFIRM)):
            raise Refusal("malformed")
        return None

    def believe(self, header, number, payload, content):
        """Section 25, from the second step: the messages that the packet delivers."""
        self.window.mark(number)
        if self.state == CONNECTING:
            self.state = CONNECTED
        if header["type"] == "Disconnect":
            self.state = DISCONNECTED
        if header["type"] not in ("Data", "Quiet"):
            return []
        frames, block = content
        self.not_taken = None
        messages = []
        try:
            for frame in frames:
                messages += self.take(number, frame)
            if header["protected"] and self.not_taken is None:
                self.redundancy.keep(number, block)
            messages += self.take_recovered()
        except Refusal:
            self.state = DISCONNECTING
            raise
        if self.not_taken:
            raise self.not_taken
        return messages

    def take(self, number, frame):
        if isinstance(frame, Parity):
            self.redundancy.keep_parity(number, frame)
            return []
        if not isinstance(frame, Copy):
            return self.take_message(frame)[0]
        if number < frame.distance or number - frame.distance in self.redundancy.blocks:
            return []
        messages, is_whole = self.take_block(frame.body)
        if is_whole:
            self.redundancy.keep(number - frame.distance, frame.body)
        return messages

    def take_recovered(self):
        all_messages, tried = [], set()
        while (recovered := self.redundancy.recover(tried)) is not None:
            messages, is_whole = self.take_block(recovered[2])
            all_messages += messages
            if is_whole:
                self.redundancy.handle_taken(*recovered)
            else:
                tried.add(recovered[0])
        return all_messages

    def take_block(self, block):
        """The messages that a block delivers, and whether all of its frames were taken."""
        all_messages, is_whole = [], True
        for frame in read_block(block, self.channel_kinds):
            messages, taken = self.take_message(frame)
            all_messages += messages
            is_whole = is_whole and taken
        return all_messages, is_whole

    def take_message(self, frame):
        """The messages that a frame delivers, and whether it was taken. One that was not spoils its packet."""
        try:
            return [(frame.channel, data) for data in self.channels[frame.channel].take(frame)], True
        except Refusal as refusal:
            if refusal.reason != "out_of_window":
                raise
            self.not_taken = refusal
            return [], False


class Endpoint:
    """Who a datagram arrives at: listening or not, with one session or none, and with no attempt of its own."""

    def __init__(self, listens, protocol_id, session):
        self.listens = listens
        self.protocol_id = protocol_id
        self.session = session

    def handle(self, datagram, from_its_address=True):
        """Header, payload and messages `(channel, data)` of a session packet, or the rejection as a `Refusal`."""
        kind = packet_type(datagram)
        if kind in HANDSHAKE_TYPES:
            raise Refusal(self.refuse_handshake(kind, datagram))
        source = Bytes(datagram)
        header = read_header(source, self.listens)
        if source.left() < (CRC_BYTES if header["plain"] else TAG_BYTES):
            raise Refusal("too_short")
        if self.session is None:
            raise Refusal("unknown_session")
        header_bytes, rest = datagram[: source.at], datagram[source.at :]
        number, payload, content = self.session.check(header, header_bytes, rest, from_its_address)
        return header, payload, self.session.believe(header, number, payload, content)

    def refuse_handshake(self, kind, datagram):
        """The rejection of a handshake packet here: replies answer nothing, and no cookie of the vectors is ours."""
        if kind not in ("Connect", "Response"):
            return "unsolicited"
        if not self.listens:
            return "not_listening"
        _, body = open_handshake(datagram, self.protocol_id)
        read_claims(Bytes(body[1:]))
        return "bad_cookie" if kind == "Response" else "none: this Connect is answered"
