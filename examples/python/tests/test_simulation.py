"""The device in a simulation with SimPy; skipped where it is not installed."""

import ast
import glob
import os
import unittest

import flowsteer

from .support import RDMA, RETRIES, TIMEOUT_NS, post, reliable_pair

try:
    import simpy
except ImportError:
    simpy = None

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


@unittest.skipIf(simpy is None, "SimPy is not installed")
class Simulation(unittest.TestCase):
    def test_the_example_is_the_same_in_each_run(self):
        import simpy_police

        sent, served, policed = simpy_police.simulate(seed=3)
        self.assertEqual(len(sent), 60)
        self.assertEqual(len(served) + policed, 60)
        # Two at once, and then at most two a millisecond.
        self.assertLessEqual(len(served), 2 + 2 * sent[-1] / 1e-3)
        self.assertGreater(policed, 0)
        self.assertEqual(simpy_police.simulate(seed=3), (sent, served, policed))

    def test_deadlines_of_the_device_are_events_of_the_environment(self):
        from flowsteer.simulation import Nic

        env = simpy.Environment()
        times = []

        def peer(nic):
            while True:
                yield nic.out["uplink"].get()
                times.append(round(env.now * 1e3))

        with flowsteer.serve(RDMA, wires=["uplink"], virtual_time=True) as device:
            qp, cq = reliable_pair(device)
            nic = Nic(env, device, second=1e6)
            env.process(peer(nic))
            nic.run(lambda: post(device, qp, 7, b"hello"))
            env.run()
            self.assertEqual(times, [n * TIMEOUT_NS for n in range(RETRIES + 1)])
            self.assertEqual(len(device.ibv_poll_cq(cq, 8)), 1)


class Language(unittest.TestCase):
    def test_the_package_is_python_3_8(self):
        files = glob.glob(os.path.join(FOLDER, "**", "*.py"), recursive=True)
        self.assertGreater(len(files), 8)
        for file in files:
            with open(file, encoding="utf-8") as text:
                ast.parse(text.read(), file, feature_version=(3, 8))


if __name__ == "__main__":
    unittest.main()
