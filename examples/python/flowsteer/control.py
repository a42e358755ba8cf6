"""The control of a served device: JSON-RPC 2.0, one message a line, on a Unix socket."""

import json
import socket
from collections import deque

from .sockets import connected

#: Codes of JSON-RPC, and that of a refusal by the device.
REFUSED = 1
BAD_PARAMS = -32602


class CallError(Exception):
    """The control answered with an error; `code` is that of JSON-RPC."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data")


class ArgumentError(CallError, TypeError):
    """An argument of a wrong type or kind. The text is that of the TypeError or refusal."""


class Refused(CallError):
    """The device or the scenario refused a call, which has changed nothing.

    The text is that of the refusal. `errno` is its number and `name` its name (`EINVAL`), `call` the
    refused call, `reason` the word of docs/errors.md, `path` the place among the arguments and `hint`
    the remedy; the last two can be None.
    """

    def __init__(self, error):
        super().__init__(error)
        data = self.data or {}
        self.name = data.get("code")
        self.errno = data.get("errno")
        self.call = data.get("call")
        self.reason = data.get("reason")
        self.path = data.get("path")
        self.hint = data.get("hint")


class Ended(EOFError):
    """flowsteer serve has ended, or closed the connection."""


_ERRORS = {REFUSED: Refused, BAD_PARAMS: ArgumentError}


class Control:
    """A connection to the control: a session of its own (docs/serve.md#sessions)."""

    def __init__(self, path, timeout=60.0):
        """`timeout` limits the wait for an answer, in seconds."""
        self._socket = connected(path, timeout)
        self._received = b""
        self._last = 0
        self._events = deque()

    def call(self, method, **params):
        """Calls a method with params by name. Returns its result; raises CallError or Ended."""
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Ended("flowsteer serve has ended") from error
        while True:
            answer = self._next()
            if answer.get("method") == "event":
                self._events.append(answer["params"])
            elif "error" in answer:
                raise _ERRORS.get(answer["error"]["code"], CallError)(answer["error"])
            elif answer.get("id") == self._last:
                return answer["result"]

    def taken_events(self):
        """The events that came with the answers so far, in their order; each once."""
        events = list(self._events)
        self._events.clear()
        return events

    def wait_event(self, timeout=None):
        """The next event. Raises TimeoutError after so many seconds; None waits without a limit."""
        if not self._events:
            before = self._socket.gettimeout()
            self._socket.settimeout(timeout)
            try:
                self._events.append(self._next()["params"])
            except socket.timeout as error:
                raise TimeoutError("no event came in {} s".format(timeout)) from error
            finally:
                self._socket.settimeout(before)
        return self._events.popleft()

    def close(self):
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _next(self):
        # What came before a time-out stays: a buffered reader would lose it.
        while True:
            line, newline, rest = self._received.partition(b"\n")
            if newline:
                self._received = rest
                return json.loads(line.decode())
            try:
                chunk = self._socket.recv(1 << 16)
            except ConnectionResetError:
                chunk = b""
            if not chunk:
                raise Ended("flowsteer serve has ended")
            self._received += chunk
