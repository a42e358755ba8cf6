"""A client of flowsteer serve --control unix:PATH, with the standard library only (docs/serve.md).

    python3 serve_client.py control.sock rules
    python3 serve_client.py control.sock mlx5dv_dr_rule_destroy '{"rule": "no telnet"}'
"""

import json
import socket
import sys


class Refused(Exception):
    """The other side gave an error; `data` says why the device refused the call."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data")


class Client:
    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._lines = self._socket.makefile("r", encoding="utf-8", newline="\n")
        self._last = 0
        # Events that came while a call waited for its answer.
        self._events = []

    def call(self, method, **params):
        """Calls a method. Returns its result; raises Refused."""
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        self._socket.sendall(json.dumps(message).encode() + b"\n")
        while True:
            answer = self._next()
            if answer.get("method") == "event":
                self._events.append(answer["params"])
            elif "error" in answer:
                raise Refused(answer["error"])
            else:
                return answer["result"]

    def event(self):
        """Waits for the next event that was subscribed to."""
        return self._events.pop(0) if self._events else self._next()["params"]

    def close(self):
        self._lines.close()
        self._socket.close()

    def _next(self):
        line = self._lines.readline()
        if line == "":
            raise EOFError("flowsteer serve has ended")
        return json.loads(line)


if __name__ == "__main__":
    path, method, *rest = sys.argv[1:]
    client = Client(path)
    try:
        print(json.dumps(client.call(method, **json.loads(rest[0] if rest else "{}"))))
    except Refused as refused:
        sys.exit(f"{refused} {json.dumps(refused.data)}")
    finally:
        client.close()
