"""Figures that others published about scenes of theirs.

They are not measured here and their scenes are not the same as ours, only of the same kind.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Scene:
    title: str
    source: str
    figures: tuple
    """Pairs of a name and kB/s."""
    theirs: str
    ours: str
    ours_key: str
    """Of `netloom-bench scenes --json`, in front of `kb_per_s` and of the errors."""


SCENES = (
    Scene(
        "250 rigid bodies at 30 Hz, one client",
        "https://www.kinematicsoup.com/reactor/benchmarks",
        (("Reactor", 15), ("PurrNet", 100), ("FishNet", 103), ("Fusion 2", 112), ("Mirror", 122), ("Netcode for GameObjects", 185)),
        "asteroids that collide; position to 0.01, rotation to 0.001 where a library can be told; IP and UDP headers included",
        "`rigid`: boxes that fall, collide, tumble and come to rest, 250 at 30 Hz, one client",
        "rigid",
    ),
    Scene(
        "500 objects that wander, one client",
        "https://github.com/StinkySteak/unity-netcode-benchmark (7 December 2023)",
        (("Fusion 2", 85), ("Netick 2", 96), ("Fusion 1", 125), ("FishNet", 145), ("Mirror", 459)),
        "spheres with the default settings of each library: position to 0.001 (Netick, Fusion 1) or 0.01 (FishNet); headers included",
        "`wander`: 500 objects that move and turn without a rest, 20 times a second, one client",
        "wander",
    ),
)

IP_AND_UDP_HEADER_BYTES = 28
DATAGRAM_BYTES_MAX = 1200


def ours(scene, scenes):
    """kB/s with the best table, headers added, the share of objects that change, and the largest errors; None if not measured."""
    key = scene.ours_key
    kb, kb_by_default = best(scenes, key, "kb_per_s"), best(scenes, key, "snapped_kb_per_s")
    if kb is None:
        return None
    ticks = scenes[f"{key}_ticks_per_second"]
    return {
        "kb": with_headers(kb, ticks),
        "kb_by_default": with_headers(kb_by_default, ticks),
        "changed": scenes[f"{key}_changed_share"],
        "bytes_per_changed": best(scenes, key, "bytes_per_changed"),
        "centimetres": scenes[f"{key}_position_error_cm"],
        "degrees": scenes[f"{key}_rotation_error_degrees"],
    }


def with_headers(kb_per_second, ticks_per_second):
    """As others count: with the IP and UDP headers of the datagrams that a tick needs."""
    datagrams = math.ceil(1000 * kb_per_second / ticks_per_second / DATAGRAM_BYTES_MAX)
    return kb_per_second + datagrams * ticks_per_second * IP_AND_UDP_HEADER_BYTES / 1000


def best(scenes, scene, name):
    """The least over all tables of codes: each has a key SCENE_TABLE_name."""
    variants = ("snapped", "rtt60", "rtt100", "alone")
    others = tuple(f"_{variant}_{name}" for variant in variants if not name.startswith(variant))
    found = [
        value
        for key, value in scenes.items()
        if key.startswith(f"{scene}_") and key.endswith(f"_{name}") and not key.endswith(others)
    ]
    return min(found, default=None)
