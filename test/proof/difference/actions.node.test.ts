/** A change of one action is found although no rule matches what the action needs: every header change, tunnels, tags. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { difference } from "../../../src/explain/index.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { sampleOf } from "../../support/tier.js";

type Actions = readonly unknown[];

/** The fields that a header change sets, with their bits. */
const FIELDS = [
  ...readFileSync(new URL("../../../docs/modify-fields.md", import.meta.url), "utf8")
    .split("## By the names of the device")[0]!
    .matchAll(/^\| `((?!misc2)[^`]+)` \| (\d+)/gm),
].map(([, field = "", bits]) => ({ field, bits: Number(bits) }));

function valueOf(field: string, bits: number, n: number): string | number {
  if (field.endsWith("mac")) return `02:00:00:00:00:0${n}`;
  if (/ipv[46]_/.test(field)) return field.includes("ipv4") ? `10.9.0.${n}` : `fd09::${n}`;
  return bits < 3 ? n % 2 ** bits : n + 3;
}

const DECAP = { reformat: { type: "l2_tunnel_to_l2" } };
const A = { queue: "a" };

function set(field: string, to: string | number): unknown {
  return { modify: [{ set: field, to }] };
}

function copy(from: string, into: string): unknown {
  return { modify: [{ copy: from, into }] };
}

/** What a rule does before and after a change, and in the table after it. */
type ActionCase = readonly [name: string, old: Actions, changed: Actions, later?: Actions];
const CASES: readonly ActionCase[] = [
  ...sampleOf(FIELDS).flatMap(({ field, bits }) => {
    const [one, two] = [1, 2].map((n) => [set(field, valueOf(field, bits, n)), A]) as unknown as [Actions, Actions];
    return [
      [`another ${field}`, one, two],
      [`no ${field}`, one, [A]],
    ] as const satisfies readonly ActionCase[];
  }),
  ["another sum", [{ modify: [{ add: "outer.ip_ttl_hoplimit", by: -1 }] }, A], [A]],
  ["a copied port", [copy("outer.tcp_sport", "outer.tcp_dport"), A], [copy("outer.tcp_dport", "outer.tcp_sport"), A]],
  ["a copied address in a tunnel", [copy("inner.ipv4_src", "inner.ipv4_dst"), A], [A]],
  ["another queue after a decapsulation", [DECAP, A], [DECAP, { queue: "b" }]],
  ["no decapsulation", [DECAP, A], [A]],
  ["no tag removed", ["pop_vlan", A], [A]],
  ["a later field in a tunnel", [DECAP, set("outer.tcp_dport", 5)], [DECAP, set("outer.tcp_dport", 6)], [A]],
  [
    "a register that is copied later",
    [set("misc2.metadata_reg_c_0", 5)],
    [set("misc2.metadata_reg_c_0", 6)],
    [copy("misc2.metadata_reg_c_0", "outer.tcp_dport"), A],
  ],
  [
    "a port of all members of an array",
    [set("outer.tcp_dport", 5), { array: [A, { queue: "b" }] }],
    [set("outer.tcp_dport", 6), { array: [A, { queue: "b" }] }],
  ],
];

function scenario(actions: Actions, match: object, later?: Actions): object {
  const more = later === undefined ? [] : [{ name: "later", table: "last", actions: later }];
  return {
    flowsteer: 1,
    queues: [{ name: "a" }, { name: "b" }],
    tables: ["root", "next", "last"].map((name, level) => ({ name, level })),
    rules: [
      { name: "in", table: "root", actions: [{ table: "next" }] },
      {
        name: "changed",
        table: "next",
        match,
        actions: later === undefined ? actions : [...actions, { table: "last" }],
      },
      ...more,
    ],
  };
}

test.each(CASES.map(([name, ...pair]) => ({ name, pair })))("$name", async ({ pair: [old, changed, later] }) => {
  const [a, b] = [await loadScenario(scenario(old, {}, later)), await loadScenario(scenario(changed, {}, later))];
  const { equal, groups, changes } = await difference(a.device, b.device);
  expect({ equal, found: groups.length > 0 }, JSON.stringify(changes)).toEqual({ equal: false, found: true });
});

test("a rule for tunnels finds another queue after the decapsulation", async () => {
  const match = { "misc.vxlan_vni": 7 };
  const [a, b] = [
    await loadScenario(scenario([DECAP, A], match)),
    await loadScenario(scenario([DECAP, { queue: "b" }], match)),
  ];
  const { equal, groups } = await difference(a.device, b.device);
  expect({ equal, kinds: groups.map(({ kinds }) => kinds) }).toEqual({ equal: false, kinds: [["destination"]] });
});

test("a rule that no longer leaves out frames: those with what its actions need are not taken by it before", async () => {
  const rule = (match: object): object => ({
    flowsteer: 1,
    queues: [{ name: "a" }],
    tables: [{ name: "root", level: 0 }],
    rules: [
      { name: "mark", table: "root", match, actions: ["pop_vlan", set("outer.udp_dport", 7), A] },
      { name: "rest", table: "root", priority: 1, actions: [A] },
    ],
  });
  const [a, b] = [await loadScenario(rule({ "outer.ip_dscp": 0 })), await loadScenario(rule({}))];
  const { changes } = await difference(a.device, b.device);
  expect(changes.map(({ effect }) => effect)).toEqual(["different"]);
});

test("a tag that is removed before a counter, where the other change of the rule is dropped with the frame", async () => {
  const rule = (match: object): object => ({
    flowsteer: 1,
    queues: [{ name: "a" }],
    counters: [{ name: "lost" }],
    tables: [{ name: "root", level: 0 }],
    rules: [
      {
        name: "mark",
        table: "root",
        match,
        actions: ["pop_vlan", set("outer.ip_dscp", 21), { count: "lost" }, "drop"],
      },
      { name: "rest", table: "root", priority: 1, actions: [{ count: "lost" }, "drop"] },
    ],
  });
  const vxlan = { "misc.vxlan_vni": 7 };
  const [a, b] = [
    await loadScenario(rule({ ...vxlan, "outer.ipv4_dst": "192.168.0.0/17" })),
    await loadScenario(rule(vxlan)),
  ];
  const { groups } = await difference(a.device, b.device);
  expect(groups.map(({ kinds }) => kinds)).toEqual([["counters"]]);
});

test("an action after a decapsulation, where two tables have frames without a tunnel", async () => {
  const rule = (end: unknown): object => ({
    flowsteer: 1,
    queues: [{ name: "a" }, { name: "b" }, { name: "c" }],
    counters: [{ name: "seen" }],
    tables: [
      { name: "root", level: 0 },
      { name: "next", level: 1 },
    ],
    rules: [
      { name: "dns", table: "root", match: { "outer.udp_dport": 53 }, actions: [{ table: "next" }] },
      { name: "all", table: "root", priority: 1, actions: [{ count: "seen" }, { table: "next" }] },
      { name: "tunnel", table: "next", match: { "outer.ipv4_src": "10.1.2.0/24" }, actions: [DECAP, end] },
      { name: "web", table: "next", priority: 1, match: { "outer.tcp_dport": "0-1023" }, actions: ["drop"] },
      { name: "rest", table: "next", priority: 2, actions: [{ queue: "c" }] },
    ],
  });
  const [a, b] = [await loadScenario(rule("drop")), await loadScenario(rule(A))];
  const { changes } = await difference(a.device, b.device);
  expect(changes.map(({ effect }) => effect)).toEqual(["different"]);
});
