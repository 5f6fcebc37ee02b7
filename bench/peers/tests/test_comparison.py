"""The arithmetic, the choice of what is run, and the page. Nothing is built and nothing is measured:

    python3 -m unittest discover bench/peers/tests
"""

import contextlib
import io
import json
import re
import sys
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PEERS))

from comparison import document, execute, plan, plots, published, targets  # noqa: E402
from comparison.figures import Figure, Results, flat  # noqa: E402


def record(contender, workload, run, **figures):
    return {"contender": contender, "workload": workload, "run": run, "figures": figures}


def replicated(contender, run, cpu, sent, **others):
    """A run of 16 × 200 in which all is well."""
    figures = {
        "period_ms": 50,
        "ticks_per_s": 60,
        "all_threads_us_per_period": cpu,
        "with_write_us_per_period": cpu + 10,
        "send_tick_us_p99": cpu * 1.5,
        "bytes_per_client_s": sent,
        "allocations_per_tick": 0,
        "updates_per_object_s": 20,
        "missing": 0,
        "wrong": 0,
        "position_error_m": 0.004,
        "position_error_bound_m": 0.0051,
        "rotation_error_degrees": 0.1,
        "rotation_error_bound_degrees": 0.28,
    }
    return record(contender, "16x200", run, **(figures | others))


ABOUT = {
    "date": "2026-01-01",
    "runs": 3,
    "is_isolated": True,
    "load": 0.1,
    "machine": {"processor": "a processor", "cores": 2, "kernel": "a kernel", "rust": "a rustc"},
    "versions": {"renet": "9.9.9"},
}

def command():
    """What `run` defines; it has no ending that Python could import."""
    names = {"__name__": "run", "__file__": str(PEERS / "run")}
    exec(compile((PEERS / "run").read_text(), "run", "exec"), names)
    return names


# Slow in the second run, both of them: the ratio of a run does not know it.
SLOW_SECOND_RUN = Results(
    [
        replicated("raw_exact", 1, 100, 1000),
        replicated("netloom_standard", 1, 40, 150),
        replicated("raw_exact", 2, 300, 1000),
        replicated("netloom_standard", 2, 120, 150),
        replicated("raw_exact", 3, 110, 1000),
        replicated("netloom_standard", 3, 66, 150),
    ]
)


class Arithmetic(unittest.TestCase):
    def test_a_figure_is_the_median_with_its_spread(self):
        self.assertEqual(Figure.of([3, 1, 10]), Figure(3, 1, 10))
        self.assertEqual(Figure.of([4, None, 2]), Figure(3, 2, 4))
        self.assertIsNone(Figure.of([]))

    def test_ratios_are_taken_run_by_run(self):
        ratio = SLOW_SECOND_RUN.ratio("netloom_standard", "raw_exact", "16x200", targets.CPU)
        self.assertAlmostEqual(ratio.value, 0.4)
        self.assertAlmostEqual(ratio.most, 0.6)
        medians = [SLOW_SECOND_RUN.figure(key, "16x200", targets.CPU).value for key in ("netloom_standard", "raw_exact")]
        self.assertEqual(medians, [66, 110], "the quotient of medians would be 0.6")

    def test_a_run_that_failed_is_left_out_and_told(self):
        results = Results([replicated("raw_exact", 1, 100, 1000), record("raw_exact", "16x200", 2, failed="no clients")])
        self.assertEqual(results.figure("raw_exact", "16x200", targets.CPU), Figure(100, 100, 100))
        self.assertEqual(results.problems(True), ["raw_exact, 16x200, run 2: no clients"])
        self.assertIsNone(results.ratio("raw_exact", "renet_exact", "16x200", targets.CPU))

    def test_quantiles_are_the_medians_of_quantiles(self):
        runs = [record("enet_exact", "latency", run, latency_ms_quantiles=[50, 60 + run]) for run in (1, 2, 3)]
        self.assertEqual(Results(runs).quantiles("enet_exact", "latency", "latency_ms_quantiles"), [50, 62])


