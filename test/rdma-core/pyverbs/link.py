"""The pipe to the Node process that runs flowsteer, and the memory that both sides name."""

import base64
import json
import os
import subprocess
from dataclasses import dataclass
from typing import Any

from pyverbs.pyverbs_error import PyverbsRDMAError

NS_PER_CALL = 8_000
NS_PER_EMPTY_POLL = 1_000_000
PAGE = 4096
EXACT = 2**53


@dataclass(frozen=True)
class Out:
    """A buffer of so many bytes that the call fills."""

    length: int


class File:
    """A file that the call writes text to."""


@dataclass(frozen=True)
class View:
    """Bytes of a buffer of the Node process."""

    memory: int
    offset: int
    length: int


@dataclass(frozen=True)
class Object:
    """An object of the Node process, by its handle."""

    handle: int


@dataclass(frozen=True)
class Reply:
    """What a call gave."""

    result: Any
    outputs: list[Any]
    members: list[Any]


class Link:
    """Makes calls on flowsteer. Its clock is virtual: it advances with each call."""

    def __init__(self) -> None:
        command = os.environ["FLOWSTEER_BRIDGE"].split("\t")
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.now = 0
        self._next_address = 1 << 32
        self._buffers: dict[int, tuple[int, int]] = {}

    def request(self, call: str, args: tuple[Any, ...], read: tuple[str, ...] = ()) -> Reply:
        """Makes a call. Members `read` of its first argument come back with the result."""
        self.now += NS_PER_CALL
        message = {"call": call, "args": args, "now": self.now, "read": read}
        line = json.dumps(message, default=encoded, separators=(",", ":")) + "\n"
        pipe = self._process
        assert pipe.stdin is not None and pipe.stdout is not None
        pipe.stdin.write(line.encode())
        pipe.stdin.flush()
        answer = pipe.stdout.readline()
        if not answer:
            raise RuntimeError(f"{call}: the Node process ended")
        reply = json.loads(answer, object_hook=decoded)
        if "crash" in reply:
            raise RuntimeError(f"{call}: {reply['crash']}")
        if "missing" in reply:
            raise RuntimeError(f"{call}: flowsteer has no such function")
        if "errno" in reply:
            raise PyverbsRDMAError(reply["message"], reply["errno"])
        return Reply(reply.get("result"), reply.get("outputs", []), reply.get("members", []))

    def allocate(self, length: int) -> int:
        """Allocates memory and returns its address."""
        reply = self.request("allocate", (length,))
        address = self._next_address
        self._next_address += (length + PAGE) // PAGE * PAGE
        self._buffers[address] = (reply.result["memory"].handle, length)
        return address

    def view(self, address: int, length: int) -> View:
        """Returns the bytes at an address."""
        for start, (memory, size) in self._buffers.items():
            if start <= address and address + length <= start + size:
                return View(memory, address - start, length)
        raise ValueError(f"no memory of {length} bytes at {address:#x}")

    def free(self, address: int) -> None:
        """Frees memory."""
        del self._buffers[address]


def encoded(value: Any) -> Any:
    """Encodes what JSON lacks."""
    match value:
        case bytes() | bytearray() | memoryview():
            return {"$bytes": base64.b64encode(value).decode()}
        case Object(handle):
            return {"$handle": handle}
        case View(memory, offset, length):
            return {"$view": [memory, offset, length]}
        case Out(length):
            return {"$out": length}
        case File():
            return {"$file": True}
    if getattr(value, "remote", None) is None:
        raise TypeError(f"{value!r} cannot be an argument")
    return {"$handle": value.remote.handle}


def decoded(value: dict[str, Any]) -> Any:
    """Decodes what JSON lacks."""
    if "$bytes" in value:
        return base64.b64decode(value["$bytes"])
    if "$handle" in value:
        return Object(value["$handle"])
    if "$int" in value:
        return int(value["$int"])
    return value


link = Link()


def call(name: str, *args: Any) -> Any:
    """Makes a call with a C name. @raises PyverbsRDMAError: flowsteer refuses it"""
    return link.request(name, args).result
