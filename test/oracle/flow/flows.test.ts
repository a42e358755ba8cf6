// Tests the flow reference on handmade frames, with answers from docs/flows.md.

import { describe, expect, test } from "vitest";
import { type FlowSpec, SPEC } from "./spec.js";
import { receiveReference, sendReference } from "./walk.js";
import { FLAG, type Flow, type FlowState, TYPE, attachCounters, createFlow, destroyFlow, newState } from "./flows.js";
import { ETH4, UDP4, parse } from "../wire/handmade.js";
import { type Action } from "../walk/walk.js";

const FRAME = { fields: parse([ETH4, UDP4]).fields, port: 1, wireLength: 42 };
const MULTICAST = { ...FRAME, fields: new Map(FRAME.fields).set("outer.dmac", 0x01005e000001n) };
const RAW = { ...FRAME, fields: new Map([["ext.port", 1n]]) };
/** All specs below match FRAME. */
const UDP: FlowSpec = { type: SPEC.UDP };
const DST53: FlowSpec = { type: SPEC.UDP, val: { dst_port: 53n }, mask: { dst_port: 0xffffn } };
const IP: FlowSpec = { type: SPEC.IPV4 };
const DROP: FlowSpec = { type: SPEC.ACTION_DROP };
const tag = (tag_id: number): FlowSpec => ({ type: SPEC.ACTION_TAG, tag_id });
const count = (counters: string): FlowSpec => ({ type: SPEC.ACTION_COUNT, counters });

/** A flow of the QP named by the first letter of its id. */
function flow(id: string, specs: FlowSpec[], over: Partial<Flow> = {}): Flow {
  return { id, qp: id[0] ?? "", type: TYPE.NORMAL, priority: 0, port: 1, flags: 0, specs, ...over };
}

function stateOf(...flows: Flow[]): FlowState {
  const state = newState(2);
  for (const one of flows) expect([one.id, createFlow(state, one)]).toEqual([one.id, null]);
  return state;
}

const dontTrap = { flags: FLAG.DONT_TRAP };
const egress = { flags: FLAG.EGRESS };
const sniffer = { type: TYPE.SNIFFER };
const all = { type: TYPE.ALL_DEFAULT };
const mc = { type: TYPE.MC_DEFAULT };

/** The recipients, as "a5" for QP a with tag 5; then the verdict. */
function received(state: FlowState, frame = FRAME): string {
  return text(receiveReference(state, frame));
}

function text({ arrivals, verdict, reason }: ReturnType<typeof receiveReference>): string {
  return [
    ...arrivals.map(({ qp, tag }) => (tag === 0 ? qp : `${qp}${tag}`)),
    verdict,
    ...(reason ? [reason] : []),
  ].join(" ");
}