class Problems(unittest.TestCase):
    def problems(self, **figures):
        return Results([replicated("netloom_exact", 1, 1, 1, **figures)]).problems(True)

    def test_all_is_well(self):
        self.assertEqual(self.problems(), [])

    def test_what_clients_do_not_hold_is_told(self):
        self.assertIn("2 missing", self.problems(missing=2)[0])
        self.assertIn("1 wrong", self.problems(wrong=1)[0])

    def test_a_server_that_does_not_keep_its_rate_is_told(self):
        self.assertIn("48.0 ticks a second", self.problems(ticks_per_s=48)[0])

    def test_bytes_that_only_the_kernel_saw_are_told(self):
        seen = {"loopback_bytes": 10_280, "loopback_packets": 10}
        self.assertEqual(self.problems(counted_bytes=10_000, **seen), [])
        self.assertIn("50.0% of the bytes", self.problems(counted_bytes=5_000, **seen)[0])

    def test_reliable_messages_that_did_not_arrive_are_told(self):
        lost = record("enet_exact", "messages", 1, reliable_sent=10, reliable_received=9, reliable_out_of_order=0)
        self.assertIn("1 reliable messages of 10", Results([lost]).problems(True)[0])


class Plan(unittest.TestCase):
    def test_contenders_take_turns_and_points_of_curves_are_run_once(self):
        steps = list(plan.steps(plan.CONTENDERS, 3, False))
        main = [(run, contender.key) for run, workload, contender in steps if workload.key == plan.MAIN]
        contenders = [contender.key for contender in plan.CONTENDERS if not contender.is_for_latency_only]
        self.assertEqual(main, [(run, key) for run in (1, 2, 3) for key in contenders])
        self.assertEqual({run for run, workload, _ in steps if workload.key == "64x200"}, {1})

    def test_quick_is_one_workload(self):
        self.assertEqual({workload.key for _, workload, _ in plan.steps(plan.CONTENDERS, 1, True)}, {plan.MAIN})

    def test_contenders_are_chosen_by_peer_or_by_key(self):
        keys = [contender.key for contender in plan.chosen(["raw", "netloom_secure"])]
        self.assertEqual(keys, ["raw_exact", "netloom_secure"])
        with self.assertRaisesRegex(ValueError, "photon: not measured here. Say one or more of raw"):
            plan.chosen(["photon"])

    def test_only_who_has_messages_is_measured_with_them(self):
        peers = {c.key for _, w, c in plan.steps(plan.CONTENDERS, 1, False) if w.kind == "messages"}
        self.assertEqual(peers, {"enet_exact", "quinn_exact", "renet_exact", "netloom_standard", "netloom_secure"})

    def test_every_contender_is_a_package_of_the_workspace(self):
        members = re.search(r"members = \[(.*)\]", (PEERS / "Cargo.toml").read_text()).group(1)
        for contender in plan.CONTENDERS:
            self.assertIn(f'"{contender.peer}"', members)
            self.assertTrue((PEERS / contender.peer / "Cargo.toml").exists())


class Build(unittest.TestCase):
    def test_the_comparison_is_no_part_of_the_default_build(self):
        root = (execute.ROOT / "Cargo.toml").read_text()
        excluded = re.search(r"^exclude = \[(.*)\]$", root, re.MULTILINE).group(1)
        self.assertIn('"bench/peers"', excluded)
        lock = (execute.ROOT / "Cargo.lock").read_text()
        for package in ("peer-common", "bevy_replicon", "lightyear", "naia-server"):
            self.assertNotIn(f'name = "{package}"', lock)

    def test_every_version_that_the_page_tells_is_known(self):
        known = execute.versions()
        for contender in plan.CONTENDERS:
            self.assertNotIn("{", document.with_versions(contender.what, known))


