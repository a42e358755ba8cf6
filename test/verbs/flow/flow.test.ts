/**
 * ibv_create_flow(3): each rule of docs/flows.md on handmade frames. agree.test.ts tests all of
 * them at random.
 */
import { beforeEach, describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import {
  ALL,
  count,
  DONT_TRAP,
  dport,
  DROP,
  EGRESS,
  FlowBench,
  IPV4,
  LOOP,
  MC,
  outcomeText,
  SNIFFER,
  tag,
  TCP,
  UDP,
  valuesOf,
} from "../support/flows.js";

/** TCP to port 80; to 02:00:00:00:00:01. */
const FRAME = ipv4Frame();
const MULTICAST = Uint8Array.from(FRAME, (byte, i) => (i === 0 ? 0x01 : byte));

let bench: FlowBench;
beforeEach(async () => {
  bench = await FlowBench.open();
});

describe("the manual page's example", () => {
  const frame = ipv4Frame();
  beforeEach(() => {
    frame.set([0x66, 0x11, 0x22, 0x33, 0x44, 0x55, 0, 0, 0, 0, 0, 0]);
  });

  test("as objects it asks for 11.134.200.6", () => {
    const flow = v.ibv_create_flow(bench.qp("a"), {
      comp_mask: 0,
      type: v.IBV_FLOW_ATTR_NORMAL,
      size: 84,
      priority: 0,
      num_of_specs: 2,
      port: 1,
      flags: 0,
      specs: [
        {
          type: v.IBV_FLOW_SPEC_ETH,
          val: { dst_mac: Uint8Array.of(0x66, 0x11, 0x22, 0x33, 0x44, 0x55), src_mac: new Uint8Array(6) },
          mask: { dst_mac: "ff:ff:ff:ff:ff:ff", src_mac: "ff:ff:ff:ff:ff:ff" },
        },
        { type: v.IBV_FLOW_SPEC_IPV4, val: { src_ip: 0x0b86c806 }, mask: { src_ip: 0xffffffff } },
      ],
    });
    expect(bench.received(frame)).toBe("miss no_rule");
    frame.set([11, 134, 200, 6], 26);
    const outcome = bench.device.receive(1, frame);
    expect(outcome).toMatchObject({ verdict: "deliver", rules: [flow], tag: null });
    expect(outcome.to).toEqual([{ kind: "qp", name: "qp:a", object: bench.qp("a"), frame, tag: 0 }]);
    frame[6] = 1;
    expect(bench.received(frame)).toBe("miss no_rule");
    expect(v.ibv_destroy_flow(flow)).toBe(0);
  });

  test("as the bytes of a C program it asks for 6.200.134.11", () => {
    const hex =
      "000000000000000054000000020100000000000020000000280066112233445500000000000000000000ffffffffffffffffffffffff0000" +
      "00000000300000001800000006c8860b00000000ffffffff00000000";
    const bytes = Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
    v.ibv_create_flow(bench.qp("a"), bytes);
    frame.set([11, 134, 200, 6], 26);
    expect(bench.received(frame)).toBe("miss no_rule");
    frame.set([6, 200, 134, 11], 26);
    expect(bench.received(frame)).toBe("a deliver");
  });
});

describe("one order", () => {
  test("by priority, all 16 bits of it, then by the age of the mask, then by age", () => {
    bench.flow("last", [dport(80)], { priority: 65_535 });
    expect(bench.received(FRAME)).toBe("last deliver");
    bench.flow("old-mask", [TCP], { priority: 9 });
    bench.flow("new-mask", [IPV4], { priority: 9 });
    expect(bench.received(FRAME)).toBe("old-mask deliver");
    const first = bench.flow("first", [IPV4], { priority: 8 });
    expect(bench.received(FRAME)).toBe("first deliver");
    v.ibv_destroy_flow(first);
    expect(bench.received(FRAME)).toBe("old-mask deliver");
  });

  test("a mask is as old as its first flow, while it has one", () => {
    const x = bench.flow("x", [dport(81)]);
    bench.flow("other", [TCP]);
    const one = bench.flow("one", [dport(80)]);
    expect(bench.received(FRAME)).toBe("one deliver");
    v.ibv_destroy_flow(x);
    expect(bench.received(FRAME)).toBe("one deliver");
    v.ibv_destroy_flow(one);
    bench.flow("one", [dport(80)]);
    expect(bench.received(FRAME)).toBe("other deliver");
  });

  test("flows and direct rules of the root table share it; DONT_TRAP comes first", () => {
    const root = dv.mlx5dv_dr_table_create(dv.mlx5dv_dr_domain_create(bench.context, 0), 0);
    const matcher = dv.mlx5dv_dr_matcher_create(root, 1, 0, null);
    const direct = dv.mlx5dv_dr_rule_create(matcher, null, 1, [
      dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.qp("direct")),
    ]);
    bench.flow("younger", [], { priority: 1 });
    expect(bench.received(FRAME)).toBe("direct deliver");
    const copy = bench.flow("copy", [TCP, tag(4)], { ...DONT_TRAP, priority: 1 });
    expect(bench.received(FRAME)).toBe("(copy4) direct deliver");
    bench.flow("older", [], { priority: 0 });
    expect(bench.received(FRAME)).toBe("older deliver");
    expect(bench.device.receive(1, FRAME).tag).toBeNull();
    dv.mlx5dv_dr_rule_destroy(direct);
    v.ibv_destroy_flow(copy);
    expect(bench.received(FRAME)).toBe("older deliver");
  });

  test("flows for multicast alone come last on a ConnectX, whatever their priority", async () => {
    const group = { dst_mac: "01:00:00:00:00:00" };
    const specs = [{ type: v.IBV_FLOW_SPEC_ETH, val: group, mask: group }];
    for (const [profile, first, copied] of [
      ["manual", "group deliver", "group deliver"],
      ["connectx7", "other deliver", "(copy) other deliver"],
    ] as const) {
      bench = await FlowBench.open({ profile });
      bench.flow("group", specs, { priority: 1 });
      bench.flow("other", [], { priority: 15 });
      expect(bench.received(MULTICAST)).toBe(first);
      // DONT_TRAP flows keep their place.
      bench.flow("copy", specs, { ...DONT_TRAP, priority: 2 });
      expect(bench.received(MULTICAST)).toBe(copied);
    }
  });

  test("ports are apart", () => {
    bench.flow("two", [], { port: 2 });
    expect(bench.received(FRAME, 1)).toBe("miss no_rule");
    expect(bench.received(FRAME, 2)).toBe("two deliver");
  });

  test("a default miss leads to the host, and the host to the default flows", () => {
    const root = dv.mlx5dv_dr_table_create(dv.mlx5dv_dr_domain_create(bench.context, 0), 0);
    const actions = [dv.mlx5dv_dr_action_create_tag(9), dv.mlx5dv_dr_action_create_default_miss()];
    dv.mlx5dv_dr_rule_create(dv.mlx5dv_dr_matcher_create(root, 0, 0, null), null, 2, actions);
    expect(bench.device.receive(1, FRAME)).toMatchObject({ verdict: "miss", reason: "default_miss", tag: 9 });
    const flow = bench.flow("a", [], ALL);
    // The tag is that of another application.
    expect(bench.device.receive(1, FRAME)).toMatchObject({ verdict: "deliver", tag: null, to: [{ tag: 0 }] });
    const host = bench.device.hostRules.add({ application: "nic", action: { queue: 3 } });
    expect(bench.device.receive(1, FRAME)).toMatchObject({
      verdict: "deliver",
      to: [{ kind: "host", name: "host:3", object: null, tag: 0 }],
      rules: [{ name: "rule0" }, host],
    });
    host.remove();
    v.ibv_destroy_flow(flow);
    expect(bench.device.receive(1, FRAME)).toMatchObject({ verdict: "miss", reason: "default_miss", tag: 9 });
  });
});

