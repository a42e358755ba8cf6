/** Traces of every operation of rules, as they are printed: actions with their fields, bytes and state. */
import { beforeAll, describe, expect, it } from "vitest";
import { openTracer, printTrace, trace, type ActionStep, type Tracer } from "../../../src/explain/index.js";
import { Op } from "../../../src/abi/engine.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { OPERATIONS, SCENARIO, type OperationName } from "./support/operations.js";

/** The lines after that of the table of operations. */
const PRINTED: Readonly<Record<OperationName, readonly string[]>> = {
  tag: [
    '    hit       "tag"  priority 0  outer.tcp_dport 1',
    "    tag       7",
    "    queue     qp:web",
    "delivered  qp:web",
    "with       tag 7",
  ],
  count: [
    '    hit       "count"  priority 0  outer.tcp_dport 2',
    "    count     hits: packets 0 -> 1, bytes 0 -> 54",
    "    queue     qp:web",
    "delivered  qp:web",
  ],
  drop: ['    hit       "drop"  priority 0  outer.tcp_dport 3', "    drop", 'lost       rule "drop" drops the frame'],
  default_miss: [
    '    hit       "default_miss"  priority 0  outer.tcp_dport 4',
    "    miss",
    'lost       rule "default_miss" has the default miss action, and nothing after',
    "           its table accepts the frame",
  ],
  table: [
    '    hit       "table"  priority 0  outer.tcp_dport 5',
    "    jump      table empty",
    "  NIC_RX   table empty, no rules",
    "lost       no rule of table empty matches the frame, and a table that is not",
    "           root drops such frames",
  ],
  root: [
    '    hit       "root"  priority 0  outer.tcp_dport 6',
    "    jump      table again",
    "  NIC_RX   table again, 1 rule",
    '    hit       "back"  priority 0',
    "    jump      root of nic_rx from priority 5",
    "  NIC_RX   table root, 2 rules from priority 5",
    '    hit       "last"  priority 5',
    "    drop",
    'lost       rule "last" drops the frame',
  ],
  modify: [
    '    hit       "modify"  priority 0  outer.tcp_dport 7',
    "    modify    outer.dmac = 02:00:00:00:00:0b, outer.ip_ttl_hoplimit - 1,",
    "              misc2.metadata_reg_c_1 bits 15-0 = outer.tcp_sport",
    "              outer.dmac 02:00:00:00:00:02 -> 02:00:00:00:00:0b",
    "              outer.ip_ttl_hoplimit 64 -> 63",
    "              misc2.metadata_reg_c_1 0 -> 1000",
    "    queue     qp:web",
    "delivered  qp:web (changed, 54 bytes)",
    "with       C1 = 0x3e8",
  ],
  push_vlan: [
    '    hit       "push_vlan"  priority 0  outer.tcp_dport 8',
    "    push VLAN 0x8100, VID 5, priority 3",
    "              outer.first_prio absent -> 3",
    "              outer.first_cfi absent -> 0",
    "              outer.first_vid absent -> 5",
    "              outer.cvlan_tag 0 -> 1",
    "    queue     qp:web",
    "delivered  qp:web (changed, 58 bytes)",
  ],
  reformat: [
    '    hit       "reformat"  priority 0  outer.tcp_dport 9',
    "    reformat  adds an L2 tunnel, 50 bytes",
    "              50 bytes more",
    "    queue     qp:web",
    "delivered  qp:web (changed, 104 bytes)",
  ],
  decapsulate: [
    '    hit       "decapsulate"  priority 0  outer.tcp_dport 10',
    "    reformat  removes the L2 tunnel",
    'lost       rule "decapsulate" decapsulates, but the packet inside has no header',
    "           of that kind",
  ],
  array: [
    '    hit       "array"  priority 0  outer.tcp_dport 11',
    "    array     4 members",
    "    queue     qp:web",
    "    queue     qp:short",
    "    refused   by qp:short: receive buffer too short",
    "              completion queue cq0: completions 0 -> 1",
    "              receive queue short: requests taken 0 -> 1",
    "    count     hits: packets 0 -> 1, bytes 0 -> 54",
    "    split     off branch 1",
    "  branch 1",
    "    jump      table empty",
    "  NIC_RX   table empty, no rules",
    "    end       table miss",
    "delivered  qp:web",
  ],
  meter: [
    '    hit       "meter"  priority 0  outer.tcp_dport 12',
    "    meter     meter[0]: green in C1, committed tokens 256 -> 128",
    "    queue     qp:web",
    "delivered  qp:web",
    "with       C1 = 0x2",
  ],
  first_hit: [
    '    hit       "first_hit"  priority 0  outer.tcp_dport 13',
    "    first hit flags[9]: 0 in C3, flags 0x00 -> 0x40",
    "    queue     qp:web",
    "delivered  qp:web",
    "with       C3 = 0x0",
  ],
  track: [
    '    hit       "track"  priority 0  outer.tcp_dport 14',
    "    track     connection, original direction: state changed in C5,",
    "              state empty -> half-open, last_index NONE -> SYN, last_end 0 -> 1,",
    "              last_win 0 -> 65535, last_dir 0 -> 1, heartbeat 0 -> 1,",
    "              original.max_win 0 -> 65535, original.reply_end 0 -> 1,",
    "              original.sent_end 0 -> 1, original.scale 0 -> 15,",
    "              original.data_unacked 0 -> 1",
    "    queue     qp:web",
    "delivered  qp:web",
    "with       C5 = 0x2",
  ],
  sampler: [
    '    hit       "sampler"  priority 0  outer.tcp_dport 15',
    "    sampler   1 of 1 frames: sampled; to empty",
    "    split     off branch 1",
    "  branch 1",
    "    tag       9",
    "    queue     qp:web",
    "  branch 0",
    "  NIC_RX   table empty, no rules",
    "lost       no rule of table empty matches the frame, and a table that is not",
    "           root drops such frames",
    "copies     qp:web (tag 9)",
  ],
  refused: [
    '    hit       "refused"  priority 0  outer.tcp_dport 16',
    "    queue     qp:short",
    "    refused   by qp:short: receive buffer too short",
    "              completion queue cq0: completions 0 -> 1",
    "              receive queue short: requests taken 0 -> 1",
    "lost       the receive buffer of qp:short is shorter than the 54 bytes of the",
    "           frame",
  ],
};

