#!/usr/bin/env python3
"""Reads Netloom's golden vectors with an implementation written from docs/STANDARD.md (and docs/CLASSIC.md) alone.

    python3 conformance/reader/read.py conformance/vectors
    python3 conformance/reader/read.py --self-test conformance/vectors

Vectors that only their writer reads prove nothing about the text. This reader shares no code with the Rust crates: it
decodes every case of every file and compares the whole value, or the reason for refusal, with what the file expects.
Nothing is skipped silently: an unknown or missing file, an unknown entry, and a given that no check reads are
failures too. `--self-test` spoils each file's first case in every way it knows and fails if one goes unnoticed.
"""

import argparse
import copy
import json
import pathlib
import sys

import checks_classic
import checks_proto
import checks_replica
import checks_session
import checks_wire
from cursors import Refusal
from given import Given, difference, paths

DIFFERENCES_SHOWN = 10
NEEDS = {"crc32c", "chacha20-poly1305", "x25519", "hkdf-sha256"}
PLAIN_CHECKS = (
    checks_wire.CHECKS | checks_proto.CHECKS | checks_replica.CHECKS | checks_session.CHECKS | checks_classic.CHECKS
)
FILES = {*PLAIN_CHECKS, "proto_codes", "proto_sessions", "proto_conversation", "replica_session"}


class Malformed(Exception):
    """A vector file that is not in the form of sections 14, 32, 48 and 61."""


def expect_entries(item, *allowed):
    """One of the allowed sets of entries, exactly."""
    if set(item) not in [set(entries.split()) for entries in allowed]:
        raise Malformed(f"entries {sorted(item)} are not among {list(allowed)}")


def check_needs(stem, case):
    if stem.startswith("proto_"):
        unknown = set(case["needs"]) - NEEDS
        if unknown:
            raise Malformed(f"needs {sorted(unknown)}, which this reader does not have")


def check_plain(stem, case, given):
    """A case with one input: its value or its error."""
    needs = " needs" if stem.startswith("proto_") else ""
    expect_entries(case, f"name given hex value{needs}", f"name given hex error{needs}")
    data = bytes.fromhex(case["hex"])
    try:
        if stem == "proto_codes":
            found = {"value": checks_proto.codes(case["name"], given, data)}
        else:
            found = {"value": PLAIN_CHECKS[stem](given, data)}
    except Refusal as refusal:
        found = {"error": refusal.reason}
    expected = {key: case[key] for key in ("value", "error") if key in case}
    return difference(expected, found, "case")


def check_sessions(case, given):
    expect_entries(case, "name given needs steps")
    for step in case["steps"]:
        expect_entries(step, "hex says messages", "hex says error")
    expected = [{key: step[key] for key in step if key not in ("hex", "says")} for step in case["steps"]]
    found = checks_proto.sessions(given, [bytes.fromhex(step["hex"]) for step in case["steps"]])
    return difference(expected, found, "steps")


def check_conversation(case, given):
    expect_entries(case, "name given needs datagrams value")
    for datagram in case["datagrams"]:
        expect_entries(datagram, "from hex ms type", "from hex ms type header payload")
    inputs = [(item["from"], item["ms"], bytes.fromhex(item["hex"])) for item in case["datagrams"]]
    shown, value = checks_proto.conversation(given, inputs)
    expected = [{key: item[key] for key in item if key not in ("from", "hex", "ms")} for item in case["datagrams"]]
    return difference(expected, shown, "datagrams") or difference(case["value"], value)


def check_replica_session(case):
    expect_entries(case, "name given steps")
    for step in case["steps"]:
        expect_entries(step, "hex says value")
    expected = [{"value": step["value"]} for step in case["steps"]]
    found = list(checks_replica.session(bytes.fromhex(step["hex"]) for step in case["steps"]))
    return difference(expected, found, "steps")


def check_case(stem, case, asked):
    """None, or what is wrong."""
    try:
        check_needs(stem, case)
        given = None if case["given"] is None else Given(case["given"], asked)
        if stem == "proto_sessions":
            return check_sessions(case, given)
        if stem == "proto_conversation":
            return check_conversation(case, given)
        if stem == "replica_session":
            return check_replica_session(case)
        return check_plain(stem, case, given)
    except Malformed as malformed:
        return str(malformed)
    except Exception as exception:  # whatever a spoilt vector does to the reader is a failure of that vector
        return f"{type(exception).__name__}: {exception}"


