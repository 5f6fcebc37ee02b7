"""What a receiver keeps per channel (sections 23.1 to 23.3).

Packets come twice, late and not at all; a channel turns the messages in them back into what its kind promises. Each
class takes one frame and gives the messages that are due, in order.

    Reliable     ids from 0; delivers each message once, in order if the kind says so
    Unreliable   delivers what arrives; puts parts together
    Sequenced    the same, but never anything older than what it has delivered
"""

from cursors import Refusal
from frames import RELIABLE_KINDS
from values import wrapping_distance

RELIABLE_WINDOW = 1024
ASSEMBLIES_MAX = 4


class Reliable:
    def __init__(self, in_order):
        self.in_order = in_order
        self.next = 0
        # Full id -> (first id, number of parts, data) for everything at or after `next` that has arrived.
        self.held = {}
        self.delivered = set()

    def take(self, frame):
        ahead = wrapping_distance(frame.id, self.next % 65536, 16)
        if ahead < 0:
            return []
        if ahead >= RELIABLE_WINDOW:
            raise Refusal("out_of_window")
        full = self.next + ahead
        if full in self.held:
            return []
        first, count = (full, 1) if frame.index is None else (full - frame.index, frame.count)
        if first < self.next:
            raise Refusal("malformed")
        for other, its_count, _ in self.held.values():
            overlaps = other < first + count and first < other + its_count
            if overlaps and (other, its_count) != (first, count):
                raise Refusal("malformed")
        self.held[full] = (first, count, frame.data)
        return self.due(first)

    def due(self, first):
        messages = []
        if not self.in_order and self.is_whole(first):
            messages.append(self.assembled(first))
            self.delivered.add(first)
        while self.is_whole(self.next):
            start = self.next
            if start not in self.delivered:
                messages.append(self.assembled(start))
            self.delivered.discard(start)
            self.next += self.held[start][1]
            for id_ in range(start, self.next):
                del self.held[id_]
        return messages

    def is_whole(self, first):
        if first not in self.held:
            return False
        return all(id_ in self.held for id_ in range(first, first + self.held[first][1]))

    def assembled(self, first):
        return b"".join(self.held[id_][2] for id_ in range(first, first + self.held[first][1]))


class Unreliable:
    def __init__(self):
        # Message id -> (number of parts, parts by index), the oldest first. Vectors have no time, so nothing expires.
        self.assemblies = {}

    def take(self, frame):
        if frame.index is None:
            return [frame.data]
        count, parts = self.assemblies.setdefault(frame.id, (frame.count, {}))
        if count != frame.count:
            raise Refusal("malformed")
        parts.setdefault(frame.index, frame.data)
        if len(parts) == count:
            del self.assemblies[frame.id]
            return [b"".join(parts[index] for index in range(count))]
        if len(self.assemblies) > ASSEMBLIES_MAX:
            del self.assemblies[next(iter(self.assemblies))]
        return []


class Sequenced(Unreliable):
    def __init__(self):
        super().__init__()
        self.newest = None

    def take(self, frame):
        if self.newest is not None and wrapping_distance(frame.id, self.newest, 16) <= 0:
            return []
        messages = super().take(frame)
        if messages:
            self.newest = frame.id
        return messages


def make_channel(kind):
    if kind in RELIABLE_KINDS:
        return Reliable(in_order=kind != "unordered")
    return Sequenced() if kind == "sequenced" else Unreliable()
