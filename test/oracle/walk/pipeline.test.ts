// Tests the pipeline reference on handmade devices, with answers from docs/rules.md.

import { describe, expect, test } from "vitest";
import { ETH4, MACS, TCP4, UDP4, hex, overUdp } from "../wire/handmade.js";
import { type Term, rankOf } from "./match.js";
import { type Modify } from "../act/modifyFields.js";
import { type Pipeline, type PipelineAction, newPipeline } from "./pipeline.js";
import { type FrameIn, type PipelineOutcome, receivePipeline, sendPipeline } from "./pipelineWalk.js";

const frameOf = (...parts: string[]): FrameIn => {
  const bytes = hex(...parts);
  return { bytes, wireLength: bytes.length, linkType: 1, port: 2 };
};
const PLAIN = frameOf(ETH4, UDP4);
const GROUP = frameOf(ETH4.replace("66", "67"), UDP4);
const TUNNEL = frameOf(...overUdp(4789, "0800 0000 00002a 00", ETH4, TCP4));

type Rules = [Term[], PipelineAction[]][];
/** Rules in order of priority; or the actions of one rule that matches everything. */
type Listed = Record<string, PipelineAction[] | Rules>;

const rulesOf = (list: PipelineAction[] | Rules): Rules =>
  Array.isArray(list[0]) ? (list as Rules) : [[[], list as PipelineAction[]]];

/**
 * A device with two VFs and a queue on each function: "pf", "v1", "v2". Tables are named by domain
 * and function, or longer names.
 */
function worldOf(listed: Listed): Pipeline {
  const world = newPipeline(2);
  for (const [i, name] of ["pf", "v1", "v2"].entries())
    world.queues.set(name, { vport: i, port: 2, number: 100 + i, refuses: null });
  world.queues.set("deaf", { vport: 0, port: 2, number: 200, refuses: "queue_not_ready" });
  for (const [at, list] of Object.entries(listed)) {
    const domain = /^(nic_rx|nic_tx|fdb)/.exec(at)?.[0] as "fdb";
    const table = world.tables.get(at) ?? { domain, vport: Number(/\d/.exec(at)?.[0] ?? 0), root: false, rules: [] };
    for (const [i, [terms, actions]] of rulesOf(list).entries()) {
      const rank = rankOf({ priority: i, matcher: 0, rule: i }, table.root);
      table.rules.push({ id: `${at}#${i}`, rank, terms, ranges: [], actions });
    }
    world.tables.set(at, table);
  }
  return world;
}

const text = ({ to, verdict, reason, tag }: PipelineOutcome): string =>
  [
    ...to.map(({ name, tag: own }) => name + (own ? `/${own}` : "")),
    verdict,
    reason ?? [],
    tag === null ? [] : `tag ${tag}`,
  ]
    .flat()
    .join(" ");
const send = (world: Pipeline, name: string, frame = PLAIN, metadata = 0): PipelineOutcome => {
  const queue = world.queues.get(name);
  if (!queue) throw new Error(name);
  return sendPipeline(world, queue, frame, metadata);
};

const qp = (name: string): PipelineAction => ({ kind: "qp", qp: name });
const vport = (to: number): { kind: "vport"; vport: number } => ({ kind: "vport", vport: to });
const port = (to: number): { kind: "port"; port: number } => ({ kind: "port", port: to });
const table = (name: string): { kind: "table"; table: string } => ({ kind: "table", table: name });
const tag = (value: number): PipelineAction => ({ kind: "tag", value });
const counter = (name: string): { kind: "counter"; counter: string } => ({ kind: "counter", counter: name });
const drop: PipelineAction = { kind: "drop" };
const defaultMiss: { kind: "defaultMiss" } = { kind: "defaultMiss" };
const array = (...dests: Extract<PipelineAction, { kind: "array" }>["members"][number]["dest"][]): PipelineAction => ({
  kind: "array",
  members: dests.map((dest) => ({ dest })),
});
const modify = (...list: Modify[]): PipelineAction => ({ kind: "modify", list });
const register = (name: string, data: number): Modify => ({ type: "set", field: `METADATA_REG_${name}`, data });
const asks = (field: string, value: bigint): Term => ({ field, mask: (1n << 32n) - 1n, value });