describe("order", () => {
  test.each<[string, Flow[], string]>([
    ["nobody", [], "miss no_rule"],
    ["another port", [flow("a", [], { port: 2 })], "miss no_rule"],
    ["no specs: every frame", [flow("a", [])], "a deliver"],
    ["the lower priority", [flow("a", [], { priority: 2 }), flow("b", [], { priority: 1 })], "b deliver"],
    [
      "all 16 bits of it",
      [flow("a", [], { priority: 65535 }), flow("b", [IP], { priority: 65534 }), flow("c", [UDP], { priority: 65535 })],
      "b deliver",
    ],
    ["the older mask", [flow("a", [UDP]), flow("b", [IP])], "a deliver"],
    ["DONT_TRAP first, though younger", [flow("a", [UDP]), flow("b", [IP], dontTrap)], "b a deliver"],
    [
      "of DONT_TRAP flows of one priority the first alone",
      [flow("a", [UDP], dontTrap), flow("b", [IP], dontTrap), flow("c", [IP], { ...dontTrap, priority: 1 })],
      "a c miss no_rule",
    ],
    ["the tag of each", [flow("a", [UDP, tag(5)], dontTrap), flow("b", [UDP]), flow("c", [])], "a5 b deliver"],
    ["DROP", [flow("a", [UDP, DROP]), flow("b", [], { priority: 1 })], "drop drop_action"],
    ["DROP with DONT_TRAP", [flow("a", [UDP, DROP], dontTrap), flow("b", [])], "drop drop_action"],
    ["a copy, then DROP", [flow("a", [UDP], dontTrap), flow("b", [DROP])], "a drop drop_action"],
    ["defaults last", [flow("a", [], all), flow("b", [], { priority: 9 })], "b deliver"],
    ["a default", [flow("a", [], all)], "a deliver"],
    ["MC_DEFAULT of a unicast frame", [flow("a", [], mc)], "miss no_rule"],
    ["a sniffer beside all others", [flow("a", [UDP, DROP]), flow("b", [tag(3)], sniffer)], "b3 drop drop_action"],
    ["a sniffer of nobody's frame", [flow("b", [], sniffer)], "b miss no_rule"],
    ["specs of sniffers ask nothing", [flow("b", [{ type: SPEC.TCP }], sniffer)], "b miss no_rule"],
    ["specs and priority of defaults ask nothing", [flow("a", [{ type: SPEC.TCP }], all)], "a deliver"],
    ["an EGRESS flow does not receive", [flow("a", [], egress)], "miss no_rule"],
  ])("%s", (_name, flows, expected) => {
    expect(received(stateOf(...flows))).toBe(expected);
  });

  test("a mask is as old as its first flow, while it has one", () => {
    const other: FlowSpec = { ...DST53, val: { dst_port: 54n } };
    const state = stateOf(flow("x", [other]), flow("a", [IP]), flow("b", [DST53]));
    expect(received(state)).toBe("b deliver");
    destroyFlow(state, "x");
    expect(received(state)).toBe("b deliver");
    destroyFlow(state, "b");
    expect(received(state)).toBe("a deliver");
    expect(createFlow(state, flow("c", [DST53]))).toBeNull();
    expect(received(state)).toBe("a deliver");
  });

  test("each priority has its own masks", () => {
    const state = stateOf(flow("x", [IP], { priority: 1 }), flow("a", [UDP]), flow("b", [IP]));
    expect(received(state)).toBe("a deliver");
  });

  test("multicast frames reach MC_DEFAULT and ALL_DEFAULT; frames without Ethernet neither", () => {
    const state = stateOf(flow("a", [], mc), flow("b", [], all));
    expect(received(state, MULTICAST)).toBe("a b deliver");
    expect(received(state)).toBe("b deliver");
    expect(received(state, RAW)).toBe("miss no_rule");
  });
});

describe("DR root rules and host rules", () => {
  const rule = (id: string, priority: number, action: Action["kind"], made: number) => ({
    id,
    priority,
    matcher: made,
    made,
    terms: [],
    ranges: [],
    actions: [action === "qp" ? { kind: "qp" as const, qp: "r" } : ({ kind: action } as Action)],
  });
  const host = (application: "ethtool" | "tc" | "nic", qp: string, priority: number, made: number) => ({
    id: qp,
    application,
    priority,
    made,
    terms: [],
    actions: [{ kind: "qp" as const, qp }],
  });

  test("one order with flows, by priority and age", () => {
    const state = stateOf(flow("a", [UDP], { priority: 1 }), flow("b", [UDP], dontTrap));
    state.rootRules.push(rule("r", 1, "qp", state.made++));
    expect(received(state)).toBe("b a deliver");
    state.rootRules.push(rule("s", 0, "qp", state.made++));
    expect(received(state)).toBe("b r deliver");
    const older = newState(1);
    older.rootRules.push(rule("r", 1, "qp", older.made++));
    expect(createFlow(older, flow("a", [UDP], { priority: 1 }))).toBeNull();
    expect(received(older)).toBe("r deliver");
  });

  test("a default miss leads to the host rules, and they to the default flows", () => {
    const state = stateOf(flow("a", [], all), flow("b", [], { priority: 5 }));
    state.rootRules.push(rule("r", 0, "defaultMiss", state.made++));
    expect(received(state)).toBe("a deliver");
    state.hostRules.push(host("nic", "n", 0, 1), host("tc", "u", 1, 2), host("tc", "t", 0, 3), host("tc", "v", 0, 4));
    expect(received(state)).toBe("t deliver");
    state.hostRules.push(host("ethtool", "e", 9, 5));
    expect(received(state)).toBe("e deliver");
  });
});

