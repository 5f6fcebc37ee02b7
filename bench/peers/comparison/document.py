"""docs/BENCHMARKS.md and its plots."""

from . import plots, published
from .plan import CONTENDERS, MAIN, WORKLOADS, suits
from .targets import BYTES, CPU, CPU_WITH_WRITING, MESSAGE_BYTES_PER_SECOND, ONE_WAY_MS, verdicts

INTRODUCTION = """\
# Netloom beside other libraries

Written by `bench/peers/run`; do not edit. One command measures everything on this page again:

```
bench/peers/run            # all of it: about 25 minutes, and the build
bench/peers/run --quick    # 16 clients × 200 objects only: about two minutes, and the build
bench/peers/run --help
```

Every library does the same work, measured by the same code: [bench/peers](../bench/peers/README.md) says how, and what is
counted. In short: a server in a process of its own ticks 60 times a second; **all** objects move and turn at **every** tick by
random steps; the whole state goes to all clients 20 times a second; every client decodes; in the end every object of every
client is compared with the truth. CPU is that of all threads of the server's process, in the kernel included, for each
period of 50 ms. Bytes are UDP payload.
"""

BUSY_LOAD_PER_CORE = 0.25

READING = """\
Each cell is the median of the runs, with the least and the most of them. *× raw* is the ratio to plain sockets that send 30 bytes
per object without acks or encryption: run by run, then the median. *With writing* adds what it costs to write the new state into
the library's own world, three times a period; bare transports have none. *Tick p99*: the dearest tick of a period.
*Largest error*: between what any client shows and the truth, with the bound that is claimed for it.
"""