describe("the way of a frame", () => {
  const RX = { "nic_rx:0": [qp("pf")], "nic_rx:1": [qp("v1")], "nic_rx:2": [qp("v2")] };

  test.each<[string, Listed, string]>([
    ["nobody", {}, "miss no_rule"],
    ["to the PF", RX, "qp:pf deliver"],
    ["to a VF", { ...RX, "fdb:0": [vport(1)] }, "qp:v1 deliver"],
    ["a VF without rules", { "nic_rx:0": [qp("pf")], "fdb:0": [vport(1)] }, "miss no_rule"],
    ["out of a port", { ...RX, "fdb:0": [port(1)] }, "port:1 forward"],
    ["to the wire", { ...RX, "fdb:0": [vport(0xffff)] }, "drop wire_to_wire"],
    ["back to its port", { ...RX, "fdb:0": [port(2)] }, "drop wire_to_wire"],
    ["default miss", { ...RX, "fdb:0": [defaultMiss] }, "qp:pf deliver"],
    ["a table that nobody wants", { ...RX, "fdb:0": [table("fdb 0")], "fdb 0": [defaultMiss] }, "qp:pf deliver"],
    ["no destination", { ...RX, "fdb:0": [counter("x")] }, "qp:pf deliver"],
    ["dropped", { ...RX, "fdb:0": [drop] }, "drop drop_action"],
    [
      "dropped at the end of a table",
      { "nic_rx:0": [table("nic_rx 0")], "nic_rx 0": [defaultMiss] },
      "drop default_miss",
    ],
    ["dropped without a destination", { "nic_rx:0": [tag(3)] }, "drop no_destination tag 3"],
    ["default miss at the root", { "nic_rx:0": [tag(3), defaultMiss] }, "miss default_miss tag 3"],
    ["a queue that is not ready", { "nic_rx:0": [qp("deaf")] }, "drop queue_not_ready"],
  ])("from the wire: %s", (_what, rules, wanted) => {
    expect(text(receivePipeline(worldOf(rules), PLAIN))).toBe(wanted);
  });

  test.each<[string, string, Listed, string]>([
    ["a VF without rules", "v1", RX, "qp:pf deliver"],
    ["the PF without rules", "pf", {}, "port:2 transmit"],
    ["the PF, whose own rules want it", "pf", RX, "qp:pf deliver"],
    ["the PF, whose own rules drop it", "pf", { "nic_rx:0": [drop] }, "port:2 transmit"],
    ["the PF, whose queue does not take it", "pf", { "nic_rx:0": [qp("deaf")] }, "drop queue_not_ready"],
    ["dropped", "v1", { "nic_tx:1": [drop] }, "drop drop_action"],
    ["another's rules", "v1", { "nic_tx:2": [drop] }, "miss no_rule"],
    ["NIC_TX sends what it has no destination for", "v1", { ...RX, "nic_tx:1": [counter("x")] }, "qp:pf deliver"],
    [
      "NIC_TX sends by default",
      "v1",
      { ...RX, "nic_tx:1": [table("nic_tx 1")], "nic_tx 1": [defaultMiss] },
      "qp:pf deliver",
    ],
    ["to the wire", "v1", { ...RX, "fdb:0": [vport(0xffff)] }, "port:2 transmit"],
    ["to another VF", "v1", { ...RX, "fdb:0": [vport(2)] }, "qp:v2 deliver"],
    ["to itself", "v1", { ...RX, "fdb:0": [vport(1)] }, "qp:v1 deliver"],
    ["to the PF, of the PF", "pf", { "fdb:0": [vport(0)], "nic_rx:0": [defaultMiss] }, "miss default_miss"],
    ["a table that nobody wants, of the PF", "pf", { ...RX, "fdb:0": [table("fdb 0")], "fdb 0": [] }, "qp:pf deliver"],
    ["default miss at the root, of the PF", "pf", { "fdb:0": [defaultMiss] }, "port:2 transmit"],
  ])("sent: %s", (_what, from, rules, wanted) => {
    expect(text(send(worldOf(rules), from))).toBe(wanted);
  });

  test("a multicast frame does both", () => {
    expect(text(send(worldOf(RX), "pf", GROUP))).toBe("qp:pf port:2 transmit");
  });

  test("what comes back may be changed, what leaves is what was sent", () => {
    const world = worldOf({ "nic_rx:0": [{ kind: "pushVlan", header: 0x81000001 }, qp("pf")] });
    const { to } = send(world, "pf", GROUP);
    expect(to.map(({ bytes }) => bytes.length - GROUP.bytes.length)).toEqual([4, 0]);
  });

  test("host rules of the function, without the tag of the rule before", () => {
    const world = worldOf({ "nic_rx:1": [tag(5), defaultMiss], "fdb:0": [vport(1)] });
    const host = { vport: 1, priority: 0, made: 0, terms: [] };
    world.hostRules.push({ ...host, id: "h", application: "tc", actions: [{ kind: "host", queue: 4 }] });
    expect(text(receivePipeline(world, PLAIN))).toBe("vf1/host:4 deliver");
    world.hostRules.push({ ...host, id: "i", application: "ethtool", actions: [drop] });
    const outcome = receivePipeline(world, PLAIN);
    expect(outcome.rules).toEqual(["fdb:0#0", "nic_rx:1#0", "i"]);
  });

  test("where it comes from", () => {
    const source = (value: bigint): Term => ({ field: "misc.source_port", mask: 0xffffn, value });
    const world = worldOf({
      "fdb:0": [
        [[source(0xffffn), asks("misc.source_vhca_port", 2n), asks("misc.source_sqn", 0n)], [vport(1)]],
        [[source(2n), asks("misc.source_sqn", 102n), { field: "ext.direction", mask: 0xffn, value: 2n }], [vport(1)]],
      ],
      "nic_rx:1": [
        [[source(0xffffn)], [qp("v1")]],
        [[source(2n)], [drop]],
      ],
    });
    expect(text(receivePipeline(world, PLAIN))).toBe("qp:v1 deliver");
    expect(text(send(world, "v2"))).toBe("drop drop_action");
    expect(text(send(world, "v1"))).toBe("miss no_rule");
  });
});