describe("DONT_TRAP", () => {
  test("copies, each with its own tag, and goes on behind its priority", () => {
    bench.flow("a", [TCP, tag(5)], DONT_TRAP);
    bench.flow("skipped", [IPV4], DONT_TRAP);
    bench.flow("b", [IPV4], { ...DONT_TRAP, priority: 1 });
    const last = bench.flow("c", [tag(7)], { priority: 1 });
    const outcome = bench.device.receive(1, FRAME);
    expect(outcomeText(outcome)).toBe("(a5) (b) c7 deliver");
    expect(outcome.tag).toBe(7);
    expect(outcome.rules.at(-1)).toBe(last);
    v.ibv_destroy_flow(last);
    expect(bench.received(FRAME)).toBe("(a5) (b) miss no_rule");
    bench.flow("d", [], ALL);
    expect(bench.received(FRAME)).toBe("(a5) (b) d deliver");
  });

  test("with DROP it drops", () => {
    bench.flow("a", [TCP, DROP], DONT_TRAP);
    bench.flow("b", []);
    expect(bench.received(FRAME)).toBe("drop drop_action");
  });

  test("65 entries are visited", () => {
    for (let priority = 0; priority < 65; priority++) bench.flow("a", [TCP], { ...DONT_TRAP, priority });
    expect(bench.device.receive(1, FRAME)).toMatchObject({ verdict: "miss", reason: "no_rule" });
    bench.flow("b", [], { priority: 65 });
    const outcome = bench.device.receive(1, FRAME);
    expect([outcome.verdict, outcome.reason, outcome.copies.length]).toEqual(["drop", "hop_limit", 65]);
    expect(outcome.rules.length).toBe(65);
  });

  test("128 destinations are reached; each one more is counted", () => {
    const copyTo = (queues: number, priority: number): void => {
      for (let i = 0; i < queues; i++) bench.flow(`q${i}`, [TCP], { ...DONT_TRAP, priority });
    };
    copyTo(60, 0);
    copyTo(60, 1);
    copyTo(7, 2);
    bench.flow("b", [], { priority: 9 });
    const full = bench.device.receive(1, FRAME);
    expect([full.verdict, full.copies.length, full.to.length]).toEqual(["deliver", 127, 1]);
    expect(bench.device.reasons().copy_limit).toBe(0n);
    copyTo(5, 3);
    const over = bench.device.receive(1, FRAME);
    expect([over.verdict, over.reason, over.copies.length]).toEqual(["drop", "copy_limit", 128]);
    expect(bench.device.reasons().copy_limit).toBe(5n);
  });
});

