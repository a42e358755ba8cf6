"""A served device as an object."""

import base64
import json
import os
import re
import shutil
import tempfile
import time

from .control import Control
from .process import Process
from .values import Memory, Named, filled, to_json
from .wires import Wire, Wires, frame_bytes

#: Calls a second of a connection: the program is the only one, and may make as many as it can.
_MOST_REQUESTS = 1_000_000_000

#: Seconds in which a frame on a wire reaches the device.
_PATIENCE = 30.0


class Device:
    """A device behind a control. Calls by C names are methods: `device.ibv_alloc_pd(device.context)`.

    Calls, and frames of wires, take effect in the order in which the program makes them.
    """

    def __init__(self, control):
        self.control = control
        #: Wires by place.
        self.wires = Wires()
        #: The process, where `serve` has started it.
        self.process = None
        self.context = Named("context")
        self._folder = None
        self._busy = None
        self._methods = None

    # Objects of the scenario.

    def queue(self, name):
        return Named("queue", name)

    def counter(self, name):
        return Named("counter", name)

    def table(self, name):
        return Named("table", name)

    def matcher(self, name):
        return Named("matcher", name)

    def rule(self, name):
        return Named("rule", name)

    def flow(self, name):
        return Named("flow", name)

    # Calls.

    def call(self, method, **params):
        """A method of the control, after all frames that wires have sent (docs/serve.md#control)."""
        self._settle()
        return self.control.call(method, **params)

    def __getattr__(self, name):
        if not name.startswith(("ibv_", "mlx5dv_")):
            raise AttributeError(name)
        if name not in self.methods():
            raise AttributeError("flowsteer has no {}".format(name))

        def call(*args):
            return filled(self.control, self.call(name, args=[to_json(one) for one in args]))

        call.__name__ = name
        return call

    def __dir__(self):
        return sorted(set(super().__dir__()) | set(self.methods()))

    def methods(self):
        """The names of all methods of the control, those of C among them."""
        if self._methods is None:
            self._methods = frozenset(self.control.call("methods")["methods"])
        return self._methods

    def memory(self, size):
        """Memory for calls of C, of zeros."""
        return Memory(self.control, self.control.call("memory", bytes=size)["id"], 0, size)

    # Frames and rules.

    def receive(self, frame, port=1):
        """The outcome of a frame that arrives at a port, as a line of `flowsteer run --json`."""
        return self.call("receive", frame=frame_bytes(frame).hex(), port=port)

    def send(self, queue, frame, metadata=0):
        """The outcome of a frame that a queue of the scenario sends; `queue` is its name."""
        return self.call("send", frame=frame_bytes(frame).hex(), queue=queue, metadata=metadata)

    def trace(self, frame, **params):
        """The path of a frame. Changes nothing; `port`, or `queue` and `metadata`, as of `receive` and `send`."""
        return self.call("trace", frame=frame_bytes(frame).hex(), **params)["trace"]

    def why(self, frame, target=None, **params):
        """Why a frame ends where it does, or why it misses `target`: `{"rule": "http"}`."""
        if target is not None:
            params["target"] = target
        return self.call("why", frame=frame_bytes(frame).hex(), **params)["explanation"]

    def create_rule(self, rule):
        """A rule as in the section `rules` of a scenario. Returns its name."""
        return self.call("mlx5dv_dr_rule_create", **rule)["name"]

    def destroy_rule(self, name):
        self.call("mlx5dv_dr_rule_destroy", rule=name)

    def rules(self):
        """Direct rules in matching order, with packets and bytes."""
        return self.call("rules")["rules"]

    def tables(self):
        return self.call("tables")["tables"]

    def counters(self):
        """Counters of the scenario by name, with packets and bytes."""
        return {one.pop("name"): one for one in self.call("counters")["counters"]}

    def metrics(self):
        return self.call("metrics")

    def prometheus(self):
        """The metrics as text for Prometheus."""
        return self.call("prometheus")["text"]

    def snapshot(self):
        """The device as bytes, which `flowsteer serve --restore` continues with."""
        return base64.b64decode(self.call("snapshot")["base64"])

    # Events.

    def subscribe(self, *events):
        """Events from now on, by their names (docs/metrics.md#events)."""
        self.call("subscribe", events=list(events))

    def unsubscribe(self, *events):
        self.call("unsubscribe", events=list(events))

    def events(self):
        """The events that calls and frames have made since the last time, without waiting for more."""
        self.call("nextDeadline")
        return self.control.taken_events()

    def wait_event(self, timeout=None):
        """The next event. Raises TimeoutError after so many seconds."""
        return self.control.wait_event(timeout)

    # Time, in nanoseconds.

    @property
    def now(self):
        """The clock of the device."""
        return int(self.call("nextDeadline")["time"])

    @property
    def next_deadline(self):
        """When something is due next: a retransmission, the age of a connection. None while nothing waits."""
        return _deadline(self.call("nextDeadline"))

    def advance(self, nanoseconds):
        """Moves a virtual clock, and runs what is due. Returns the next deadline."""
        return _deadline(self.call("advance", nanoseconds=str(nanoseconds)))

    def advance_to(self, moment):
        """Moves a virtual clock to a time that is not before `now`. Returns the next deadline."""
        return _deadline(self.call("advanceTo", time=str(moment)))

    # Wires.

    def wire(self, place, path):
        """Connects to a wire `--wire PLACE=unix-listen:PATH`."""
        wire = self.wires[place] = Wire(self, place, path)
        # Until then, frames that leave here are lost.
        self._until(lambda: self.wire_sum(wire)["connected"], "the wire {} has another peer".format(place))
        return wire

    def wrote(self, wire):
        """Sees that frames of two wires arrive in the order in which they were sent."""
        if self._busy is not wire:
            self._settle()
        self._busy = wire

    def wire_sum(self, wire):
        """What the device has counted on a wire (docs/serve.md#lost-frames)."""
        sums = {one["place"]: one for one in self.call("wires")["wires"]}
        return sums[_place(wire.place)]

    def _settle(self):
        wire, self._busy = self._busy, None
        if wire is None:
            return
        hint = "frames on the wire {} did not arrive".format(wire.place)
        self._until(lambda: self.wire_sum(wire)["framesIn"] >= wire.sent, hint)

    def _until(self, condition, hint):
        until = time.monotonic() + _PATIENCE
        while not condition():
            if time.monotonic() > until:
                raise TimeoutError(hint)

    # The end.

    def close(self):
        """Closes wires and control, and ends the process that `serve` has started."""
        for wire in self.wires.values():
            wire.close()
        self.control.close()
        if self.process is not None:
            self.process.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _place(name):
    """The place of a wire, as the control has it: `port:1` or `qp:web`."""
    port = re.match(r"port(\d{1,4})$", "port1" if name == "uplink" else name)
    return "qp:" + name if port is None else "port:{}".format(int(port.group(1)))