describe("identical flows", () => {
  test("each distinct QP gets a copy", () => {
    const twice = flow("a2", [DST53]);
    const state = stateOf(flow("a", [UDP, DST53]), twice, flow("b", [DST53]), flow("c", [UDP]));
    expect(received(state)).toBe("a b deliver");
    destroyFlow(state, "a");
    expect(received(state)).toBe("a b deliver");
    destroyFlow(state, "a2");
    expect(received(state)).toBe("b deliver");
    destroyFlow(state, "b");
    expect(received(state)).toBe("c deliver");
  });

  test("identical flows have the same match in any notation", () => {
    const proto: FlowSpec = { type: SPEC.IPV4_EXT, val: { proto: 17n, ttl: 3n }, mask: { proto: 0xffn } };
    expect(received(stateOf(flow("a", [proto]), flow("b", [UDP, IP])))).toBe("a b deliver");
    const tcp = [{ type: SPEC.IPV6 }, { type: SPEC.TCP }];
    const next: FlowSpec = { type: SPEC.IPV6, val: { next_hdr: 6n }, mask: { next_hdr: 0xffn } };
    expect(createFlow(stateOf(flow("a", [...tcp, DROP])), flow("b", [next]))).toBe("EEXIST");
  });

  test.each<[string, Flow, Flow, string | null]>([
    ["DROP and delivery", flow("a", [UDP, DROP]), flow("b", [UDP]), "EEXIST"],
    ["delivery and DROP", flow("a", [UDP]), flow("b", [UDP, DROP]), "EEXIST"],
    ["DROP twice", flow("a", [UDP, DROP]), flow("b", [UDP, DROP]), null],
    ["another tag", flow("a", [UDP, tag(1)]), flow("b", [UDP, tag(2)]), "EEXIST"],
    ["the same tag", flow("a", [UDP, tag(1)]), flow("b", [UDP, tag(1)]), null],
    ["a tag where there is none", flow("a", [UDP]), flow("b", [UDP, tag(1)]), "EEXIST"],
    ["tag 0 where there is none", flow("a", [UDP]), flow("b", [UDP, tag(0)]), null],
    ["no tag where there is one", flow("a", [UDP, tag(1)]), flow("b", [UDP]), null],
    ["another priority", flow("a", [UDP, DROP]), flow("b", [UDP], { priority: 1 }), null],
    ["another port", flow("a", [UDP, DROP]), flow("b", [UDP], { port: 2 }), null],
    ["DONT_TRAP", flow("a", [UDP, DROP]), flow("b", [UDP], dontTrap), null],
    ["another direction", flow("a", [UDP, DROP]), flow("b", [UDP], egress), null],
    ["ALLOW_LOOP_BACK makes no difference", flow("a", [UDP, DROP]), flow("b", [UDP], { flags: 1 }), "EEXIST"],
    ["another value", flow("a", [UDP, DROP]), flow("b", [DST53]), null],
    ["ALL_DEFAULT and MC_DEFAULT", flow("a", [tag(1)], mc), flow("b", [tag(2)], all), "EEXIST"],
    ["the other way round", flow("a", [tag(1)], all), flow("b", [DROP], mc), "EEXIST"],
    ["sniffers", flow("a", [tag(1)], sniffer), flow("b", [tag(2)], sniffer), "EEXIST"],
  ])("%s", (_name, first, second, refused) => {
    const state = stateOf(first);
    expect(createFlow(state, second)).toBe(refused);
    expect(state.flows.size).toBe(refused === null ? 2 : 1);
  });

  test("60 QPs, and any number of flows of them", () => {
    const state = stateOf(...Array.from({ length: 60 }, (_, i) => flow(String(i), [UDP], { qp: String(i) })));
    expect(createFlow(state, flow("x", [UDP], { qp: "60" }))).toBe("ENOMEM");
    expect(createFlow(state, flow("y", [UDP], { qp: "59" }))).toBeNull();
  });

  test.each<[string, Flow]>([
    ["port 3 of two", flow("a", [], { port: 3 })],
    ["port 0", flow("a", [], { port: 0 })],
    ["a flag that does not exist", flow("a", [], { flags: 8 })],
    ["a type that does not exist", flow("a", [], { type: 4 })],
    ["DONT_TRAP of a default", flow("a", [], { ...all, ...dontTrap })],
    ["EGRESS of a sniffer", flow("a", [], { ...sniffer, ...egress })],
    ["invalid specs of a sniffer", flow("a", [{ type: SPEC.TCP }, UDP], sniffer)],
  ])("EINVAL: %s", (_name, wrong) => {
    expect(createFlow(newState(2), wrong)).toBe("EINVAL");
  });
});

