#!/usr/bin/env python3
"""Plays R-TYPE over the classic protocol, with nothing but a socket.

    python3 classic_client.py 127.0.0.1 12345                    play until Ctrl-C
    python3 classic_client.py 127.0.0.1 12345 --seconds 60 --json
    python3 classic_client.py 127.0.0.1 12345 --bare             three-byte JOIN, for servers that trust this machine

It joins, is ready, flies towards what it can shoot and what it can collect, chooses what it is offered, and after the end of a game is ready
again. With --json it prints what it sees as lines of JSON: {"event": "lobby" | "start" | "level" | "boss" | "capsule" | "offer" | "power" |
"weapon_offer" | "weapon" | "info" | "over" | "flew" | "fired" | "error" | "joined" | "left" | "summary", …}; "flew" and "fired" once for each
ship of a game.
"""

import argparse
import json
import socket
import sys
import time

import classic_codec as codec

FRAME_SECONDS = 1 / 60
JOIN_SECONDS = 0.25
REPEAT_SECONDS = 0.25
PING_SECONDS = 1.0
SILENCE_SECONDS = 5.0
# An entity that is not heard of for so long is gone.
FORGET_SECONDS = 0.25
FAREWELLS = 3
# A ship that is so far from where it was seen first has flown, and a shot that is first seen so far ahead of a ship is its own.
FLOWN_UNITS = 60
MUZZLE_UNITS, MUZZLE_UNITS_ASIDE = 160, 60

EVENTS = {
    codec.LOBBY_STATUS: "lobby",
    codec.GAME_START: "start",
    codec.LEVEL_INFO: "level",
    codec.BOSS_SPAWNED: "boss",
    codec.POWERUP_SPAWNED: "capsule",
    codec.GAME_INFO: "info",
    codec.GAME_OVER: "over",
    codec.ERROR: "error",
}
SESSION_ENDS = {4, 5, 6, 7}


class Connection:
    """A session: the socket, the challenge, the token."""

    def __init__(self, address, port, is_bare):
        self.socket = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect((address, port))
        self.socket.setblocking(False)
        self.is_bare, self.is_connected = is_bare, False
        self.cookie = self.token = None
        self.heard = self.joined = self.pinged = 0.0
        self.ended = None

    def send(self, datagram):
        try:
            self.socket.send(datagram)
        except (BlockingIOError, ConnectionRefusedError):
            pass  # Lost, as any datagram may be; whoever is not there is found out by silence.

    def say(self, opcode, body=b""):
        self.send(codec.encode(opcode, body, self.token))

    def choose(self, opcode, offer, choice):
        self.send(codec.encode_choice(opcode, offer, choice, self.token))

    def keep_up(self, now):
        """Asks to be let in, or shows that somebody is there."""
        if not self.is_connected and now - self.joined >= JOIN_SECONDS:
            self.joined = now
            self.send(codec.encode(codec.JOIN_LOBBY) if self.is_bare else codec.encode_join(self.cookie))
        if self.is_connected and now - self.pinged >= PING_SECONDS:
            self.pinged = now
            self.say(codec.PING)
        if self.is_connected and now - self.heard > SILENCE_SECONDS:
            self.ended = "silence"

    def receive(self, now):
        """Messages that came, but for those of the session itself."""
        while True:
            try:
                datagram = self.socket.recv(2048)
            except (BlockingIOError, ConnectionRefusedError):
                return
            try:
                opcode, message = codec.decode_answer(datagram)
            except codec.Malformed as malformed:
                print(f"a datagram of the server makes no sense: {malformed.reason}", file=sys.stderr)
                continue
            self.heard = now
            if opcode == codec.CHALLENGE:
                if message["cookie"]:
                    self.cookie, self.joined = bytes.fromhex(message["cookie"]), 0.0
            elif opcode == codec.SESSION:
                self.token, self.is_connected = message["token"], True
            else:
                self.is_connected = self.is_connected or self.is_bare
                if opcode == codec.ERROR and message["code"] in SESSION_ENDS:
                    self.ended = f"error {message['code']}"
                yield opcode, message

    def leave(self):
        for _ in range(FAREWELLS):
            self.say(codec.LEAVE)
        self.socket.close()


