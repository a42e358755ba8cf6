"""Wires, and the process behind them."""

import os
import signal
import unittest

import flowsteer

from .support import METER, SWITCH, WEB


class Wires(unittest.TestCase):
    def test_frames_go_through_in_the_order_of_the_program(self):
        with flowsteer.serve(SWITCH, wires=["vm1", "vm2", "uplink"]) as device:
            vm1, vm2, uplink = (device.wires[place] for place in ("vm1", "vm2", "uplink"))
            to_vm2 = bytes.fromhex("020000000002") + WEB[6:]
            for n in range(200):
                (vm1 if n % 2 else uplink).send(to_vm2 + bytes([n]))
            self.assertEqual([frame[-1] for frame in vm2.frames()], list(range(200)))
            self.assertEqual((vm2.frames(), vm1.frames()), ([], []))
            vm1.send(to_vm2)
            self.assertEqual(vm2.receive(5), to_vm2)
            with self.assertRaises(TimeoutError):
                vm2.receive(0.05)

    def test_a_frame_is_bytes_and_a_wire_has_a_place(self):
        with flowsteer.serve(METER, wires="uplink", virtual_time=True) as device:
            with self.assertRaisesRegex(ValueError, "a frame has at least 1 byte"):
                device.wires["uplink"].send(b"")
            for send in (device.wires["uplink"].send, device.receive):
                with self.assertRaisesRegex(TypeError, "bytes, not text: bytes.fromhex"):
                    send("0200")
            with self.assertRaisesRegex(KeyError, "no wire 'vm1'; wires: uplink"):
                device.wires["vm1"]
            with self.assertRaisesRegex(flowsteer.ArgumentError, "port: expected 1$"):
                device.receive(WEB, 9)
            # None of them has changed what follows.
            self.assertEqual(device.receive(WEB)["verdict"], "deliver")

    def test_time_moves_after_the_frames_that_were_sent(self):
        with flowsteer.serve(METER, wires=["uplink", "customer"], virtual_time=True) as device:
            for _ in range(50):
                for _ in range(3):
                    device.wires["uplink"].send(WEB)
                device.advance(1_100_000)
            self.assertEqual(len(device.wires["customer"].frames()), 100)
            self.assertEqual(device.counters()["policed"]["packets"], 50)

    def test_scenarios_as_objects_and_places_that_do_not_exist(self):
        with flowsteer.serve({"flowsteer": 1, "queues": [{"name": "web"}]}, wires=["web"]) as device:
            self.assertEqual(device.receive(WEB)["verdict"], "miss")
        with self.assertRaisesRegex(flowsteer.ServeError, "did you mean web"):
            flowsteer.serve({"flowsteer": 1, "queues": [{"name": "web"}]}, wires=["wep"])
        with self.assertRaisesRegex(flowsteer.ServeError, "no such file"):
            flowsteer.serve("/no/such/scenario.json")
        with self.assertRaisesRegex(flowsteer.ServeError, "cannot be started"):
            flowsteer.serve(SWITCH, command=["/no/such/command"])

    def test_a_second_program_connects_to_the_same_device(self):
        with flowsteer.serve(SWITCH) as device:
            with flowsteer.connect(os.path.join(device._folder, "control")) as other:
                other.send("vm1", WEB)
            self.assertEqual(device.tables()[0]["packets"], 1)

    def test_a_process_that_dies_is_seen(self):
        with flowsteer.serve(SWITCH) as device:
            os.kill(device.process._child.pid, signal.SIGKILL)
            with self.assertRaises(flowsteer.Ended):
                device.rules()
        self.assertIsNone(device.process.summary)


if __name__ == "__main__":
    unittest.main()
