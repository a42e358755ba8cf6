"""Devices in simulations with SimPy (https://simpy.readthedocs.io), 3.0 or newer."""

import simpy


class Nic:
    """A device with virtual time whose clock is that of an environment.

    Frames that leave a wire are in a `simpy.Store` by its place: `frame = yield nic.out["uplink"].get()`.
    The device runs at each of its deadlines, such as retransmissions, without a call of the model.
    """

    def __init__(self, env, device, second=1.0):
        """`second` is what a second is in the time of the environment: 1e3 where that counts milliseconds."""
        self.env = env
        self.device = device
        self.out = {place: simpy.Store(env) for place in device.wires}
        self._nanoseconds = 1e9 / second
        self._start = device.now - round(env.now * self._nanoseconds)
        self._planned = None
        self.run(lambda: None)

    def send(self, place, frame):
        """Sends a frame by a wire, now."""
        self.run(lambda: self.device.wires[place].send(frame))

    def run(self, work):
        """Calls a function that uses the device, at the present. Returns its result."""
        self.device.advance_to(self._now())
        result = work()
        for place, wire in self.device.wires.items():
            for frame in wire.frames():
                self.out[place].put(frame)
        self._plan()
        return result

    def _now(self):
        return self._start + round(self.env.now * self._nanoseconds)

    def _plan(self):
        deadline = self.device.next_deadline
        if deadline is not None and deadline != self._planned:
            self._planned = deadline
            self.env.process(self._wake(deadline))

    def _wake(self, deadline):
        yield self.env.timeout(max(0, deadline - self._now()) / self._nanoseconds)
        if self._planned == deadline:
            self._planned = None
            # The time of the environment is a float: it may be a nanosecond early.
            self.device.advance_to(max(deadline, self._now()))
            self.run(lambda: None)
