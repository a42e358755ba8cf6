/** `set conntrack`, connections as indirect actions, and the item conntrack: the example of testpmd's guide. */
import { describe, expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";

const COM = (isOriginal: 0 | 1, more = ""): string =>
  `set conntrack com peer 1 is_orig ${isOriginal} enable 1 live 1 sack 1 cack 0\n` +
  "  last_dir 0 liberal 0 state 1 max_ack_win 7 r_lim 5 last_win 510\n" +
  `  last_seq 2632987379 last_ack 2532480967 last_end 2632987379 last_index 0x8${more}`;
const SIDES = `set conntrack orig scale 7 fin 0 acked 1 unack_data 0
  sent_end 2632987379 reply_end 2633016339 max_win 28960 max_ack 2632987379
set conntrack rply scale 7 fin 0 acked 1 unack_data 0
  sent_end 2532480967 reply_end 2532546247 max_win 65280 max_ack 2532480967`;
const CREATE = "flow indirect_action 0 create ingress action conntrack / end";
const rule = (more: string): string => `flow create 0 ${more} / end`;

/** A text as it stands, or an error with its findings. */
function imported(...lines: readonly string[]): Scenario {
  const { scenario, findings } = importRules(lines.join("\n"), {
    format: "testpmd",
    map: { port0: "uplink" },
    driver: "none",
  });
  if (scenario === null) throw new Error(findings.map(({ text, reason }) => `${text}: ${reason}`).join("; "));
  return scenario;
}

const both = imported(
  ...[COM(1), SIDES, CREATE],
  rule("ingress pattern eth / end actions jump group 3"),
  rule("group 3 ingress pattern eth / ipv4 src is 10.0.0.1 / tcp / end actions indirect 0 / jump group 5"),
  COM(0),
  "flow indirect_action 0 update 0 action conntrack_update dir / end",
  rule("group 3 ingress pattern eth / ipv4 dst is 10.0.0.1 / tcp / end actions indirect 0 / jump group 5"),
  rule("group 5 ingress pattern eth / ipv4 / tcp / conntrack is 1 / end actions queue index 5"),
  rule("group 5 ingress pattern eth / ipv4 / tcp / conntrack spec 4 mask 4 / end actions queue index 6"),
);

test("has the context that the mlx5 driver writes", () => {
  const { state, last_index, original, reply, ...rest } = both.asoObjects?.[0]?.conn_track ?? {};
  expect(rest).toEqual({
    valid: 1,
    connection_assured: 1,
    sack_permitted: 1,
    max_ack_window: 7,
    retransmission_limit: 5,
    last_win: 510,
    last_seq: 2632987379,
    last_ack: 2532480967,
    last_end: 2632987379,
  });
  expect({ state, last_index }).toEqual({ state: "established", last_index: "ack" });
  expect(original).toEqual({
    scale: 7,
    max_ack_seen: 1,
    sent_end: 2632987379,
    reply_end: 2633016339,
    max_win: 28960,
    max_ack: 2632987379,
  });
  expect(reply).toMatchObject({ sent_end: 2532480967, max_ack: 2532480967 });
});

test("a rule has the direction that the connection has when the rule is made", () => {
  const flags = both.rules?.flatMap(({ actions = [] }) =>
    actions.flatMap((action) => (typeof action === "object" && "aso" in action ? [action.aso?.flags] : [])),
  );
  expect(flags).toEqual(["ct_direction_initiator", "ct_direction_responder"]);
});

test("frames inside their windows are valid, others invalid, in both directions", async () => {
  const { device } = await loadScenario(both);
  const to = (isOriginal: boolean, sequence: number, acknowledgement: number): string[] => {
    const [source, destination] = isOriginal ? ["10.0.0.1", "10.0.0.2"] : ["10.0.0.2", "10.0.0.1"];
    const frame = buildFrame([
      { header: "ethernet" },
      { header: "ipv4", source, destination },
      { header: "tcp", sequence, acknowledgement, flags: "ack", window: 500 },
    ]);
    return device.receive(1, frame).to.map(({ name }) => name);
  };
  expect(to(true, 2632987379, 2532480967)).toEqual(["qp:queue 5"]);
  expect(to(false, 2532480967, 2632987379)).toEqual(["qp:queue 5"]);
  expect(to(true, 1000, 2532480967)).toEqual(["qp:queue 6"]);
  expect(to(false, 2532480967, 7)).toEqual(["qp:queue 6"]);
});

describe("the item conntrack", () => {
  test.each([
    ["is 1", "0/0xc3"],
    ["is 2", "2/0xc3"],
    ["is 4", "64/0xc3"],
    ["is 8", "128/0xc3"],
    ["spec 1 mask 1", "0/0xc0"],
    ["spec 2 mask 2", "2/2"],
    ["spec 0 mask 16", "0/1"],
  ])("%s asks the register for %s", (asked, value) => {
    const scenario = imported(rule(`group 1 ingress pattern eth / conntrack ${asked} / end actions drop`));
    const [number, mask] = value.split("/").map(Number);
    const [found, under] = String(scenario.rules?.at(-1)?.match?.["misc2.metadata_reg_c_5"]).split("/").map(Number);
    expect([found, under]).toEqual([number, mask]);
  });
});

test.each([
  ["conntrack without a connection", [CREATE], 'there is no "set conntrack com" before this'],
  [
    "a connection that is no indirect action",
    [rule("group 1 ingress pattern eth / end actions conntrack / jump group 2")],
    "rules name it by its number",
  ],
  ["a state that there is not", [COM(1).replace("state 1", "state 6")], "states are 0 to 5"],
  ["an index that there is not", [COM(1).replace("0x8", "3")], "last_index is one of 0, 1, 2, 4, 8, 16"],
  ["keys in another order", ["set conntrack orig fin 0 scale 7"], '"scale" comes here in "set conntrack orig"'],
  ["an unknown part", ["set conntrack both scale 7"], 'there is no part of a connection "both"'],
  [
    "a new context",
    [COM(1), CREATE, "flow indirect_action 0 update 0 action conntrack_update ctx / end"],
    "the initial state",
  ],
  ["another update", ["flow indirect_action 0 update 0 action rss / end"], "rules do not change once created"],
])("refuses %s", (_, lines, reason) => {
  expect(() => imported(...lines)).toThrow(reason);
});