describe("operations", () => {
  let tracer: Tracer;
  let frames: ReadonlyMap<string, Uint8Array>;
  beforeAll(async () => {
    const scenario = await loadScenario(JSON.stringify(SCENARIO));
    tracer = await openTracer(scenario.device);
    frames = new Map(scenario.frames.map(({ name = "", bytes }) => [name, bytes]));
  });

  const bytesOf = (name: OperationName): Uint8Array => frames.get(name) as Uint8Array;
  const actionsOf = (name: OperationName): ActionStep[] =>
    tracer.trace(1, bytesOf(name)).steps.filter((step) => step.kind === "action");

  it.each(Object.keys(OPERATIONS) as OperationName[])("prints %s", (name) => {
    expect(
      printTrace(tracer.trace(1, bytesOf(name)))
        .split("\n")
        .slice(6),
    ).toEqual(PRINTED[name]);
  });

  it("names actions by their operations", () => {
    for (const name of Object.keys(OPERATIONS) as OperationName[]) {
      for (const { action } of actionsOf(name)) expect(Op).toHaveProperty(action);
    }
  });

  it("gives the bytes that an action changed, with their offsets before it", () => {
    expect(actionsOf("push_vlan")[1]?.bytes).toEqual([{ offset: 12, before: "", after: "81006005" }]);
    expect(actionsOf("modify")[1]?.bytes).toEqual([
      { offset: 5, before: "02", after: "0b" },
      { offset: 22, before: "400666", after: "3f0667" },
    ]);
  });

  it("tells from which rule on a lookup begins", () => {
    const lookups = tracer.trace(1, bytesOf("root")).steps.filter((step) => step.kind === "lookup");
    expect(lookups.map(({ fromPriority }) => fromPriority)).toEqual([null, null, null, 5]);
  });

  it("traces at once with the function alone", async () => {
    expect(await trace(tracer.device, 1, bytesOf("count"))).toEqual(tracer.trace(1, bytesOf("count")));
  });

  it("paints labels where colours are asked for", () => {
    const found = tracer.trace(1, bytesOf("drop"));
    const painted = printTrace(found, { colour: true });
    expect(painted).toContain("\u001b[31mlost\u001b[39m");
    const parts = painted.split("\u001b").map((part, i) => (i === 0 ? part : part.replace(/^\[\d+m/, "")));
    expect(parts.join("")).toBe(printTrace(found));
  });

  it("folds lines at the width", () => {
    for (const width of [40, 60, 80, 100]) {
      const lines = printTrace(tracer.trace(1, bytesOf("track")), { width, number: 3 }).split("\n");
      expect(lines[0]).toBe("frame 3, 54 bytes, port 1 (wire)");
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
    }
  });

  it("shows near misses at the tables without a match", () => {
    const found = tracer.trace(1, bytesOf("table"));
    const table = { domain: "nic_rx", vport: 0, table: "empty" } as const;
    const rule = { kind: "rule", name: "blue", id: 1, priority: 0, matcher: null } as const;
    const difference = { field: "outer.udp_dport", wanted: "53", bits: "", distance: 16, note: null };
    const absent = { ...difference, found: null, absent: "the packet is TCP" };
    const near = [{ rule, table, differences: [absent] }];
    expect(printTrace(found, { near })).toContain('\n    near      "blue"  outer.udp_dport 53: the packet is TCP\n');
  });
});