describe("identical flows", () => {
  test("each queue gets one, whoever comes and goes", () => {
    const [a, again, b] = [bench.flow("a", [TCP]), bench.flow("a", [TCP]), bench.flow("b", [TCP])];
    const outcome = bench.device.receive(1, FRAME);
    expect(outcomeText(outcome)).toBe("a b deliver");
    expect(outcome.rules).toEqual([a, again, b]);
    expect(bench.qp("a").users).toBe(2);
    v.ibv_destroy_flow(a);
    expect(bench.received(FRAME)).toBe("a b deliver");
    v.ibv_destroy_flow(again);
    expect(bench.received(FRAME)).toBe("b deliver");
    v.ibv_destroy_flow(b);
    expect(bench.received(FRAME)).toBe("miss no_rule");
  });

  test("the match counts, not its notation; values outside the mask do not", () => {
    bench.flow("a", [{ ...dport(80), val: { dst_port: 80, src_port: 9 } }, IPV4]);
    bench.flow("b", [IPV4, dport(80)]);
    expect(bench.received(FRAME)).toBe("a b deliver");
    expect(bench.refused("c", [IPV4, dport(80), DROP])).toBe("EEXIST");
    expect(bench.refused("c", [IPV4, dport(80), DROP], { priority: 1 })).toBeUndefined();
    expect(bench.refused("c", [IPV4, dport(80), DROP], { port: 2 })).toBeUndefined();
    expect(bench.refused("c", [IPV4, dport(80), DROP], DONT_TRAP)).toBeUndefined();
    expect(bench.refused("c", [IPV4, dport(80), DROP], EGRESS)).toBeUndefined();
    expect(bench.refused("c", [IPV4, dport(80), DROP], LOOP)).toBe("EEXIST");
  });

  test("masks of the same bits of other fields are others", () => {
    const address = (name: "src_ip" | "dst_ip", value: string) => {
      return { type: v.IBV_FLOW_SPEC_IPV4, val: { [name]: value }, mask: { [name]: "255.255.255.255" } };
    };
    bench.flow("a", [address("src_ip", "10.9.9.9")]);
    bench.flow("b", [address("dst_ip", "10.0.0.1")]);
    expect(bench.refused("c", [address("dst_ip", "10.0.0.2"), DROP])).toBeUndefined();
    expect(bench.refused("c", [address("dst_ip", "10.9.9.9"), DROP])).toBeUndefined();
    expect(bench.received(FRAME)).toBe("b deliver");
  });

  test("the tag is that of the first", () => {
    const first = bench.flow("a", [TCP, tag(5)]);
    expect(bench.refused("b", [TCP, tag(6)])).toBe("EEXIST");
    expect(bench.refused("b", [TCP, tag(0)])).toBe("EEXIST");
    const second = bench.flow("b", [TCP]);
    expect(bench.received(FRAME)).toBe("a5 b5 deliver");
    v.ibv_destroy_flow(first);
    expect(bench.received(FRAME)).toBe("b5 deliver");
    v.ibv_destroy_flow(second);
    bench.flow("a", [TCP]);
    expect(bench.refused("b", [TCP, tag(6)])).toBe("EEXIST");
    bench.flow("b", [TCP, tag(0)]);
    expect(bench.received(FRAME)).toBe("a b deliver");
  });

  test("60 queue pairs, 60 counters objects", () => {
    for (let i = 0; i < 60; i++) bench.flow(`q${i}`, [TCP, count(bench.counters())]);
    expect(bench.device.receive(1, FRAME).to.length).toBe(60);
    expect(bench.refused("another", [TCP])).toBe("ENOMEM");
    expect(bench.refused("q5", [TCP, count(bench.counters())])).toBe("ENOMEM");
    expect(bench.refused("q5", [TCP])).toBeUndefined();
    const drops = [TCP, DROP];
    for (let i = 0; i < 61; i++) bench.flow(`q${i}`, drops, EGRESS);
  });
});

