/** Every refusal of a document names a place, a value and an option that the document has; none hides the others. */
import { describe, expect, it } from "vitest";
import type { SteeringError } from "../../src/index.js";
import { checkScenario, loadScenario } from "../../src/scenario/index.js";
import { valueAt } from "../../src/scenario/report.js";
import { Random } from "../oracle/generate/random.js";
import { rounds, setting } from "../support/tier.js";
import { everyKey } from "./support/documents.js";

type Parts = Record<string, unknown>;

/** A good document, with other parts. */
function document(parts: Parts = {}): Parts {
  return {
    flowsteer: 1,
    queues: [{ name: "q" }],
    tables: [
      { name: "root", level: 0 },
      { name: "next", level: 1 },
    ],
    ...parts,
  };
}

/** The same with one rule. */
const rule = (more: Parts, parts: Parts = {}): Parts =>
  document({ rules: [{ name: "r", table: "root", ...more }], ...parts });
const match = (fields: Parts, parts?: Parts): Parts => rule({ match: fields }, parts);
const action = (one: unknown, parts?: Parts): Parts => rule({ actions: [one] }, parts);
const connectx5 = { device: { profile: "connectx5" } };

const text = ({ path, value, reason, hint }: SteeringError): unknown[] => [path, value, reason, hint];