class Player:
    """What is seen, and what is done about it."""

    def __init__(self, connection, tell):
        self.connection, self.tell = connection, tell
        self.own_id, self.is_playing, self.is_ready = None, False, True
        self.entities, self.told, self.counts = {}, {}, {}
        self.first_places, self.seen_acts = {}, set()
        self.power_offer = self.weapon_offer = None
        self.asked = 0.0

    def handle(self, now, opcode, message):
        self.counts[opcode] = self.counts.get(opcode, 0) + 1
        if opcode == codec.ENTITY_POSITIONS:
            for entity in message["entities"]:
                self.witness(entity)
                self.entities[entity["id"]] = (now, entity)
            return
        if opcode == codec.LOBBY_STATUS:
            self.own_id, self.is_ready = message["your_id"], bool(message["your_ready"])
            self.is_playing = message["phase"] == 2
            if not self.is_playing:
                self.power_offer = self.weapon_offer = None
                # Whatever the next game says is new.
                self.told = {"lobby": self.told.get("lobby")}
                self.first_places, self.seen_acts = {}, set()
        elif opcode == codec.GAME_START:
            self.own_id, self.is_playing = message["your_id"], True
        elif opcode == codec.POWERUP_STATUS:
            self.power_offer = message["offer"] or None
            self.news("offer" if message["offer"] else "power", message)
        elif opcode == codec.WEAPON_UPGRADE_AVAILABLE:
            self.weapon_offer = message["offer"]
            self.news("weapon_offer", message)
        elif opcode == codec.WEAPON_UPGRADE_CONFIRM:
            self.weapon_offer = None if self.weapon_offer == message["offer"] else self.weapon_offer
            self.news("weapon", message)
        if opcode in EVENTS:
            self.news(EVENTS[opcode], message)

    def news(self, event, message):
        """Tells what is new; everything is said many times on this protocol."""
        # Time and place change all the time.
        key = {name: message[name] for name in message if name not in ("elapsed_ms", "x", "y")}
        if self.told.get(event) != key:
            self.told[event] = key
            self.tell(event, message)

    def witness(self, entity):
        """Tells of each ship that it flies about, and that it fires. Nobody says whose a shot is: it comes out of a ship's nose."""
        if entity["type"] == codec.PLAYER:
            x, y = self.first_places.setdefault(entity["id"], (entity["x"], entity["y"]))
            if abs(entity["x"] - x) + abs(entity["y"] - y) >= FLOWN_UNITS:
                self.tell_once("flew", entity["id"])
        elif entity["type"] == codec.SHOT and entity["id"] not in self.entities:
            for _, ship in self.entities.values():
                is_ahead = 0 < entity["x"] - ship["x"] < MUZZLE_UNITS
                if ship["type"] == codec.PLAYER and is_ahead and abs(entity["y"] - ship["y"]) < MUZZLE_UNITS_ASIDE:
                    self.tell_once("fired", ship["id"])

    def tell_once(self, event, ship):
        if (event, ship) not in self.seen_acts:
            self.seen_acts.add((event, ship))
            self.tell(event, {"id": ship})

    def act(self, now):
        """A frame: what is to be said again, and what is held."""
        self.entities = {id_: seen for id_, seen in self.entities.items() if now - seen[0] < FORGET_SECONDS}
        if now - self.asked >= REPEAT_SECONDS:
            self.asked = now
            if not self.is_playing and not self.is_ready:
                self.connection.say(codec.READY_TO_PLAY)
            if self.power_offer:
                self.connection.choose(codec.POWERUP_CHOICE, self.power_offer, 0)
            if self.weapon_offer:
                self.connection.choose(codec.WEAPON_UPGRADE_CHOICE, self.weapon_offer, 0)
        if self.is_playing:
            self.connection.say(codec.PLAYER_INPUT, bytes([self.buttons()]))

    def nearest(self, *kinds):
        found = [entity for _, entity in self.entities.values() if entity["type"] in kinds]
        return min(found, key=lambda entity: entity["x"], default=None)

    def buttons(self):
        """Collects first, then fires at what is nearest, and gets out of the way of what is very near."""
        _, own = self.entities.get(self.own_id, (0, None))
        if own is None:
            return 0
        danger = self.danger(own)
        if danger is not None:
            return codec.SHOOT | (codec.UP if danger["y"] >= own["y"] else codec.DOWN)
        capsule = self.nearest(codec.CAPSULE)
        aim = capsule or self.nearest(codec.ENEMY, codec.BOSS)
        mask = codec.SHOOT
        if aim is not None:
            mask |= codec.UP if own["y"] > aim["y"] + 8 else codec.DOWN if own["y"] < aim["y"] - 8 else 0
            wanted_x = capsule["x"] if capsule else 200
            mask |= codec.LEFT if own["x"] > wanted_x + 8 else codec.RIGHT if own["x"] < wanted_x - 8 else 0
        return mask

    def danger(self, own):
        """Something that flies into the ship within half a second."""
        for _, entity in self.entities.values():
            if entity["type"] in (codec.ENEMY_SHOT, codec.ENEMY, codec.BOSS, codec.DEBRIS):
                ahead_x = entity["x"] + entity["vx"] * 0.25 - own["x"]
                ahead_y = entity["y"] + entity["vy"] * 0.25 - own["y"]
                if -40 < ahead_x < 120 and abs(ahead_y) < 45:
                    return entity
        return None


def play(options, tell):
    """Plays until the time is up; whether it got in."""
    connection = Connection(options.address, options.port, options.bare)
    player = Player(connection, tell)
    began, was_connected, next_frame = time.monotonic(), False, time.monotonic()
    try:
        while connection.ended is None:
            now = time.monotonic()
            if options.seconds and now - began >= options.seconds:
                break
            connection.keep_up(now)
            for opcode, message in connection.receive(now):
                player.handle(now, opcode, message)
            if connection.is_connected and not was_connected:
                was_connected = True
                tell("joined", {"has_token": connection.token is not None})
            if connection.is_connected:
                player.act(now)
            next_frame = max(next_frame + FRAME_SECONDS, now)
            time.sleep(max(0.0, next_frame - time.monotonic()))
    except KeyboardInterrupt:
        pass
    tell("left", {"why": connection.ended or "done"})
    connection.leave()
    tell("summary", {"messages": {f"{opcode:#04x}": count for opcode, count in sorted(player.counts.items())}})
    return was_connected


def main():
    parser = argparse.ArgumentParser(description="Plays R-TYPE over the classic protocol.")
    parser.add_argument("address", help="where the server is, as 127.0.0.1")
    parser.add_argument("port", type=int, help="its port for the classic protocol, as 12345")
    parser.add_argument("--seconds", type=float, default=0, help="how long to play; without it until Ctrl-C")
    parser.add_argument("--json", action="store_true", help="print lines of JSON")
    parser.add_argument("--bare", action="store_true", help="join with three bytes, without challenge and token")
    options = parser.parse_args()

    def tell(event, message):
        if options.json:
            print(json.dumps({"event": event, **message}), flush=True)
        elif event != "info":
            print(event, *(f"{name}={value}" for name, value in message.items()), flush=True)

    return 0 if play(options, tell) else 1


if __name__ == "__main__":
    sys.exit(main())