class Targets(unittest.TestCase):
    def verdict(self, results, what, scenes={}):
        return next(verdict for verdict in targets.verdicts(results, scenes) if verdict.what == what)

    def test_met_missed_and_not_measured_are_told_apart(self):
        met = self.verdict(SLOW_SECOND_RUN, "CPU, 16 × 200 standard")
        self.assertEqual((met.limit, met.is_met), ("≤ 0.5 × raw", True))
        with_writing = self.verdict(SLOW_SECOND_RUN, "… writing the world included, 16 × 200 standard")
        self.assertEqual(with_writing.found, "0.455 (0.419 to 0.633)")
        slow = Results([replicated("raw_exact", 1, 100, 1000), replicated("netloom_standard", 1, 51, 190)])
        self.assertIs(self.verdict(slow, "CPU, 16 × 200 standard").is_met, False)
        self.assertIs(self.verdict(slow, "bytes, 16 × 200 standard").is_met, False)
        self.assertIsNone(self.verdict(SLOW_SECOND_RUN, "CPU, 16 × 200 secure").is_met)
        self.assertTrue(self.verdict(SLOW_SECOND_RUN, "bytes, 16 × 200 standard").is_met)

    def test_one_wrong_object_in_one_run_is_a_miss(self):
        runs = [*SLOW_SECOND_RUN.records, replicated("netloom_exact", 1, 90, 700, wrong=1)]
        self.assertFalse(self.verdict(Results(runs), "objects missing or wrong, all runs of Netloom").is_met)
        self.assertTrue(self.verdict(SLOW_SECOND_RUN, "objects missing or wrong, all runs of Netloom").is_met)

    def test_latency_is_judged_with_its_price(self):
        figures = {"latency_ms_p99": 80, "latency_ms_p50": 51, "bytes_per_client_s": 3840 * 3}
        results = Results([record("netloom_standard", "latency", 1, **figures)])
        self.assertTrue(self.verdict(results, "latency under 5 % loss, 99th percentile").is_met)
        self.assertTrue(self.verdict(results, "… median").is_met)
        self.assertFalse(self.verdict(results, "… bytes sent for each byte of messages").is_met)

    def test_the_best_table_of_a_scene_is_taken_and_no_other_variant(self):
        scenes = {
            "rigid_kb_per_s": 16.0,
            "rigid_one_kb_per_s": 17.0,
            "rigid_one_snapped_kb_per_s": 12.0,
            "rigid_one_bytes_per_changed": 3.9,
            "rigid_two_bytes_per_changed": 3.5,
            "rigid_two_rtt60_bytes_per_changed": 1.0,
        }
        self.assertEqual(published.best(scenes, "rigid", "kb_per_s"), 16.0)
        self.assertEqual(published.best(scenes, "rigid", "snapped_kb_per_s"), 12.0)
        self.assertEqual(published.best(scenes, "rigid", "bytes_per_changed"), 3.5)

    def test_headers_are_added_for_each_datagram(self):
        self.assertAlmostEqual(published.with_headers(30.0, 30), 30.84)
        self.assertAlmostEqual(published.with_headers(60.0, 30), 61.68)