def check_file(stem, content):
    """How many cases passed, and what is wrong with the file or its other cases."""
    if stem not in FILES:
        return 0, ["this reader does not know the file"]
    if set(content) != {"about", "cases"} or not content["cases"]:
        return 0, ["a vector file is {about, cases} with at least one case"]
    asked, problems = set(), []
    for case in content["cases"]:
        problem = check_case(stem, case, asked)
        if problem:
            problems.append(f"{case.get('name')!r}: {problem}")
    passed = len(content["cases"]) - len(problems)
    unread = set().union(*(paths(case.get("given")) for case in content["cases"])) - asked
    if unread:
        problems.append(f"givens that no check reads: {sorted(unread)}")
    return passed, problems


def read_folder(folder):
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}


def read_all(files):
    """Prints a line per file and the differences; gives the exit code."""
    passed_in_all, problems_in_all = 0, [f"{stem}: the file is missing" for stem in sorted(FILES - files.keys())]
    for stem, content in files.items():
        passed, problems = check_file(stem, content)
        print(f"{stem:24} {passed:4} passed, {len(problems)} failed")
        passed_in_all += passed
        problems_in_all += [f"{stem}: {problem}" for problem in problems]
    for problem in problems_in_all[:DIFFERENCES_SHOWN]:
        print(f"  {problem[:600]}")
    print(f"{passed_in_all} passed, {len(problems_in_all)} failed")
    return 1 if problems_in_all else 0


def spoilt_leaves(value):
    """Copies of a JSON value, each with one leaf changed or, in an empty list, one added."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from (value | {key: spoilt} for spoilt in spoilt_leaves(item))
    elif isinstance(value, list) and value:
        for place, item in enumerate(value):
            yield from ([*value[:place], spoilt, *value[place + 1 :]] for spoilt in spoilt_leaves(item))
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield value + 1
    elif isinstance(value, str):
        yield value + "0"
    else:
        yield [0]


def spoilt_hex(text):
    """The input with its last bit of lowest weight flipped, or with a byte more if it is empty."""
    return f"{text[:-2]}{int(text[-2:], 16) ^ 1:02x}" if text else "00"


def spoilt_cases(case):
    """A case in every spoilt form: another input, another outcome, one entry more."""
    yield "an unknown entry", case | {"surprise": 1}
    if "hex" in case:
        yield "another input", case | {"hex": spoilt_hex(case["hex"])}
    for outcome in case.keys() & {"value", "error"}:
        for spoilt in spoilt_leaves(case[outcome]):
            yield f"another {outcome}", case | {outcome: spoilt}
    for many in case.keys() & {"steps", "datagrams"}:
        for place, item in enumerate(case[many]):
            before, after = case[many][:place], case[many][place + 1 :]
            yield f"another input in {many}", case | {many: [*before, item | {"hex": spoilt_hex(item["hex"])}, *after]}
            outcomes = {"messages", "error", "type", "header", "payload", "value"}
            shown = {key: item[key] for key in item.keys() & outcomes}
            for spoilt in spoilt_leaves(shown):
                yield f"another outcome in {many}", case | {many: [*before, item | spoilt, *after]}


def spoilt_files(stem, content):
    """A file with its first case spoilt, or with a given that nobody reads."""
    first, others = content["cases"][0], content["cases"][1:]
    for what, case in spoilt_cases(first):
        yield what, content | {"cases": [case, *others]}
    unread = copy.deepcopy(content)
    unread["cases"][0]["given"] = (first["given"] or {}) | {"surprise": 1}
    yield "a given that is not read", unread
    yield "no cases", content | {"cases": []}


def self_test(files):
    """Spoils every file and asserts that the reader notices; gives the exit code."""
    tried, unnoticed = 0, []
    for stem, content in files.items():
        for what, spoilt in spoilt_files(stem, content):
            tried += 1
            if not check_file(stem, spoilt)[1]:
                unnoticed.append(f"{stem}: {what}")
    tried += 1
    if not check_file("wire_unknown", next(iter(files.values())))[1]:
        unnoticed.append("an unknown file")
    for problem in unnoticed[:DIFFERENCES_SHOWN]:
        print(f"  unnoticed in {problem}")
    print(f"{tried - len(unnoticed)} of {tried} mistakes noticed")
    return 1 if unnoticed else 0


def main():
    parser = argparse.ArgumentParser(description="Reads Netloom's golden vectors, independently of the Rust code.")
    parser.add_argument("folder", type=pathlib.Path, help="the folder of the vector files, conformance/vectors")
    parser.add_argument("--self-test", action="store_true", help="spoil the vectors and assert that it is noticed")
    options = parser.parse_args()
    files = read_folder(options.folder)
    return self_test(files) if options.self_test else read_all(files)


if __name__ == "__main__":
    sys.exit(main())
