"""From single runs to figures: medians, spreads, ratios, and what went wrong."""

from dataclasses import dataclass
from statistics import median

from .plan import CONTENDERS, WORKLOADS, suits

# Counted by the program against counted by the kernel: what does not pass the counters would be cheating.
UNCOUNTED_SHARE_MAX = 0.02
IP_AND_UDP_HEADER_BYTES = 28

# A server that ticks less often does less than it was asked for.
TICKS_PER_SECOND_MIN = 59.0


@dataclass(frozen=True)
class Figure:
    """The median of several runs, the least and the most."""

    value: float
    least: float
    most: float

    @staticmethod
    def of(values):
        values = [value for value in values if value is not None]
        return Figure(median(values), min(values), max(values)) if values else None


class Results:
    """All runs: a list of {run, contender, workload, figures}."""

    def __init__(self, records):
        self.records = records
        self._by_key = {(r["contender"], r["workload"], r["run"]): r["figures"] for r in records}

    def runs(self, contender_key, workload_key):
        """By number of the run; those that failed are left out."""
        return {
            run: figures
            for (contender, workload, run), figures in self._by_key.items()
            if contender == contender_key and workload == workload_key and "failed" not in figures
        }

    def figure(self, contender_key, workload_key, name):
        """None if nothing was measured."""
        return Figure.of([figures.get(name) for figures in self.runs(contender_key, workload_key).values()])

    def ratio(self, contender_key, reference_key, workload_key, name):
        """Run by run, since only what was measured at the same time can be compared; then the median."""
        ours, theirs = self.runs(contender_key, workload_key), self.runs(reference_key, workload_key)
        pairs = [(ours[run].get(name), theirs[run].get(name)) for run in ours if run in theirs]
        return Figure.of([one / other for one, other in pairs if one is not None and other])

    def quantiles(self, contender_key, workload_key, name):
        """A list of medians, from runs that each tell a list."""
        lists = [figures[name] for figures in self.runs(contender_key, workload_key).values() if figures.get(name)]
        return [median(values) for values in zip(*lists)]

    def measured(self):
        """Contenders and workloads of which there is a result."""
        keys = {(contender, workload) for contender, workload, _ in self._by_key}
        for workload in WORKLOADS:
            for contender in CONTENDERS:
                if suits(contender, workload) and (contender.key, workload.key) in keys:
                    yield contender, workload

    def problems(self, is_isolated):
        """One line for each thing that is not as it should be."""
        found = []
        for record in self.records:
            where = f"{record['contender']}, {record['workload']}, run {record['run']}"
            found += [f"{where}: {problem}" for problem in problems_of(record, is_isolated)]
        return found


def problems_of(record, is_isolated):
    figures = record["figures"]
    if "failed" in figures:
        yield figures["failed"]
        return
    for name in ("missing", "wrong", "reliable_out_of_order"):
        if figures.get(name):
            yield f"{figures[name]:.0f} {name.replace('_', ' ')}"
    lost = figures.get("reliable_sent", 0) - figures.get("reliable_received", 0)
    if lost:
        yield f"{lost:.0f} reliable messages of {figures['reliable_sent']:.0f} had not arrived in the end"
    if figures.get("ticks_per_s", 60) < TICKS_PER_SECOND_MIN:
        yield f"{figures['ticks_per_s']:.1f} ticks a second instead of 60"
    uncounted = uncounted_share(figures)
    has_proxy = "rtt" in record["workload"] or record["workload"] == "latency"
    if is_isolated and not has_proxy and uncounted is not None and abs(uncounted) > UNCOUNTED_SHARE_MAX:
        yield f"{uncounted:.1%} of the bytes on the loopback device were not counted"


def uncounted_share(figures):
    """What the kernel saw and the program did not count; a proxy in between would be seen twice."""
    if "loopback_bytes" not in figures:
        return None
    seen = figures["loopback_bytes"] - IP_AND_UDP_HEADER_BYTES * figures["loopback_packets"]
    return 1 - figures["counted_bytes"] / seen if seen > 0 else None


def flat(results, scenes):
    """One object: PEER_SETTING_WORKLOAD_figure, with _min and _max where there were several runs."""
    values = {}
    for contender, workload in results.measured():
        runs = results.runs(contender.key, workload.key)
        names = dict.fromkeys(name for figures in runs.values() for name in figures)
        for name in names:
            if any(not isinstance(figures.get(name, 0), (int, float)) for figures in runs.values()):
                continue
            figure = results.figure(contender.key, workload.key, name)
            if figure is None:
                continue
            key = f"{contender.key}_{workload.key}_{name}"
            values[key] = figure.value
            if len(runs) > 1:
                values[f"{key}_min"], values[f"{key}_max"] = figure.least, figure.most
        values[f"{contender.key}_{workload.key}_runs"] = len(runs)
    values.update({f"netloom_scenes_{key}": value for key, value in scenes.items()})
    return values
