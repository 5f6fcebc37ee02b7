"""Builds the contenders and runs them, each alone on a loopback device of its own where that is possible."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent
ROOT = PEERS.parent.parent

# Nothing but what happens in a run goes over this loopback device; it vanishes with the run.
NAMESPACE = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
TIMEOUT_SECONDS = 180
SCENES_TIMEOUT_SECONDS = 1800


class Failure(Exception):
    """What went wrong, and what to do."""


def target_directory():
    return Path(os.environ.get("CARGO_TARGET_DIR") or PEERS / "target")


def program(contender):
    return target_directory() / "release" / f"peer-{contender.peer}"


def build(contenders, progress):
    """One package after the other: built together, cargo would give each the features that another one needs."""
    for peer in dict.fromkeys(contender.peer for contender in contenders):
        progress(f"building {peer} (the first time takes minutes, those with an engine longer)")
        command = ["cargo", "build", "--release", "--quiet", "--package", f"peer-{peer}"]
        if subprocess.run(command, cwd=PEERS, stdout=sys.stderr).returncode != 0:
            raise Failure(f"{' '.join(command)} failed in {PEERS}: see above")


def has_programs(contenders):
    """Those that are not built."""
    return [contender.peer for contender in contenders if not program(contender).exists()]


def can_isolate():
    """Whether a network namespace can be made; that takes root, or users who may."""
    try:
        return subprocess.run([*NAMESPACE, "true"], capture_output=True, timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def measure(contender, workload, is_isolated):
    """One run: what the program tells, or why it did not."""
    command = [str(program(contender)), workload.kind, *workload.arguments]
    command += ["--setting", contender.setting, "--seconds", str(workload.seconds)]
    if is_isolated:
        command = [*NAMESPACE, *command]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return {"failed": f"no result after {TIMEOUT_SECONDS} s"}
    lines = [line for line in ended.stdout.splitlines() if line.startswith("{")]
    last = (ended.stderr.strip().splitlines() or ["nothing"])[-1]
    if not lines:
        return {"failed": f"ended with {ended.returncode} and said: {last}"}
    result = json.loads(lines[-1])
    if "failed" in result:
        result["failed"] += f"; the last that was said: {last}"
    return result


def scenes(progress):
    """Netloom's bytes for the scenes that others publish; they repeat exactly, so one run is all."""
    progress("measuring scenes (netloom-bench scenes)")
    command = ["cargo", "run", "--release", "--quiet", "--package", "netloom-bench", "--", "scenes", "--json"]
    try:
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SCENES_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure(f"{' '.join(command)} took more than {SCENES_TIMEOUT_SECONDS} s") from None
    if ended.returncode != 0:
        raise Failure(f"{' '.join(command)} failed in {ROOT}:\n{ended.stderr}")
    return json.loads(ended.stdout)


def versions():
    """Of every package in the lock file, by name; of Netloom with the commit."""
    text = (PEERS / "Cargo.lock").read_text()
    found = dict(re.findall(r'name = "([^"]+)"\nversion = "([^"]+)"', text))
    commit = output("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    found["netloom"] = f"{found.get('netloom', '?')} ({commit})"
    return found


def machine():
    """What it was measured on."""
    try:
        model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        model = None
    return {
        "processor": model.group(1).strip() if model else "unknown",
        "cores": os.cpu_count(),
        "kernel": f"{os.uname().sysname} {os.uname().release} {os.uname().machine}",
        "rust": output("rustc", "--version"),
    }


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip() or "unknown"
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