describe("counters", () => {
  test("a live flow counts from now on, if it does not count on others", () => {
    const state = stateOf(flow("a", [UDP]), flow("b", [UDP, count("y")]));
    received(state);
    expect([attachCounters(state, "a", "x"), attachCounters(state, "a", "x")]).toEqual([null, null]);
    expect(attachCounters(state, "b", "x")).toBe("EINVAL");
    received(state);
    expect(packets(state)).toEqual(["y 2 84", "x 1 42"]);
  });

  const packets = (state: FlowState) =>
    [...state.counters].map(([name, counter]) => `${name} ${counter.packets} ${counter.bytes}`);

  test("a frame counts once for each entry and counters object, whatever becomes of it", () => {
    const state = stateOf(
      flow("a", [UDP, count("x")], dontTrap),
      flow("b", [UDP, count("x")], dontTrap),
      flow("c", [UDP, count("y")], dontTrap),
      flow("d", [UDP, count("x"), DROP]),
      flow("e", [count("z")], sniffer),
    );
    received(state);
    expect(packets(state)).toEqual(["z 1 42", "x 2 84", "y 1 42"]);
  });
});

describe("limits", () => {
  const many = (length: number) =>
    stateOf(
      ...Array.from({ length }, (_, i) => flow(`a${i}`, [UDP], { flags: FLAG.DONT_TRAP, priority: i })),
      flow("z", [], { priority: 100 }),
    );

  test("64 entries besides the first", () => {
    expect(received(many(64))).toBe(`${"a ".repeat(64)}z deliver`);
    expect(received(many(65))).toBe(`${"a ".repeat(65)}drop hop_limit`);
  });

  test("128 destinations", () => {
    const flows = [0, 1, 2].flatMap((priority) =>
      Array.from({ length: 50 }, (_, i) => flow(`${priority}.${i}`, [], { ...dontTrap, priority, qp: `q${i}` })),
    );
    const state = stateOf(...flows);
    const { arrivals, refused, verdict } = receiveReference(state, FRAME);
    expect([arrivals.length, refused, verdict]).toEqual([128, 22, "miss"]);
    expect(createFlow(state, flow("z", [], { priority: 3 }))).toBeNull();
    expect(receiveReference(state, FRAME)).toMatchObject({ refused: 23, verdict: "drop", reason: "copy_limit" });
  });
});

describe("sending", () => {
  const sent = (state: FlowState, frame = FRAME, sender = "s") => text(sendReference(state, frame, sender));
  const back = { flags: FLAG.ALLOW_LOOP_BACK };

  test.each<[string, Flow[], string]>([
    ["nothing", [], "transmit"],
    ["an EGRESS flow", [flow("a", [UDP, count("x")], egress)], "transmit"],
    ["an EGRESS flow that drops", [flow("a", [UDP, DROP], egress)], "drop drop_action"],
    ["EGRESS by priority", [flow("a", [DROP], { ...egress, priority: 1 }), flow("b", [UDP], egress)], "transmit"],
    [
      "EGRESS and DONT_TRAP",
      [flow("a", [DROP], egress), flow("b", [UDP], { flags: FLAG.EGRESS | FLAG.DONT_TRAP })],
      "drop drop_action",
    ],
    ["a flow of another QP", [flow("a", [UDP])], "a deliver"],
    ["a flow of the sender", [flow("s", [UDP])], "transmit"],
    ["a flow of the sender with ALLOW_LOOP_BACK", [flow("s", [UDP], back)], "s deliver"],
    ["the next flow answers", [flow("s", [UDP]), flow("a", [], { priority: 1 })], "a deliver"],
    ["identical flows, of which one answers", [flow("s", [UDP]), flow("a", [UDP])], "a deliver"],
    ["a default", [flow("a", [], all)], "transmit"],
    ["a sniffer", [flow("b", [], sniffer)], "b transmit"],
    ["a sniffer sees it once", [flow("b", [], sniffer), flow("a", [])], "b a deliver"],
    ["a sniffer sees what is dropped", [flow("b", [], sniffer), flow("a", [DROP], egress)], "b drop drop_action"],
    ["a flow that drops what comes in", [flow("a", [DROP])], "transmit"],
    ["a copy on its way back", [flow("a", [UDP], dontTrap)], "a transmit"],
  ])("%s", (_name, flows, expected) => {
    expect(sent(stateOf(...flows))).toBe(expected);
  });

  test("a multicast frame does both", () => {
    expect(sent(stateOf(flow("a", [UDP])), MULTICAST)).toBe("a transmit");
  });

  test("a flow that does not answer does not count", () => {
    const state = stateOf(flow("s", [UDP, count("x")]), flow("a", [UDP, count("y")]));
    sent(state);
    expect([...state.counters.keys()]).toEqual(["y"]);
  });
});
