"""What Netloom set out to reach, and whether it did in this comparison."""

from dataclasses import dataclass

from .plan import MAIN
from .published import best

CPU = "all_threads_us_per_period"
CPU_WITH_WRITING = "with_write_us_per_period"
BYTES = "bytes_per_client_s"
MESSAGE_BYTES_PER_SECOND = 60 * 64
ONE_WAY_MS = 50.0
# The clients look every millisecond; and what arrives is a moment old.
FLOOR_MARGIN_MS = 2.0
UPDATES_PER_SECOND_MIN = 19.8


@dataclass(frozen=True)
class Verdict:
    what: str
    limit: str
    found: str
    is_met: bool | None
    """None if it was not measured."""


def ratio(results, what, ours, reference, workload, name, limit):
    """A ratio to a reference, at most `limit`."""
    found = results.ratio(ours, reference, workload, name)
    reference_name = reference.removesuffix("_exact")
    told = f"≤ {limit:.3g} × {reference_name}"
    if found is None:
        return Verdict(what, told, "not measured", None)
    return Verdict(what, told, f"{found.value:.3f} ({found.least:.3f} to {found.most:.3f})", found.value <= limit)


def value(what, limit_text, found, is_met, unit=""):
    if found is None:
        return Verdict(what, limit_text, "not measured", None)
    return Verdict(what, limit_text, f"{found:,.4g}{unit}", is_met(found))


def verdicts(results, scenes):
    """All of them, in the order of the tables."""
    return [*cpu(results), *traffic(results), *messages(results), *truth(results), *published(scenes)]


def cpu(results):
    standard, secure, exact = "netloom_standard", "netloom_secure", "netloom_exact"
    cases = [
        ("standard", standard, "raw_exact", MAIN, 0.5),
        ("standard", standard, "renet_exact", MAIN, 1 / 9),
        ("standard", standard, "replicon_exact", MAIN, 1 / 16),
        ("standard", standard, "lightyear_exact", MAIN, 1 / 16),
        ("secure", secure, "raw_exact", MAIN, 0.65),
        ("exact", exact, "raw_exact", MAIN, 1.0),
        ("standard", standard, "raw_exact", "256x200", 0.45),
    ]
    for setting, ours, reference, workload, limit in cases:
        size = workload.replace("x", " × ")
        yield ratio(results, f"CPU, {size} {setting}", ours, reference, workload, CPU, limit)
        yield ratio(
            results, f"… writing the world included, {size} {setting}", ours, reference, workload, CPU_WITH_WRITING, limit
        )


def traffic(results):
    yield ratio(results, "bytes, 16 × 200 standard", "netloom_standard", "raw_exact", MAIN, BYTES, 0.18)
    yield ratio(results, "bytes, 16 × 200 exact", "netloom_exact", "raw_exact", MAIN, BYTES, 0.8)
    updates = results.figure("netloom_standard", "256x200", "updates_per_object_s")
    least = updates.least if updates else None
    yield value("updates per object and second, 256 × 200 standard", "20", least, lambda x: x >= UPDATES_PER_SECOND_MIN)


def messages(results):
    yield ratio(results, "CPU, messages", "netloom_standard", "enet_exact", "messages", CPU, 0.8)
    median_of = lambda name: getattr(results.figure("netloom_standard", "latency", name), "value", None)
    yield value("latency under 5 % loss, 99th percentile", "≤ 90 ms", median_of("latency_ms_p99"), lambda x: x <= 90, " ms")
    yield value(
        "… median",
        f"the floor, {ONE_WAY_MS:.0f} ms",
        median_of("latency_ms_p50"),
        lambda x: x <= ONE_WAY_MS + FLOOR_MARGIN_MS,
        " ms",
    )
    bytes_sent = median_of(BYTES)
    overhead = bytes_sent / MESSAGE_BYTES_PER_SECOND if bytes_sent is not None else None
    yield value("… bytes sent for each byte of messages", "≤ 2.5", overhead, lambda x: x <= 2.5)


def truth(results):
    ours = [(c, w) for c, w in results.measured() if c.is_ours and w.kind == "replicate"]
    counts = [results.figure(c.key, w.key, name) for c, w in ours for name in ("missing", "wrong")]
    total = sum(figure.most for figure in counts if figure) if ours else None
    yield value("objects missing or wrong, all runs of Netloom", "0", total, lambda x: x == 0)
    allocations = [results.figure(c.key, MAIN, "allocations_per_tick") for c, w in ours if w.key == MAIN]
    most = max((figure.most for figure in allocations if figure), default=None)
    yield value("allocations per tick, 16 × 200", "0", most, lambda x: x == 0)


def published(scenes):
    yield value("rigid bodies, 250 at 30 Hz", "≤ 18 kB/s", scenes.get("rigid_kb_per_s"), lambda x: x <= 18, " kB/s")
    changed = best(scenes, "rigid", "bytes_per_changed")
    yield value("… bytes per body that changed", "≤ 4.0", changed, lambda x: x <= 4.0)
