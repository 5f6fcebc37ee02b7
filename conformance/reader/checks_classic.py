"""Checks of the classic protocol (docs/CLASSIC.md), by the codec of the Python client, which shares no code with the Rust one."""

import pathlib
import sys

from cursors import Refusal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "games" / "rtype" / "python"))

import classic_codec as codec  # noqa: E402
from given import json_value  # noqa: E402


def classic(given, data):
    try:
        if given["from"] == "client":
            opcode, message, token = codec.decode_request(data)
            return {"opcode": opcode, "message": message, "token": None if token is None else str(token)}
        opcode, message = codec.decode_answer(data)
    except codec.Malformed as malformed:
        raise Refusal(malformed.reason) from None
    if "entities" in message:
        message["entities"] = [{key: json_value(item) for key, item in one.items()} for one in message["entities"]]
    if "token" in message:
        message["token"] = str(message["token"])
    return {"opcode": opcode, "message": {key: json_value(item) for key, item in message.items()}}


CHECKS = {"classic": classic}
