"""Who is measured, with what."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Contender:
    """A library in one setting."""

    peer: str
    setting: str
    label: str
    what: str
    """What is behind the name: versions are put in by package name, in braces."""
    has_messages: bool = False
    is_for_latency_only: bool = False

    @property
    def key(self):
        """The beginning of its keys: PEER_SETTING."""
        return f"{self.peer}_{self.setting}"

    @property
    def is_ours(self):
        return self.peer == "netloom"


@dataclass(frozen=True)
class Workload:
    """What a contender is made to do."""

    key: str
    title: str
    arguments: tuple
    seconds: float
    kind: str = "replicate"
    is_point_of_a_curve: bool = False
    """Measured in the first run only: it is there to show how cost grows."""


CONTENDERS = (
    Contender("raw", "exact", "raw UDP", "plain UDP sockets: no connections, no acks, no encryption"),
    Contender("enet", "exact", "rusty_enet", "rusty_enet {rusty_enet}; not encrypted", has_messages=True),
    Contender("quinn", "exact", "quinn", "quinn {quinn}: QUIC datagrams and streams, TLS 1.3", has_messages=True),
    Contender("renet", "exact", "renet", "renet {renet} over renet_netcode {renet_netcode}; encrypted", has_messages=True),
    Contender(
        "renet",
        "resend100",
        "renet, resend 100 ms",
        "the same; reliable messages are resent after 100 ms instead of 300",
        has_messages=True,
        is_for_latency_only=True,
    ),
    Contender(
        "replicon",
        "exact",
        "bevy_replicon",
        "bevy_replicon {bevy_replicon} over bevy_replicon_renet {bevy_replicon_renet}, bevy {bevy}; encrypted",
    ),
    Contender("lightyear", "exact", "lightyear", "lightyear {lightyear} over UDP and netcode, bevy {bevy}; encrypted"),
    Contender("naia", "exact", "naia", "naia {naia-server} over plain UDP, its bandwidth limit raised; not encrypted"),
    Contender("netloom", "exact", "Netloom exact", "Netloom {netloom}: whole f32, as all others; not encrypted"),
    Contender(
        "netloom", "standard", "Netloom standard", "the same, 1 cm and 0.28 degrees; not encrypted", has_messages=True
    ),
    Contender("netloom", "secure", "Netloom secure", "the same as standard, encrypted", has_messages=True),
)

MAIN = "16x200"

WORKLOADS = (
    Workload(MAIN, "16 clients × 200 objects, 20 times a second", ("--clients", "16", "--objects", "200"), 6.0),
    Workload("256x200", "256 clients × 200 objects, 20 times a second", ("--clients", "256", "--objects", "200"), 3.0),
    Workload(
        "16x200_rtt100_loss2",
        "16 clients × 200 objects at 100 ms round trip and 2 % loss each way",
        ("--clients", "16", "--objects", "200", "--delay-ms", "50", "--loss-percent", "2"),
        4.0,
    ),
    Workload(
        "100x100_60hz",
        "100 clients × 100 objects, 60 times a second",
        ("--clients", "100", "--objects", "100", "--sends", "60"),
        3.0,
    ),
    Workload("messages", "16 clients, 4 reliable and 1 unreliable message each, 60 times a second", (), 4.0, "messages"),
    Workload(
        "latency",
        "8 clients, a reliable-ordered message each, 60 times a second, at 50 ms and 5 % loss each way",
        (),
        8.0,
        "latency",
    ),
    Workload(
        "64x200", "64 clients × 200 objects", ("--clients", "64", "--objects", "200"), 3.0, is_point_of_a_curve=True
    ),
    Workload("16x50", "16 clients × 50 objects", ("--clients", "16", "--objects", "50"), 3.0, is_point_of_a_curve=True),
    Workload(
        "16x800", "16 clients × 800 objects", ("--clients", "16", "--objects", "800"), 3.0, is_point_of_a_curve=True
    ),
)


def suits(contender, workload):
    """Whether a contender is measured with a workload."""
    if workload.kind == "replicate":
        return not contender.is_for_latency_only
    return contender.has_messages and (workload.kind == "latency" or not contender.is_for_latency_only)


def chosen(names):
    """The contenders that `--only` names, by peer or by peer and setting; all of them without names."""
    if not names:
        return CONTENDERS
    known = {name for contender in CONTENDERS for name in (contender.peer, contender.key)}
    unknown = [name for name in names if name not in known]
    if unknown:
        peers = ", ".join(dict.fromkeys(contender.peer for contender in CONTENDERS))
        raise ValueError(f"{', '.join(unknown)}: not measured here. Say one or more of {peers}, or a key such as netloom_standard")
    return tuple(contender for contender in CONTENDERS if contender.peer in names or contender.key in names)


def steps(contenders, runs, is_quick):
    """Everything that is run, in order: all contenders take turns in a workload, and all workloads in a run.

    A machine that is slower for a minute is so for neighbours, whose ratio stays what it is.
    """
    for run in range(1, runs + 1):
        for workload in WORKLOADS:
            if is_quick and workload.key != MAIN or run > 1 and workload.is_point_of_a_curve:
                continue
            for contender in contenders:
                if suits(contender, workload):
                    yield run, workload, contender