describe("order of execution", () => {
  const four = (at: string): Listed => ({
    [at]: [
      { kind: "drop" },
      { kind: "pushVlan", header: 0x81000001 },
      counter("x"),
      { kind: "popVlan" },
      modify({ type: "copy", field: "OUT_FIRST_VID", length: 16, to: "METADATA_REG_C_3" }),
    ],
  });
  const tagged = frameOf(MACS, "8100 0005 8100 0006 0800", UDP4);

  test("on receive the counter stands behind the tag that is pushed, on transmit before it", () => {
    const world = worldOf(four("nic_rx:0"));
    expect(receivePipeline(world, tagged).registers).toEqual({ C3: 6 });
    expect(world.counters.get("x")).toEqual({ packets: 1n, bytes: BigInt(tagged.bytes.length) });
    const sent = worldOf(four("nic_tx:1"));
    expect(send(sent, "v1", tagged).registers).toEqual({ C3: 6 });
    expect(sent.counters.get("x")?.bytes).toBe(BigInt(tagged.bytes.length - 4));
  });

  test("the FDB has both sides", () => {
    const world = worldOf(four("fdb:0"));
    receivePipeline(world, tagged);
    send(world, "v1", tagged);
    expect(world.counters.get("x")).toEqual({ packets: 2n, bytes: BigInt(2 * tagged.bytes.length - 4) });
  });

  test("what is decapsulated is matched as it is then; without a tunnel it is dropped, uncounted", () => {
    const world = worldOf({
      "nic_rx:0": [counter("x"), table("nic_rx 0"), { kind: "reformat", reformat: { type: 0, data: hex() } }],
      "nic_rx 0": [[[{ field: "outer.ip_protocol", mask: 0xffn, value: 6n }], [qp("pf")]]],
    });
    const outcome = receivePipeline(world, TUNNEL);
    expect(text(outcome)).toBe("qp:pf deliver");
    expect(outcome.to[0]?.bytes).toEqual(hex(ETH4, TCP4));
    expect(text(receivePipeline(world, PLAIN))).toBe("drop not_a_tunnel");
    expect(world.counters.get("x")).toEqual({ packets: 1n, bytes: 54n });
  });
});

describe("registers", () => {
  test("C0 and C1 pass from domain to domain, the others do not", () => {
    const set = modify(register("C_0", 10), register("C_1", 11), register("C_2", 12), register("A", 13));
    const world = worldOf({
      "nic_tx:1": [set],
      "fdb:0": [
        [
          [asks("misc2.metadata_reg_c_0", 10n), asks("misc2.metadata_reg_c_2", 0n)],
          [modify(register("C_1", 21), register("C_5", 25)), vport(2)],
        ],
      ],
      "nic_rx:2": [
        [
          [asks("misc2.metadata_reg_c_1", 21n), asks("misc2.metadata_reg_a", 0n)],
          [modify(register("B", 31)), qp("v2")],
        ],
      ],
    });
    expect(send(world, "v1")).toMatchObject({ verdict: "deliver", registers: { C0: 10, C1: 21, B: 31 } });
    expect(send(worldOf({ "nic_tx:1": [set, drop] }), "v1").registers).toEqual({ C0: 10, C1: 11, C2: 12, A: 13 });
    expect(send(worldOf({ "nic_tx:0": [set] }), "pf").registers).toEqual({ C0: 10, C1: 11 });
  });

  test("A is what the sender says", () => {
    const world = worldOf({ "nic_tx:1": [[[asks("misc2.metadata_reg_a", 7n)], [drop]]] });
    expect(text(send(world, "v1", PLAIN, 7))).toBe("drop drop_action");
    expect(text(send(world, "v1", PLAIN, 6))).toBe("miss no_rule");
    expect(send(world, "v1", PLAIN, 7).registers).toEqual({});
  });
});

