"""Wires of a served device: frames on a stream socket, each after its length in four bytes, big-endian."""

import socket
import struct
from collections import deque

from .sockets import connected

_LENGTH = struct.Struct("!I")


def frame_bytes(frame):
    """The bytes of a frame. Raises TypeError for text, ValueError for a frame without bytes."""
    if isinstance(frame, str):
        raise TypeError("a frame is bytes, not text: bytes.fromhex reads hexadecimal digits")
    data = bytes(frame)
    if not data:
        raise ValueError("a frame has at least 1 byte")
    return data


class Wires(dict):
    """Wires by place."""

    def __missing__(self, place):
        raise KeyError("no wire {!r}; wires: {}".format(place, ", ".join(self) or "none"))


class Wire:
    """A port or a queue of a device, as a peer that sends frames and gets those that leave there."""

    def __init__(self, device, place, path, timeout=60.0):
        """`place` is `uplink`, `portN`, or the name of a queue; `path` that of a `unix-listen` wire."""
        self.place = place
        self._device = device
        self._socket = connected(path, timeout)
        self._received = b""
        self._frames = deque()
        self._read = 0
        self._sent = 0

    @property
    def sent(self):
        """Frames that this end has sent."""
        return self._sent

    def send(self, frame):
        """Sends a frame to the device. The next call on the device comes after it."""
        data = frame_bytes(frame)
        self._device.wrote(self)
        self._socket.sendall(_LENGTH.pack(len(data)) + data)
        self._sent += 1

    def frames(self):
        """All frames that have left the device here since the last time, without waiting for more."""
        left = self._device.wire_sum(self)["framesOut"]
        while self._read < left:
            self._frames.append(self._next())
        frames = list(self._frames)
        self._frames.clear()
        return frames

    def receive(self, timeout=None):
        """The next frame that leaves the device here. Raises TimeoutError after so many seconds."""
        if self._frames:
            return self._frames.popleft()
        before = self._socket.gettimeout()
        self._socket.settimeout(timeout)
        try:
            return self._next()
        except socket.timeout as error:
            raise TimeoutError("no frame came in {} s".format(timeout)) from error
        finally:
            self._socket.settimeout(before)

    def close(self):
        self._socket.close()

    def _next(self):
        while True:
            if len(self._received) >= _LENGTH.size:
                end = _LENGTH.size + _LENGTH.unpack_from(self._received)[0]
                if len(self._received) >= end:
                    frame = self._received[_LENGTH.size : end]
                    self._received = self._received[end:]
                    self._read += 1
                    return frame
            chunk = self._socket.recv(1 << 16)
            if not chunk:
                raise EOFError("the wire {} was closed".format(self.place))
            self._received += chunk
