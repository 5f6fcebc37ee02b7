"""What a vector gives and expects, and how the two sides are compared.

A reader that ignores half of a vector proves half of it. `Given` remembers which entries were asked for, so that the
driver can fail a file whose givens nobody reads; `difference` compares whole values, so that no expected entry is
left out and no type is mistaken for another.
"""

import struct

from values import Rotation, Triple


def require(condition, what):
    """A vector that contradicts itself fails its case, whatever it expects."""
    if not condition:
        raise ValueError(what)


class Given:
    """A JSON object that notes the path of each entry it hands out."""

    def __init__(self, content, asked, path=""):
        self.content = content
        self.asked = asked
        self.path = path

    def __contains__(self, key):
        return key in self.content

    def __getitem__(self, key):
        path = f"{self.path}.{key}"
        self.asked.add(path)
        return self._wrapped(self.content[key], path)

    def _wrapped(self, value, path):
        if isinstance(value, dict):
            return Given(value, self.asked, path)
        if isinstance(value, list):
            return [self._wrapped(item, path) for item in value]
        return value

    def integer(self, key):
        """An integer that may be a decimal string."""
        return int(self[key])

    def octets(self, key):
        """Bytes from hex, or None."""
        value = self[key]
        return None if value is None else bytes.fromhex(value)


def paths(value, path=""):
    """The paths of all entries of a JSON value, lists without their indexes."""
    found = set()
    if isinstance(value, dict):
        for key, item in value.items():
            found |= {f"{path}.{key}"} | paths(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            found |= paths(item, path)
    return found


def difference(expected, found, path="value"):
    """None if two JSON values are the same, else where they first differ."""
    if isinstance(expected, dict) and isinstance(found, dict):
        if expected.keys() != found.keys():
            return f"{path}: entries {sorted(expected)} expected, {sorted(found)} found"
        pairs = [(expected[key], found[key], f"{path}.{key}") for key in expected]
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return f"{path}: {len(expected)} items expected, {len(found)} found"
        pairs = [(one, other, f"{path}[{place}]") for place, (one, other) in enumerate(zip(expected, found))]
    elif type(expected) is type(found) and expected == found:
        return None
    else:
        return f"{path}: {expected!r} expected, {found!r} found"
    return next(filter(None, (difference(*pair) for pair in pairs)), None)


def json_f32(value):
    return {"float": value, "bits": struct.pack(">f", value).hex()}


def json_f64(value):
    return {"float": value, "bits": struct.pack(">d", value).hex()}


def json_value(value):
    """A game value in the form of section 14."""
    if isinstance(value, Triple):
        words = {} if value.words is None else {"words": value.words}
        return {"raw": value.words is None, "values": [json_f32(item) for item in value.values]} | words
    if isinstance(value, Rotation):
        quaternion = {"quaternion": [json_f32(item) for item in value.quaternion]}
        if value.steps is None:
            return {"raw": True} | quaternion
        return {"raw": False, "largest": value.largest, "steps": value.steps} | quaternion
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float):
        return json_f32(value)
    return value