class Telling(unittest.TestCase):
    def test_keys_are_flat_and_name_peer_setting_and_workload(self):
        values = flat(SLOW_SECOND_RUN, {"rigid_kb_per_s": 16})
        self.assertEqual(values["netloom_standard_16x200_all_threads_us_per_period"], 66)
        self.assertEqual(values["netloom_standard_16x200_all_threads_us_per_period_max"], 120)
        self.assertEqual(values["raw_exact_16x200_runs"], 3)
        self.assertEqual(values["netloom_scenes_rigid_kb_per_s"], 16)
        self.assertTrue(all(isinstance(value, (int, float)) for value in values.values()))

    def test_words_and_lists_have_no_place_in_a_flat_object(self):
        results = Results([record("enet_exact", "latency", 1, peer="enet", latency_ms_quantiles=[1, 2], latency_ms=3)])
        self.assertEqual(set(flat(results, {})), {"enet_exact_latency_latency_ms", "enet_exact_latency_runs"})

    def test_a_row_has_absolute_figures_with_their_ratio_and_error_with_its_bound(self):
        workload = next(workload for workload in plan.WORKLOADS if workload.key == plan.MAIN)
        table = document.workload_table(SLOW_SECOND_RUN, workload)
        row = next(line for line in table.splitlines() if "Netloom standard" in line)
        for part in ("66 (40 to 120)", "| 0.40 |", "| 0.15 |", "| 0, 0 |", "4 mm, 0.1° (5.1 mm, 0.28°)"):
            self.assertIn(part, row)
        widths = {line.count("|") for line in table.splitlines() if line}
        self.assertEqual(len(widths), 1, "as many cells in each row")

    def test_a_busy_machine_is_told_as_such(self):
        self.assertNotIn("busy", document.circumstances(ABOUT))
        self.assertIn("It was busy", document.circumstances(ABOUT | {"load": 2.9}))

    def test_nearly_no_allocation_is_not_none(self):
        self.assertEqual(document.small(Figure(0.004, 0, 0.01)), "0.004")
        self.assertEqual(document.small(Figure(0, 0, 0)), "0.0")

    def test_the_page_states_misses_circumstances_and_whose_figures_are_whose(self):
        with tempfile.TemporaryDirectory() as directory:
            slow = Results([replicated("raw_exact", 1, 100, 1000), replicated("netloom_standard", 1, 90, 500, wrong=3)])
            written = document.write(Path(directory), slow, {}, ABOUT)
            page = (Path(directory) / "BENCHMARKS.md").read_text()
            for name in written[1:]:
                self.assertIn(f"({name})", page)
        for part in ("**missed**", "not measured", "a processor, 2 cores", "renet 9.9.9", "Mirror (theirs)", "3 wrong"):
            self.assertIn(part, page)

    def test_a_file_that_no_run_has_kept_is_refused_with_a_hint(self):
        loader = command()
        with tempfile.TemporaryDirectory() as directory:
            wrong = Path(directory) / "wrong.json"
            for content in ("[]", "no json", '{"records": []}'):
                wrong.write_text(content)
                with self.assertRaisesRegex(ValueError, "not the results of a run; say a file that a run has kept"):
                    loader["load"](wrong)
            with self.assertRaisesRegex(ValueError, "No such file.*say a file"):
                loader["load"](Path(directory) / "none.json")

    def test_the_command_writes_the_page_again_from_kept_results(self):
        loader = command()
        with tempfile.TemporaryDirectory() as directory:
            kept = Path(directory) / "kept.json"
            kept.write_text(json.dumps({"records": SLOW_SECOND_RUN.records, "scenes": {}, "about": ABOUT}))
            arguments = loader["parse"](["--from", str(kept), "--output", directory, "--json"])
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
                loader["tell"](arguments, loader["load"](kept))
            self.assertEqual(json.loads(printed.getvalue())["raw_exact_16x200_runs"], 3)
            self.assertTrue((Path(directory) / "BENCHMARKS.md").exists())


class Drawing(unittest.TestCase):
    raw, ours = plan.CONTENDERS[0], plan.CONTENDERS[-1]

    def test_scales_map_the_ends_to_the_ends(self):
        scale = plots.Scale(10, 1000, 0, 100, True)
        self.assertEqual([round(scale(value)) for value in (10, 100, 1000)], [0, 50, 100])
        self.assertEqual(plots.Scale(0, 8, 100, 0, False)(2), 75)

    def test_marks_enclose_all_values(self):
        self.assertEqual(plots.decades(30, 450), [20, 50, 100, 200, 500])

    def test_labels_never_cover_each_other_nor_leave_the_plot(self):
        places = plots.spread([100, 101, 102, 400, 401], 17)
        self.assertTrue(all(later - earlier >= 17 for earlier, later in zip(places, places[1:])))
        self.assertLessEqual(places[-1], plots.PLOT_BOTTOM)

    def test_every_plot_is_xml_that_follows_the_scheme_and_names_everybody(self):
        curves = [(self.raw, [(16, 180), (64, 700)]), (self.ours, [(16, 80), (64, 300)])]
        drawings = [
            plots.lines("lines & more", "x", "y", curves),
            plots.bars("bars", "x", [(self.raw, 120_000), (self.ours, 20_000)]),
            plots.distribution("shares", "x", "y", [(self.raw, [50, 60, 400]), (self.ours, [50, 51, 52])], 50),
        ]
        for drawing in drawings:
            xml.dom.minidom.parseString(drawing)
            self.assertIn("prefers-color-scheme: dark", drawing)
            self.assertIn(self.raw.label, drawing)
            self.assertIn(self.ours.label, drawing)

    def test_nothing_measured_is_nothing_drawn(self):
        self.assertEqual(set(document.drawings(Results([])).values()), {None})


if __name__ == "__main__":
    unittest.main()