describe("default flows and sniffers", () => {
  test("MC_DEFAULT and ALL_DEFAULT; specs of match and priority are ignored, actions are not", () => {
    bench.flow("mc", [UDP], { ...MC, priority: 7 });
    expect(bench.received(FRAME)).toBe("miss no_rule");
    expect(bench.received(MULTICAST)).toBe("mc deliver");
    const counters = bench.counters();
    const all = bench.flow("all", [UDP, count(counters)], ALL);
    expect(bench.received(FRAME)).toBe("all deliver");
    expect(bench.received(MULTICAST)).toBe("mc all deliver");
    expect(valuesOf(counters)).toEqual([2n, 128n]);
    expect(bench.device.receive(1, MULTICAST).rules.length).toBe(2);
    bench.flow("normal", [], { priority: 65_535 });
    expect(bench.received(FRAME)).toBe("normal deliver");
    expect(bench.refused("x", [tag(1)], ALL)).toBe("EEXIST");
    expect(bench.refused("x", [DROP], MC)).toBe("EEXIST");
    v.ibv_destroy_flow(all);
    expect(bench.refused("x", [tag(1)], ALL)).toBe("EEXIST");
    expect(bench.refused("x", [UDP, IPV4, { type: 0x77 }], ALL)).toBe("EINVAL");
  });

  test("a conflict of one half of ALL_DEFAULT", () => {
    bench.flow("mc", [tag(5)], MC);
    bench.flow("all", [], ALL);
    expect(bench.received(MULTICAST)).toBe("mc5 all5 deliver");
    expect(bench.received(FRAME)).toBe("all deliver");
    expect(bench.refused("x", [tag(5)], ALL)).toBe("EEXIST");
    expect(bench.refused("x", [tag(5)], MC)).toBeUndefined();
  });

  test("a sniffer gets a copy of what comes in and of what goes out; nobody notices", () => {
    const counters = bench.counters();
    const sniffer = bench.flow("s", [UDP, tag(3), count(counters)], SNIFFER);
    expect(bench.received(FRAME)).toBe("(s3) miss no_rule");
    expect(bench.received(FRAME, 2)).toBe("miss no_rule");
    bench.flow("drops", [TCP, DROP]);
    const dropped = bench.device.receive(1, FRAME);
    expect(outcomeText(dropped)).toBe("(s3) drop drop_action");
    expect(dropped.tag).toBeNull();
    expect(outcomeText(bench.sent(FRAME))).toBe("(s3) port:1 transmit");
    expect(outcomeText(bench.sent(FRAME, 2))).toBe("port:2 transmit");
    expect(outcomeText(bench.looped(FRAME, "x"))).toBe("drop drop_action");
    expect(valuesOf(counters)).toEqual([3n, 192n]);
    v.ibv_destroy_flow(sniffer);
    expect(bench.received(FRAME)).toBe("drop drop_action");
    expect(outcomeText(bench.sent(FRAME))).toBe("port:1 transmit");
  });

  test("a sniffer that drops drops its copy", () => {
    bench.flow("s", [DROP], SNIFFER);
    bench.flow("a", []);
    expect(bench.received(FRAME)).toBe("a deliver");
    expect(bench.refused("t", [], SNIFFER)).toBe("EEXIST");
  });
});