def write(directory, results, scenes, about):
    """The page and its plots; the files that were written."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name, drawing in drawings(results).items():
        if drawing:
            (directory / name).write_text(drawing)
            written.append(name)
    page = "\n".join(sections(results, scenes, about, written))
    (directory / "BENCHMARKS.md").write_text(page.rstrip() + "\n")
    return ["BENCHMARKS.md", *written]


def sections(results, scenes, about, written):
    yield INTRODUCTION
    yield circumstances(about)
    yield "## What was to be reached\n"
    yield verdict_table(verdicts(results, scenes))
    yield "## A world to every client\n"
    yield READING
    for workload in WORKLOADS:
        table = workload_table(results, workload)
        if table:
            yield f"### {workload.title[0].upper()}{workload.title[1:]}\n"
            yield table
    yield "## Plots\n"
    for name in written:
        yield f"![{ALTERNATIVES[name]}]({name})\n"
    yield published_tables(scenes)
    yield problem_list(results.problems(about["is_isolated"]))


def circumstances(about):
    machine, versions = about["machine"], about["versions"]
    where = "a network namespace of its own" if about["is_isolated"] else "the host's loopback device, shared with other programs"
    lines = [
        "## Circumstances\n",
        f"{about['date']}. {machine['processor']}, {machine['cores']} cores; {machine['kernel']}; {machine['rust']}; cargo's default",
        f"release profile for every library alike. {about['runs']} run{'s' if about['runs'] > 1 else ''}, interleaved; {where}.\n",
        busy(about["load"], machine["cores"]),
        "| | |\n|---|---|",
    ]
    for contender in CONTENDERS:
        lines.append(f"| {contender.label} | {with_versions(contender.what, versions)} |")
    return "\n".join(lines) + "\n"


def busy(load, cores):
    """Other programs take turns with those that are measured, and take their caches."""
    told = f"Load of the machine before the first run: {load:.1f}."
    if load <= BUSY_LOAD_PER_CORE * cores:
        return f"{told}\n"
    return f"**{told} It was busy: times, and what arrived in time, are worse than on a quiet one, and not alike for all.**\n"


def with_versions(what, versions):
    for package, version in versions.items():
        what = what.replace(f"{{{package}}}", version)
    return what


def verdict_table(found):
    words = {True: "met", False: "**missed**", None: "not measured"}
    rows = [(v.what, v.limit, v.found, words[v.is_met]) for v in found]
    return table(("what", "target", "found", ""), rows)


def workload_table(results, workload):
    contenders = [c for c in CONTENDERS if suits(c, workload) and results.runs(c.key, workload.key)]
    if not contenders:
        return None
    columns = {"replicate": replicate_columns, "messages": message_columns, "latency": latency_columns}[workload.kind]
    rows = [(name(contender), *columns(results, contender, workload).values()) for contender in contenders]
    return table(("", *columns(results, contenders[0], workload)), rows)


def name(contender):
    return f"**{contender.label}**" if contender.is_ours else contender.label


def replicate_columns(results, contender, workload):
    figure = lambda key: results.figure(contender.key, workload.key, key)
    ratio = lambda key: results.ratio(contender.key, "raw_exact", workload.key, key)
    period = figure("period_ms")
    return {
        f"CPU, µs per {period.value:.3g} ms" if period else "CPU, µs per period": cell(figure(CPU)),
        "× raw": times(ratio(CPU)),
        "with writing": cell(figure(CPU_WITH_WRITING), False),
        "× raw ": times(ratio(CPU_WITH_WRITING)),
        "tick p99, µs": cell(figure("send_tick_us_p99"), False),
        "bytes per client and s": cell(figure(BYTES), False),
        "× raw  ": times(ratio(BYTES)),
        "allocations per tick": small(figure("allocations_per_tick")),
        "updates per object and s": small(figure("updates_per_object_s")),
        "missing, wrong": f"{worst(figure('missing'))}, {worst(figure('wrong'))}",
        "largest error (bound)": errors(figure),
    }


def message_columns(results, contender, workload):
    figure = lambda key: results.figure(contender.key, workload.key, key)
    return {
        "CPU, µs per tick": cell(figure(CPU)),
        "× rusty_enet": times(results.ratio(contender.key, "enet_exact", workload.key, CPU)),
        "tick p99, µs": cell(figure("send_tick_us_p99"), False),
        "bytes per client and s": cell(figure(BYTES), False),
        "datagrams per client and s": cell(figure("datagrams_per_client_s"), False),
        "allocations per tick": small(figure("allocations_per_tick")),
        "out of order": worst(figure("reliable_out_of_order")),
    }


def latency_columns(results, contender, workload):
    figure = lambda key: results.figure(contender.key, workload.key, key)
    overhead = figure(BYTES)
    return {
        "p50, ms": small(figure("latency_ms_p50")),
        "p90": small(figure("latency_ms_p90")),
        "p99": cell(figure("latency_ms_p99")),
        "longest": cell(figure("latency_ms_max"), False),
        "bytes sent per byte of messages": f"{overhead.value / MESSAGE_BYTES_PER_SECOND:.2f}" if overhead else "",
        "CPU, µs per tick": cell(figure(CPU), False),
        "out of order": worst(figure("reliable_out_of_order")),
    }


def cell(figure, has_spread=True):
    if figure is None:
        return ""
    if has_spread and figure.least != figure.most:
        return f"{figure.value:,.0f} ({figure.least:,.0f} to {figure.most:,.0f})"
    return f"{figure.value:,.0f}"


def small(figure):
    """A figure whose fractions matter; what is nearly nothing is not nothing."""
    if figure is None:
        return ""
    if 0 < figure.value < 0.05:
        return f"{figure.value:.3f}"
    return f"{figure.value:,.1f}"


def times(figure):
    return "" if figure is None else f"{figure.value:.2f}"


def worst(figure):
    return "" if figure is None else f"{figure.most:.0f}"


def errors(figure):
    position, rotation = figure("position_error_m"), figure("rotation_error_degrees")
    bounds = figure("position_error_bound_m"), figure("rotation_error_bound_degrees")
    if None in (position, rotation, *bounds):
        return ""
    told = f"{1000 * position.most:.3g} mm, {rotation.most:.3g}°"
    return f"{told} ({1000 * bounds[0].value:.3g} mm, {bounds[1].value:.3g}°)" if bounds[1].value else told


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(entry) for entry in line) + " |" for line in lines) + "\n"


def published_tables(scenes):
    parts = [
        "## Scenes that others publish\n",
        "The figures of others are **theirs**, from the pages named, and not measured here; their scenes are of the same kind as ours,",
        "not the same. Ours are from `netloom-bench scenes` ([how](BENCH-SCENES.md)), with 1 cm and 10 bits a component of the",
        "quaternion; they include our packet headers, encryption's tags and, added here, 28 bytes of IP and UDP headers a datagram.\n",
    ]
    for scene in published.SCENES:
        rows = [(f"{name} (theirs)", f"{kb}", "") for name, kb in scene.figures]
        found = published.ours(scene, scenes)
        if found:
            rows += [
                (
                    "**Netloom**, 30 ms round trip, every tick a baseline",
                    f"{found['kb']:.1f}",
                    f"{scene.ours}; {found['changed']:.0%} change in a tick, {found['bytes_per_changed']:.2f} bytes each; errors up to "
                    f"{found['centimetres']:.2g} cm and {found['degrees']:.2g}°",
                ),
                ("**Netloom**, 60 ms round trip, baselines shared as by default", f"{found['kb_by_default']:.1f}", "the same"),
            ]
        parts += [f"### {scene.title}\n", f"Theirs ({scene.source}): {scene.theirs}.\n", table(("", "kB/s", ""), rows)]
    return "\n".join(parts)


def problem_list(problems):
    if not problems:
        return "## What went wrong\n\nNothing: no run failed, no object was missing or wrong, every server kept its 60 ticks a second.\n"
    return "## What went wrong\n\n" + "\n".join(f"- {problem}" for problem in problems) + "\n"


ALTERNATIVES = {
    "benchmarks-clients.svg": "CPU of the server against clients",
    "benchmarks-objects.svg": "CPU of the server against objects",
    "benchmarks-bytes.svg": "Bytes to each client",
    "benchmarks-latency.svg": "Latency of reliable messages under loss",
}


def drawings(results):
    """By name of the file; None where nothing was measured."""
    curve = lambda contender, points: [
        (size, figure.value) for size, key in points if (figure := results.figure(contender.key, key, CPU))
    ]
    replicating = [contender for contender in CONTENDERS if not contender.is_for_latency_only]
    clients = ((16, MAIN), (64, "64x200"), (256, "256x200"))
    objects = ((50, "16x50"), (200, MAIN), (800, "16x800"))
    weights = [(c, figure.value) for c in replicating if (figure := results.figure(c.key, MAIN, BYTES))]
    quantiles = [(c, results.quantiles(c.key, "latency", "latency_ms_quantiles")) for c in CONTENDERS]
    return {
        "benchmarks-clients.svg": plots.lines(
            "Cost against clients: 200 objects, 20 times a second",
            "clients",
            "CPU of the server's process, µs per 50 ms",
            [(contender, curve(contender, clients)) for contender in replicating],
        ),
        "benchmarks-objects.svg": plots.lines(
            "Cost against objects: 16 clients, 20 times a second",
            "objects",
            "CPU of the server's process, µs per 50 ms",
            [(contender, curve(contender, objects)) for contender in replicating],
        ),
        "benchmarks-bytes.svg": plots.bars("Bytes to each client in a second: 200 objects, 20 times", "bytes", weights),
        "benchmarks-latency.svg": plots.distribution(
            "Reliable-ordered messages at 50 ms and 5 % loss each way",
            "milliseconds from sending to delivery",
            "% delivered by then",
            quantiles,
            ONE_WAY_MS,
        ),
    }
