"""`flowsteer serve` as a child process."""

import json
import os
import shlex
import shutil
import subprocess
import threading

#: The command of the package or checkout that this folder is a part of.
_BESIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "dist", "cli.js")


class ServeError(Exception):
    """flowsteer serve did not start. The text is what it printed."""


def command():
    """The command: that of $FLOWSTEER_COMMAND, `flowsteer` in the path, or that of this package."""
    own = os.environ.get("FLOWSTEER_COMMAND")
    if own:
        return shlex.split(own)
    found = shutil.which("flowsteer")
    if found is not None:
        return [found]
    if os.path.exists(_BESIDE):
        return ["node", os.path.normpath(_BESIDE)]
    raise ServeError("flowsteer is not in the path: set FLOWSTEER_COMMAND, such as 'node /path/to/dist/cli.js'")


class Process:
    """A running `flowsteer serve`, which is ready when the constructor returns."""

    def __init__(self, args, run=None):
        """`args` follow `serve`; `run` is the command as a list, by default `command()`."""
        #: What it printed last: frames by wire, drops by reason. None until it has ended.
        self.summary = None
        self._text = []
        self._ready = threading.Event()
        try:
            self._child = subprocess.Popen(
                list(run or command()) + ["serve"] + list(args) + ["--json"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise ServeError("flowsteer cannot be started: {}".format(error)) from error
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._ready.wait()
        if self._child.poll() is not None:
            self._reader.join()
            raise ServeError("".join(self._text).strip() or "flowsteer serve ended without a word")

    @property
    def text(self):
        """What it has printed."""
        return "".join(self._text)

    def close(self, timeout=30.0):
        """Ends it with SIGTERM: frames that have arrived are steered. Returns the exit code."""
        if self._child.poll() is None:
            self._child.terminate()
        try:
            code = self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            self._child.kill()
            code = self._child.wait()
        self._reader.join()
        return code

    def _read(self):
        with self._child.stderr as lines:
            for line in lines:
                text = line.decode(errors="replace")
                self._text.append(text)
                kind = _kind_of(text)
                if kind == "ready":
                    self._ready.set()
                elif kind == "sum":
                    self.summary = json.loads(text)
        self._child.wait()
        self._ready.set()


def _kind_of(line):
    try:
        return json.loads(line).get("kind")
    except (ValueError, AttributeError):
        return None