describe("sending", () => {
  const sent = (frame = FRAME): string => outcomeText(bench.sent(frame));
  const looped = (from: string, frame = FRAME): string => outcomeText(bench.looped(frame, from));

  test("EGRESS flows count, tag and drop; others do not ask what is sent", () => {
    bench.flow("a", [TCP, DROP]);
    expect(sent()).toBe("port:1 transmit");
    const counters = bench.counters();
    const flow = bench.flow("a", [TCP, tag(6), count(counters)], EGRESS);
    const outcome = bench.sent(FRAME);
    expect(outcome).toMatchObject({ verdict: "transmit", reason: null, tag: 6, rules: [flow] });
    expect(valuesOf(counters)).toEqual([1n, 64n]);
    expect(bench.received(FRAME)).toBe("drop drop_action");
    bench.flow("b", [dport(80), DROP], { ...EGRESS, priority: 1 });
    expect(sent()).toBe("port:1 transmit");
    v.ibv_destroy_flow(flow);
    expect(sent()).toBe("drop drop_action");
    expect(sent(ipv4Frame({ dport: 81 }))).toBe("port:1 transmit");
    const on = { flags: v.IBV_FLOW_ATTR_FLAGS_EGRESS | v.IBV_FLOW_ATTR_FLAGS_DONT_TRAP };
    bench.flow("c", [TCP, count(counters)], on);
    expect(sent()).toBe("drop drop_action");
    expect(valuesOf(counters)).toEqual([3n, 192n]);
  });

  test("a flow answers its own queue's frames only with ALLOW_LOOP_BACK", () => {
    const counters = bench.counters();
    const own = bench.flow("a", [TCP, tag(1), count(counters)]);
    bench.flow("b", [], { priority: 1 });
    expect(looped("a")).toBe("b deliver");
    expect(valuesOf(counters)).toEqual([0n, 0n]);
    expect(looped("b")).toBe("a1 deliver");
    v.ibv_destroy_flow(own);
    bench.flow("a", [TCP, tag(1)], LOOP);
    expect(looped("a")).toBe("a1 deliver");
    expect(looped("b")).toBe("a1 deliver");
  });

  test("in an entry of several queues only the sender's flows are left out", () => {
    const [ofA, ofB, ofBoth] = [bench.counters(), bench.counters(), bench.counters()];
    bench.flow("a", [TCP, tag(2), count(ofA)]);
    bench.flow("a", [TCP, count(ofBoth)]);
    const other = bench.flow("b", [TCP, count(ofB)]);
    bench.flow("b", [TCP, count(ofBoth)]);
    const outcome = bench.looped(FRAME, "a");
    expect(outcomeText(outcome)).toBe("b2 deliver");
    expect(outcome.rules.map(({ name }) => name)).toEqual(["flow2", "flow3"]);
    expect([ofA, ofB, ofBoth].map((one) => valuesOf(one)[0])).toEqual([0n, 1n, 1n]);
    expect(looped("c")).toBe("a2 b2 deliver");
    expect([ofA, ofB, ofBoth].map((one) => valuesOf(one)[0])).toEqual([1n, 2n, 2n]);
    v.ibv_destroy_flow(other);
    const own = bench.flow("a", [TCP], LOOP);
    expect(looped("a")).toBe("a2 b2 deliver");
    v.ibv_destroy_flow(own);
    expect(looped("a")).toBe("b2 deliver");
  });

  test("a DROP of the sender alone is passed over; so is a copy", () => {
    const drop = bench.flow("a", [TCP, DROP]);
    expect(looped("a")).toBe("miss");
    expect(looped("b")).toBe("drop drop_action");
    const second = bench.flow("b", [TCP, DROP]);
    expect(looped("a")).toBe("drop drop_action");
    v.ibv_destroy_flow(second);
    const allowed = bench.flow("a", [TCP, DROP], LOOP);
    expect(looped("a")).toBe("drop drop_action");
    for (const flow of [drop, allowed]) v.ibv_destroy_flow(flow);
    bench.flow("a", [TCP], DONT_TRAP);
    bench.flow("b", [], { priority: 1 });
    expect(looped("a")).toBe("b deliver");
    expect(looped("b")).toBe("(a) miss");
  });

  test("the host and default flows are for what comes in", () => {
    bench.flow("a", [], ALL);
    bench.device.hostRules.add({ application: "nic", action: "drop" });
    expect(looped("b")).toBe("miss");
    expect(bench.received(FRAME)).toBe("drop drop_action");
  });
});
