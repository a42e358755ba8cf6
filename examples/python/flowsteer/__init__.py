"""Devices of flowsteer from Python: the control and the wires of `flowsteer serve` (docs/serve.md).

    import flowsteer

    with flowsteer.serve("examples/state-meter.json", virtual_time=True) as device:
        print(device.receive(frame)["verdict"])
        device.advance(510_000)

Only the standard library is needed, and a machine with Unix sockets.
"""

from .control import ArgumentError, CallError, Control, Ended, Refused
from .device import Device, connect, serve
from .process import Process, ServeError
from .values import C, Constant, Filled, Memory, Named, Object, U64
from .wires import Wire

__all__ = [
    "ArgumentError",
    "C",
    "CallError",
    "Constant",
    "Control",
    "Device",
    "Ended",
    "Filled",
    "Memory",
    "Named",
    "Object",
    "Process",
    "Refused",
    "ServeError",
    "U64",
    "Wire",
    "connect",
    "serve",
]