describe("a wrong document", () => {
  it.each<[string, Parts, place: string, value: unknown, reason: string, hint?: RegExp]>([
    [
      "a Geneve option that the device does not declare",
      match({ "misc.geneve_tlv_option_0_exist": 1 }),
      "rules[0].match.misc.geneve_tlv_option_0_exist",
      undefined,
      "unsupported",
      /write device\.parser: \{ geneveOption0: \{ class, type \} \}$/,
    ],
    [
      "its data",
      match({ "misc3.geneve_tlv_option_0_data": 1 }),
      "rules[0].match.misc3.geneve_tlv_option_0_data",
      undefined,
      "unsupported",
      /write device\.parser: /,
    ],
    [
      "a sample that the device does not declare, in a mask",
      document({ matchers: [{ name: "m", table: "root", mask: { "misc4.prog_sample_field_value_3": "full" } }] }),
      "matchers[0].mask.misc4.prog_sample_field_value_3",
      undefined,
      "unsupported",
      /write device\.parser: \{ samples: \[\{ id: 3, /,
    ],
    [
      "a version before an address of the other",
      match({ "outer.ip_version": 4, "outer.ipv6_src": "2001:db8::1" }),
      "rules[0].match.outer.ip_version",
      4,
      "contradiction",
      /^outer\.ipv6_src is IPv6$/,
    ],
    [
      "a version after an address of the other",
      match({ "outer.ipv6_src": "2001:db8::1", "outer.ip_version": "4" }),
      "rules[0].match.outer.ip_version",
      "4",
      "contradiction",
      /^outer\.ipv6_src is IPv6$/,
    ],
    [
      "addresses of both versions",
      match({ "inner.ipv4_src": "10.0.0.0/8", "inner.ipv6_dst": "2001:db8::/32" }),
      "rules[0].match.inner.ipv6_dst",
      "2001:db8::/32",
      "contradiction",
      /^inner\.ipv6_dst is IPv6, and a field before it is not$/,
    ],
    [
      "a field that the device does not match",
      match(
        { "misc.outer_esp_spi": 1 },
        { ...connectx5, rules: [{ name: "r", table: "next", match: { "misc.outer_esp_spi": 1 } }] },
      ),
      "rules[0].match.misc.outer_esp_spi",
      undefined,
      "unsupported",
    ],
    [
      "a rule that differs from its matcher",
      document({
        matchers: [{ name: "m", table: "root", mask: { "outer.tcp_dport": "full" } }],
        rules: [{ name: "r", matcher: "m", match: { "outer.udp_dport": 1 } }],
      }),
      "rules[0].match",
      undefined,
      "field_left_out",
    ],
    [
      "a priority of a rule that the device lacks",
      rule({ priority: 60000 }, connectx5),
      "rules[0].priority",
      60000,
      "out_of_range",
    ],
    [
      "two rules alike where the domain refuses it",
      document({
        domains: [{ domain: "nic_rx", duplicates: false }],
        matchers: [{ name: "m", table: "next", mask: { "outer.tcp_dport": "full" } }],
        rules: [1, 2].map((n) => ({ name: `r${n}`, matcher: "m", match: { "outer.tcp_dport": 80 } })),
      }),
      "rules[1].match",
      undefined,
      "duplicate_rule",
      /^list the domain in domains with duplicates: true$/,
    ],
    ["a table by its name", action({ table: "root" }), "rules[0].actions[0].table", "root", "root_table"],
    [
      "a change by the name of the match field",
      action({ modify: [{ set: "misc2.metadata_reg_a", to: 1 }] }),
      "rules[0].actions[0].modify[0].set",
      "misc2.metadata_reg_a",
      "bad_modify",
    ],
    [
      "bytes of a reformat, not their number",
      action({ reformat: { type: "l3_tunnel_to_l2", data: "00" } }),
      "rules[0].actions[0].reformat.data",
      "00",
      "bad_reformat",
    ],
    [
      "an EtherType by its name",
      document({ flows: [{ queue: "q", specs: [{ eth: { ether_type: "arp" } }, { ipv4: { dst_ip: "10.0.0.1" } }] }] }),
      "flows[0].specs[0].eth.ether_type",
      "arp",
      "contradiction",
    ],
    [
      "more flows than the device takes",
      document({ device: { limits: { flows: 1 } }, flows: [{ queue: "q" }, { queue: "q", type: "all_default" }] }),
      "flows[1].queue",
      "q",
      "no_memory",
      /^device\.limits\.flows is 1$/,
    ],
    ["a profile", document({ device: { profile: "connectx9" } }), "device.profile", "connectx9", "unsupported"],
    [
      "samples twice",
      document({
        device: { parser: { samples: [1, 2].map((offset) => ({ id: 1, header: "udp", offset })) } },
      }),
      "device.parser.samples[1].id",
      1,
      "contradiction",
    ],
    ["a cache", document({ device: { cache: { entries: 3 } } }), "device.cache.entries", 3, "out_of_range"],
    [
      "a mask of an entry's group",
      document({
        flowTables: [
          {
            name: "t",
            level: 1,
            log_size: 2,
            groups: [{ start_flow_index: 0, end_flow_index: 3, mask: { "ext.port": "full" } }],
          },
        ],
      }),
      "flowTables[0].groups[0].mask.ext.port",
      undefined,
      "unsupported",
    ],
    [
      "an expected field",
      document({ frames: [{ hex: "00" }], expect: { frames: [{ frame: 1, toFrames: [{ "outer.dmc": 1 }] }] } }),
      "expect.frames[0].toFrames[0].outer.dmc",
      undefined,
      "bad_field",
    ],
  ])("%s", async (_, wrong, path, value, reason, hint = /^/) => {
    const { scenario, refusals } = await checkScenario(wrong);
    expect(scenario).toBeNull();
    expect(refusals.map(({ path, value, reason }) => [path, value, reason])).toEqual([[path, value, reason]]);
    expect(refusals[0]?.hint ?? "").toMatch(hint);
    // The place is one of the document.
    const parent = path.replace(/(\[\d+\]|\.?\w+)$/, "");
    expect(valueAt(wrong, path) ?? valueAt(wrong, parent)).toBeDefined();
    const thrown: unknown = await loadScenario(wrong).catch((error: unknown) => error);
    expect(text(thrown as SteeringError)).toEqual(text(refusals[0] as SteeringError));
  });

  it("does not repeat keys", async () => {
    const esp = { direction: "decrypt", spi: 1, key: "secret".replace(/./g, "ab"), salt: "01020304" };
    const { refusals } = await checkScenario(
      document({ flowActions: [{ name: "e", esp }], flows: [{ queue: "q", specs: [{ action: "e" }] }] }),
    );
    expect(refusals.map(({ path }) => path)).toEqual(["flowActions[0].esp.key"]);
    expect(refusals[0]?.message).not.toContain("abab");
  });
});

describe("all that is wrong is told", () => {
  const places = async (wrong: object | string): Promise<unknown[]> =>
    (await checkScenario(wrong)).refusals.map(({ path }) => path);

  it("of keys and types", async () => {
    const rules = [
      { name: "a", tabel: "root", match: { "outer.tcp_dport": 80 } },
      { name: "b", table: "root", priority: "1" },
      { table: "root", actions: [{ quue: "q" }, { queue: "q", tag: 1 }] },
    ];
    expect(await places(document({ rules, frames: [{}], queues: {}, device: { ports: 0, vports: "x" } }))).toEqual([
      "queues",
      "rules[0].tabel",
      "rules[1].priority",
      "rules[2].actions[0].quue",
      "rules[2].actions[1]",
      "rules[2]",
      "frames[0]",
      "device.ports",
      "device.vports",
    ]);
    // Two keys of one object.
    expect(await places({ flowsteer: 1, tables: [{}] })).toEqual(["tables[0]", "tables[0]"]);
  });

  it("of names", async () => {
    const wrong = document({
      queues: [{ name: "q" }, { name: "q" }],
      rules: [
        { name: "r", table: "rot" },
        { name: "r", table: "root", actions: [{ queue: "x" }, { count: "c" }] },
      ],
      flows: [{ queue: "z" }],
      frames: [{ hex: "0g", port: 4 }, { hex: "0" }],
      messages: [{ queue: "q", hex: "z" }],
    });
    expect(await places(wrong)).toEqual([
      "queues[1].name",
      "rules[1].name",
      "rules[0].table",
      "rules[1].actions[0].queue",
      "rules[1].actions[1].count",
      "flows[0].queue",
      "frames[0].port",
      "messages[0].queue",
      "messages[0].hex",
      "frames[0].hex",
      "frames[1].hex",
    ]);
  });

  it("of objects, but not of those that need a refused one", async () => {
    const wrong = document({
      matchers: [
        { name: "bad", table: "root", mask: { "outer.tcp_dpor": 255 } },
        { name: "good", table: "root", mask: { "outer.tcp_dport": "full" } },
      ],
      actions: [{ name: "change", modify: [{ set: "no.field", to: 1 }] }],
      rules: [
        { name: "1", table: "root", match: { "outer.tcp_dport": "80-" } },
        { name: "2", matcher: "bad", match: {} },
        { name: "3", matcher: "good", match: {} },
        { name: "4", table: "root", actions: [{ table: "root" }] },
        { name: "5", table: "root", actions: ["drop", { queue: "q" }] },
      ],
      flows: [{ queue: "q", specs: [{ eth: { ether_type: "arp" } }, { ipv4: {} }] }],
      hostRules: [{ application: "tc", match: { "outer.tcp_dprt": 1 }, action: "drop" }],
    });
    expect(await places(wrong)).toEqual([
      "actions[0].modify[0].set",
      "matchers[0].mask.outer.tcp_dpor",
      "rules[0].match.outer.tcp_dport",
      "rules[2].match",
      "rules[3].actions[0].table",
      "rules[4].actions[1]",
      "flows[0].specs[0].eth.ether_type",
      "hostRules[0].match.outer.tcp_dprt",
    ]);
  });

  it("of expected frames", async () => {
    const frames = [
      { frame: 1, toFrames: ["0g"] },
      { frame: 1, copyFrames: [{ "outer.x": 1 }] },
    ];
    expect(await places(document({ frames: [{ hex: "00" }], expect: { frames } }))).toEqual([
      "expect.frames[0].toFrames[0]",
      "expect.frames[1].copyFrames[0].outer.x",
    ]);
  });

  it("is one thing where the text is no JSON, and nothing of a good document", async () => {
    expect(await places("{")).toEqual(["line 1, column 2"]);
    expect((await checkScenario(document())).scenario).not.toBeNull();
    await expect(checkScenario(5 as never)).rejects.toThrow(TypeError);
  });
});

type Place = readonly [owner: Record<string, unknown>, key: string];

/** Every key of a document, and every item of its lists. */
function placesIn(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const owner = value as Record<string, unknown>;
  return Object.entries(owner).flatMap(([key, one]): Place[] => [[owner, key], ...placesIn(one)]);
}

const OTHER_VALUES = [0, -1, 1, 65536, 4294967295, "x", "", null, [], {}, true, "10.0.0.1", "80-", "root"];

function damage(random: Random, value: object): void {
  const [owner, key] = random.pick(placesIn(value));
  const one = owner[key];
  if (random.chance(0.2)) Reflect.deleteProperty(owner, key);
  else if (typeof one === "number" && random.chance(0.5)) owner[key] = one + random.below(100_000);
  else owner[key] = random.pick(OTHER_VALUES);
}

it("damaged documents are refused at places that they have, first where loadScenario refuses them", async () => {
  const random = new Random(Number(setting("FLOWSTEER_SEED") ?? 1));
  for (let n = 0; n < rounds(300); n++) {
    const damaged = everyKey();
    for (let times = random.between(1, 4); times > 0; times--) damage(random, damaged);
    const { scenario, refusals } = await checkScenario(damaged);
    const loaded: unknown = await loadScenario(damaged).catch((error: unknown) => error);
    const [first] = refusals;
    if (first === undefined) expect(scenario).not.toBeNull();
    else expect((loaded as SteeringError).message).toBe(first.message);
    for (const { path = "", message } of refusals) {
      // A key that is missing has no place, nor has the name of a field, which can have two parts.
      const owners = [path, path.replace(/(\[[^\]]*\]|\.?[^.[\]]+)$/, ""), path.replace(/\.\w+\.\w+$/, "")];
      const found = path === "document" || owners.some((place) => valueAt(damaged, place) !== undefined);
      expect(found, message).toBe(true);
    }
  }
});
