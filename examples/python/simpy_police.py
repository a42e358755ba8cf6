"""A simulation with SimPy: customers, a NIC that polices their frames, and a server with a queue.

    python3 simpy_police.py

The NIC is the device of examples/state-meter.json, which lets two frames a millisecond through. It is a
process of its own (flowsteer serve), and its clock is that of the simulation.
"""

import os
import random

import simpy

import flowsteer
from flowsteer.simulation import Nic

SCENARIO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "state-meter.json")
#: Frames to TCP port 80: Ethernet, IPv4, TCP.
WEB = bytes.fromhex(
    "ffffffffffff020000000001 0800"
    "450000280000000040060000 0a000001 0a000002"
    "9c400050 00000000 00000000 50020000 00000000"
)
MILLISECOND = 1e-3


def customer(env, nic, chance, sent):
    """Sends frames with random pauses, three a millisecond in the mean."""
    for _ in range(30):
        yield env.timeout(chance.expovariate(3) * MILLISECOND)
        nic.send("uplink", WEB)
        sent.append(env.now)


def server(env, nic, served):
    """Works a tenth of a millisecond on each frame that the NIC lets through."""
    while True:
        yield nic.out["customer"].get()
        yield env.timeout(0.1 * MILLISECOND)
        served.append(env.now)


def simulate(seed):
    """Returns the times at which frames were sent and served, and what the NIC has policed."""
    env = simpy.Environment()
    chance = random.Random(seed)
    sent, served = [], []
    with flowsteer.serve(SCENARIO, wires=["uplink", "customer"], virtual_time=True) as device:
        nic = Nic(env, device)
        env.process(server(env, nic, served))
        for _ in range(2):
            env.process(customer(env, nic, chance, sent))
        env.run(until=60 * MILLISECOND)
        return sent, served, device.counters()["policed"]["packets"]


if __name__ == "__main__":
    times, done, policed = simulate(seed=7)
    print("{} frames were sent, {} served, {} policed".format(len(times), len(done), policed))
    print("the last one was served at {:.6f} s".format(done[-1]))