describe("branches", () => {
  test("in rounds: finished branches come before continuing ones", () => {
    const world = worldOf({
      "fdb:0": [array(table("fdb a"), port(1), table("fdb b"), vport(1), counter("x"), vport(0xffff))],
      "fdb a": [table("fdb c")],
      "fdb b": [array(port(3), vport(2))],
      "fdb c": [port(4)],
      "nic_rx:1": [tag(1), qp("v1")],
      "nic_rx:2": [tag(2), qp("v2")],
    });
    const outcome = receivePipeline(world, PLAIN);
    expect(text(outcome)).toBe("port:1 port:3 qp:v1/1 port:4 qp:v2/2 deliver tag 1");
    expect(outcome.rules).toEqual(["fdb:0", "fdb a", "fdb b", "nic_rx:1", "fdb c", "nic_rx:2"].map((at) => `${at}#0`));
    expect([...world.reasons]).toEqual([["wire_to_wire", 1n]]);
    expect(world.counters.get("x")?.packets).toBe(1n);
  });

  test("the best verdict; the others' reasons are counted", () => {
    const world = worldOf({
      "nic_rx:0": [array(table("nic_rx a"), table("nic_rx b"), defaultMiss)],
      "nic_rx a": [drop],
      "nic_rx b": [defaultMiss],
    });
    expect(text(receivePipeline(world, PLAIN))).toBe("miss default_miss");
    expect(Object.fromEntries(world.reasons)).toEqual({ drop_action: 1n, default_miss: 2n });
  });

  test("each copy is its own", () => {
    const data = hex(MACS, "0800 4500 0000 0000 0000 4004 0000 c0a8 0001 c0a8 00c7");
    const world = worldOf({
      "fdb:0": [
        { kind: "pushVlan", header: 0x81000001 },
        {
          kind: "array",
          members: [
            { reformat: { type: 3, data }, dest: port(1) },
            { dest: table("fdb a") },
            { dest: port(4) },
            { reformat: { type: 1, data }, dest: counter("x") },
          ],
        },
      ],
      "fdb a": [{ kind: "popVlan" }, port(3)],
    });
    const { to } = receivePipeline(world, PLAIN);
    const own = PLAIN.bytes.length;
    expect(to.map(({ name, bytes }) => [name, bytes.length - own])).toEqual([
      ["port:1", 20],
      ["port:4", 4],
      ["port:3", 0],
    ]);
    expect(world.counters.get("x")?.bytes).toBe(BigInt(own + 4));
  });

  test("64 branches at the most", () => {
    const world = worldOf({
      "fdb:0": [array(table("fdb a"), port(1))],
      "fdb a": [array(port(4), table("fdb a"), port(3))],
    });
    const { to, verdict } = receivePipeline(world, PLAIN);
    // One at the root, two each time that one of the 63 copies enters the table; the last copy
    // cannot jump.
    expect([to.length, verdict]).toEqual([127, "forward"]);
    expect([...world.reasons]).toEqual([["copy_limit", 1n]]);
  });

  test("65 rules", () => {
    const world = worldOf({ "fdb:0": [table("fdb a")], "fdb a": [table("fdb a")] });
    const outcome = receivePipeline(world, PLAIN);
    expect([text(outcome), outcome.rules.length]).toEqual(["drop hop_limit", 65]);
  });

  test("the root table from a priority on", () => {
    const world = worldOf({
      "nic_rx:0": [
        [[], [table("nic_rx a")]],
        [[], [drop]],
        [[], [qp("pf")]],
      ],
    });
    world.tables.set("nic_rx a", {
      domain: "nic_rx",
      vport: 0,
      root: false,
      rules: [{ id: "a", rank: 0n, terms: [], ranges: [], actions: [{ kind: "rootTable", priority: 2 }] }],
    });
    expect(text(receivePipeline(world, PLAIN))).toBe("qp:pf deliver");
  });
});