def _deadline(reading):
    return None if reading["next"] is None else int(reading["next"])


def connect(path):
    """The device of a running `flowsteer serve --control unix:PATH`."""
    return Device(Control(path))


def serve(scenario, wires=(), virtual_time=False, args=(), command=None):
    """Starts `flowsteer serve`, and returns its device; `close`, or the end of `with`, ends the process.

    `scenario` is a file, or a scenario as a dict. `wires` are places: `uplink`, `portN`, names of queues;
    each is a wire of this program. With `virtual_time` the clock moves by `advance` and `advance_to` only.
    `args` are more arguments of `flowsteer serve`, `command` is the command as a list.
    Raises ServeError with the text of a refusal.
    """
    if isinstance(wires, str):
        wires = (wires,)
    folder = tempfile.mkdtemp(prefix="flowsteer-")
    process = control = None
    try:
        if isinstance(scenario, dict):
            file = os.path.join(folder, "scenario.json")
            with open(file, "w", encoding="utf-8") as out:
                json.dump(scenario, out)
        else:
            file = os.fspath(scenario)
        paths = {place: os.path.join(folder, "wire{}".format(i)) for i, place in enumerate(wires)}
        given = [file, "--control", "unix:" + os.path.join(folder, "control"), "--most-requests", str(_MOST_REQUESTS)]
        for place, path in paths.items():
            given += ["--wire", "{}=unix-listen:{}".format(place, path)]
        if virtual_time:
            given.append("--virtual-time")
        process = Process(given + list(args), command)
        control = Control(os.path.join(folder, "control"))
        device = Device(control)
        device.process = process
        device._folder = folder
        for place, path in paths.items():
            device.wire(place, path)
        return device
    except BaseException:
        if control is not None:
            control.close()
        if process is not None:
            process.close()
        shutil.rmtree(folder, ignore_errors=True)
        raise
