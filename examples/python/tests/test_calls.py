"""Calls of the control and by C names."""

import unittest

import flowsteer
from flowsteer import C, U64

from .support import METER, RDMA, RETRIES, SWITCH, TIMEOUT_NS, WEB, post, reliable_pair


class Calls(unittest.TestCase):
    def test_frames_rules_and_counters(self):
        with flowsteer.serve(SWITCH) as device:
            self.assertEqual(device.send("vm1", WEB)["verdict"], "deliver")
            name = device.create_rule(
                {"name": "no web", "table": "switch", "match": {"outer.tcp_dport": 80}, "actions": ["drop"]}
            )
            outcome = device.send("vm1", WEB)
            self.assertEqual((outcome["verdict"], outcome["rules"]), ("drop", ["all", "no web"]))
            self.assertEqual([one["packets"] for one in device.rules() if one["name"] == name], [1])
            self.assertEqual(device.tables()[0]["packets"], 2)
            self.assertIn("no web", str(device.why(WEB, {"rule": "vm1 to all"}, queue="vm1")))
            self.assertTrue(device.trace(WEB, queue="vm1")["complete"])
            device.destroy_rule(name)
            self.assertEqual(device.counters(), {"telnet": {"packets": 0, "bytes": 0}})
            self.assertIn("flowsteer_", device.prometheus())
            self.assertEqual(device.metrics()["device"], "flowsteer0")
            self.assertGreater(len(device.snapshot()), 1000)
        self.assertEqual(device.process.summary["dropped"], {"drop_action": {"frames": 1, "bytes": len(WEB)}})

    def test_refusals_have_their_text(self):
        with flowsteer.serve(SWITCH) as device:
            with self.assertRaises(flowsteer.Refused) as caught:
                device.create_rule({"name": "x", "table": "swich"})
            refused = caught.exception
            self.assertIn('nothing has this name (EINVAL); did you mean "switch"?', str(refused))
            self.assertEqual((refused.name, refused.errno, refused.path), ("EINVAL", 22, "table"))
            self.assertEqual((refused.call, refused.reason), ("createRule", "unknown_name"))
            with self.assertRaisesRegex(TypeError, "ibv_alloc_pd: context must be a Context"):
                device.ibv_alloc_pd(5)
            with self.assertRaisesRegex(flowsteer.ArgumentError, "there is no constant"):
                device.ibv_create_cq(device.context, C.IBV_NO_SUCH)
            with self.assertRaisesRegex(AttributeError, "no ibv_no_such"):
                device.ibv_no_such()
            with self.assertRaisesRegex(flowsteer.CallError, "the method methods lists all"):
                device.call("none")
            self.assertIn("ibv_alloc_pd", dir(device))

    def test_objects_memory_and_filled_arguments(self):
        with flowsteer.serve(SWITCH) as device:
            memory = device.memory(64)
            pd = device.ibv_alloc_pd(device.context)
            mr = device.ibv_reg_mr(pd, memory[:32], None, C.IBV_ACCESS_LOCAL_WRITE)
            self.assertIsInstance(mr.lkey, int)
            memory[8:16].write(b"\xff" * 8)
            self.assertEqual(bytes(memory[7:10]), b"\x00\xff\xff")
            with self.assertRaises(ValueError):
                memory[:4].write(b"12345")
            result, out = device.ibv_query_device(device.context, {})
            self.assertEqual((result, out[1]), (0, device.ibv_query_device(device.context)))
            with self.assertRaises(AttributeError):
                mr.colour  # pylint: disable=pointless-statement
            self.assertEqual(repr(pd), "<ProtectionDomain {}>".format(pd.number))

    def test_events_come_with_calls(self):
        with flowsteer.serve(METER, virtual_time=True, wires=["uplink"]) as device:
            device.subscribe("drop", "delivery")
            for _ in range(3):
                device.wires["uplink"].send(WEB)
            self.assertEqual([one["event"] for one in device.events()], ["delivery", "delivery", "drop"])
            self.assertEqual(device.events(), [])
            device.receive(WEB)
            self.assertEqual(device.wait_event(5)["event"], "drop")
            with self.assertRaises(TimeoutError):
                device.wait_event(0.05)
            device.unsubscribe("drop")
            device.receive(WEB)
            self.assertEqual(device.events(), [])

    def test_constants_and_bigints(self):
        self.assertEqual(repr(C.IBV_QP_STATE | C.IBV_QP_PORT), "IBV_QP_STATE|IBV_QP_PORT")
        with self.assertRaises(AttributeError):
            C.EINVAL  # pylint: disable=pointless-statement
        with flowsteer.serve(RDMA, virtual_time=True, wires=["uplink"]) as device:
            qp, cq = reliable_pair(device)
            for number in (7, U64(8), (1 << 64) - 1):
                post(device, qp, number, b"hello")
            device.advance(20 * TIMEOUT_NS)
            device.advance(20 * TIMEOUT_NS)
            done = device.ibv_poll_cq(cq, 8)
            self.assertEqual([one["wr_id"] for one in done], [7, 8, (1 << 64) - 1])


class Time(unittest.TestCase):
    def test_meters_run_by_the_virtual_clock(self):
        with flowsteer.serve(METER, virtual_time=True) as device:
            verdicts = [device.receive(WEB)["verdict"] for _ in range(3)]
            self.assertEqual((device.now, device.next_deadline), (0, None))
            self.assertIsNone(device.advance(510_000))
            verdicts += [device.receive(WEB)["verdict"] for _ in range(2)]
            self.assertEqual(verdicts, ["deliver", "deliver", "drop", "deliver", "drop"])
            device.advance_to(1 << 60)
            self.assertEqual(device.now, 1 << 60)
            with self.assertRaisesRegex(flowsteer.Refused, "a clock does not go back"):
                device.advance_to(5)

    def test_the_clock_of_the_machine_is_not_moved(self):
        with flowsteer.serve(SWITCH) as device:
            self.assertGreater(device.now, 0)
            with self.assertRaisesRegex(flowsteer.Refused, "start flowsteer serve with --virtual-time"):
                device.advance(5)

    def test_retransmissions_come_at_their_deadlines(self):
        with flowsteer.serve(RDMA, virtual_time=True, wires=["uplink"]) as device:
            qp, cq = reliable_pair(device)
            device.advance(1000)
            post(device, qp, 7, b"hello")
            times = [(device.now, len(device.wires["uplink"].frames()))]
            while device.next_deadline is not None:
                device.advance_to(device.next_deadline)
                times.append((device.now, len(device.wires["uplink"].frames())))
            moments = [1000 + n * TIMEOUT_NS for n in range(RETRIES + 2)]
            self.assertEqual(times, list(zip(moments, [1] * (RETRIES + 1) + [0])))
            (done,) = device.ibv_poll_cq(cq, 8)
            self.assertEqual(done["wr_id"], 7)
            self.assertEqual(device.ibv_wc_status_str(done["status"]), "transport retry counter exceeded")


if __name__ == "__main__":
    unittest.main()
