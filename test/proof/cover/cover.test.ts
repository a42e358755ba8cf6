/** Witnesses and proofs, on small devices whose answers a reader sees. */
import { describe, expect, test } from "vitest";
import { cover, region, trace, witness, type Coverage } from "../../../src/explain/index.js";
import { loadScenario, type LoadedScenario, type Scenario } from "../../../src/scenario/index.js";

type Rules = NonNullable<Scenario["rules"]>;

const TO_Q = [{ queue: "q" }];

function load(rules: Rules, more: Partial<Scenario> = {}): Promise<LoadedScenario> {
  const tables = [{ name: "t", level: 0 }];
  return loadScenario({ flowsteer: 1, queues: [{ name: "q" }], tables, rules, ...more });
}

async function coverageOf({ device }: LoadedScenario): Promise<Record<string, Coverage>> {
  const { rules } = await cover(device);
  return Object.fromEntries(rules.map(({ rule, coverage }) => [rule.name, coverage]));
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

/** Every witness hits its rule. */
async function checkWitnesses({ device }: LoadedScenario): Promise<number> {
  let shown = 0;
  for (const { rule, coverage } of (await cover(device)).rules) {
    if (coverage.status !== "witness") continue;
    const { bytes, from } = coverage.witness;
    if (from.kind !== "wire") throw new Error("only the wire here");
    const { steps } = await trace(device, from.port, bytesOf(bytes));
    const hits = steps.flatMap((step) => (step.kind === "lookup" && step.rule !== null ? [step.rule.name] : []));
    expect(hits).toContain(rule.name);
    shown++;
  }
  return shown;
}

describe("one table", () => {
  test("samples of ARP are addresses that a witness has, and no other frame has them", async () => {
    const samples = [14, 18, 24].map((offset, id) => ({ id, header: "arp" as const, offset }));
    const rule = (name: string, match: NonNullable<Rules[number]["match"]>): Rules[number] => ({
      name,
      table: "t",
      match,
      actions: TO_Q,
    });
    const loaded = await load(
      [
        rule("not ARP", { "outer.ethertype": "ipv4", "misc4.prog_sample_field_value_2": 0x0a000002 }),
        rule("tagged", { "outer.first_vid": 5, "misc4.prog_sample_field_value_0": 0x0a000009 }),
        rule("pair", { "misc4.prog_sample_field_value_0": 0x0a000009, "misc4.prog_sample_field_value_2": 0x0a000002 }),
        rule("hardware", { "outer.ethertype": "arp", "misc4.prog_sample_field_value_1": 0x02000000 }),
        rule("any", { "misc4.prog_sample_field_value_2": "0x0a000000/0xffffff00" }),
      ],
      { device: { parser: { samples } } },
    );
    const found = await coverageOf(loaded);
    expect(Object.values(found).map(({ status }) => status)).toEqual(["none", ...Array<string>(4).fill("witness")]);
    expect(await checkWitnesses(loaded)).toBe(4);
  });

  test("a rule inside an earlier one is covered by it alone", async () => {
    const loaded = await load([
      { name: "other", table: "t", priority: 0, match: { "outer.ipv4_dst": "10.1.2.0/24" }, actions: TO_Q },
      { name: "wide", table: "t", priority: 1, match: { "outer.ipv4_dst": "10.0.0.0/8" }, actions: TO_Q },
      { name: "narrow", table: "t", priority: 2, match: { "outer.ipv4_dst": "10.1.0.0/16" }, actions: TO_Q },
    ]);
    const { narrow } = await coverageOf(loaded);
    expect(narrow).toMatchObject({ status: "none", proof: { kind: "covered", by: [{ name: "wide" }] } });
    expect(await checkWitnesses(loaded)).toBe(2);
  });

  test("a rule for TCP takes the frames of a later one that asks for a TCP port", async () => {
    const loaded = await load([
      { name: "tcp", table: "t", priority: 0, match: { "outer.ip_protocol": "tcp" }, actions: TO_Q },
      { name: "web", table: "t", priority: 1, match: { "outer.tcp_dport": 80 }, actions: TO_Q },
    ]);
    const { web } = await coverageOf(loaded);
    expect(web).toMatchObject({ status: "none", proof: { kind: "covered", by: [{ name: "tcp" }] } });
  });

  test("two halves cover a whole, and a third rule has no part in it", async () => {
    const half = (name: string, net: string): Rules[number] => {
      return { name, table: "t", priority: 0, match: { "outer.ipv4_dst": net }, actions: TO_Q };
    };
    const loaded = await load([
      half("low", "10.0.0.0/9"),
      half("high", "10.128.0.0/9"),
      half("part", "10.64.0.0/10"),
      { name: "whole", table: "t", priority: 1, match: { "outer.ipv4_dst": "10.0.0.0/8" }, actions: TO_Q },
    ]);
    const { whole } = await coverageOf(loaded);
    if (whole?.status !== "none" || whole.proof.kind !== "covered") throw new Error("not covered");
    expect(whole.proof.by.map(({ name }) => name)).toEqual(["low", "high"]);
    expect(whole.proof.sentence).toBe('rule "low" and rule "high" take all its frames');
  });

  test("ranges of ports cover a port field", async () => {
    const ports = (name: string, range: string, priority: number): Rules[number] => {
      return { name, table: "t", priority, match: { "outer.udp_dport": range }, actions: TO_Q };
    };
    const loaded = await load([
      ports("low", "0-1023", 0),
      ports("high", "1025-65535", 0),
      ports("one", "1000-2000", 1),
      ports("none", "900-1000", 2),
    ]);
    const found = await coverageOf(loaded);
    expect(found["one"]?.status).toBe("witness");
    expect(found["none"]).toMatchObject({ status: "none", proof: { by: [{ name: "low" }] } });
    const { parts } = await region(loaded.device, { kind: "rule", name: "one" });
    expect(parts.map(({ fields }) => fields["outer.udp_dport"])).toEqual(["1024"]);
  });

  test("a port of TCP and protocol 17 exclude each other", async () => {
    const loaded = await load([
      { name: "wrong", table: "t", match: { "outer.tcp_dport": 80, "outer.ip_protocol": 17 }, actions: TO_Q },
    ]);
    const { wrong } = await coverageOf(loaded);
    if (wrong?.status !== "none" || wrong.proof.kind !== "contradiction") throw new Error("no contradiction");
    expect(wrong.proof.terms.map(({ field }) => field).sort()).toEqual(["outer.ip_protocol", "outer.tcp_dport"]);
  });
});

describe("two tables", () => {
  const tables = [
    { name: "t", level: 0 },
    { name: "u", level: 1 },
    { name: "alone", level: 2 },
  ];
  const rules: Rules = [
    {
      name: "mark",
      table: "t",
      match: { "outer.ipv4_dst": "10.0.0.0/8" },
      actions: [{ modify: [{ set: "misc2.metadata_reg_c_0", to: 5 }] }, { table: "u" }],
    },
    { name: "five", table: "u", match: { "misc2.metadata_reg_c_0": 5, "outer.ipv4_dst": "10.0.0.7" }, actions: TO_Q },
    { name: "six", table: "u", match: { "misc2.metadata_reg_c_0": 6 }, actions: TO_Q },
    { name: "elsewhere", table: "u", match: { "outer.ipv4_dst": "11.0.0.0/8" }, actions: TO_Q },
    { name: "orphan", table: "alone", actions: TO_Q },
  ];

  test("a register decides which rules of the second table are reached", async () => {
    const loaded = await load(rules, { tables });
    const found = await coverageOf(loaded);
    expect(found["five"]?.status).toBe("witness");
    expect(found["six"]).toMatchObject({
      status: "none",
      proof: { kind: "cannot match", leading: [{ name: "mark" }] },
    });
    expect(found["elsewhere"]).toMatchObject({ status: "none", proof: { kind: "cannot match" } });
    expect(found["orphan"]).toMatchObject({ status: "none", proof: { kind: "unreached", table: { table: "alone" } } });
    expect(await checkWitnesses(loaded)).toBe(2);
    expect((await cover(loaded.device)).tables.map(({ coverage: { status } }) => status)).toEqual([
      "witness",
      "witness",
      "none",
    ]);
  });

  test("a sample of the payload decides which rules are reached after a change", async () => {
    const device = { parser: { samples: [{ id: 0, header: "udp" as const, offset: 12 }] } };
    const sampled = (name: string, value: number): Rules[number] => {
      return { name, table: "u", match: { "misc4.prog_sample_field_value_0": value }, actions: TO_Q };
    };
    const loaded = await load(
      [
        { name: "tag", table: "t", match: { "outer.udp_dport": 9000 }, actions: ["pop_vlan", { table: "u" }] },
        sampled("one", 0x01020304),
        sampled("other", 0xfffefdfc),
      ],
      { tables, device },
    );
    const found = await coverageOf(loaded);
    expect(Object.values(found).map(({ status }) => status)).toEqual(["witness", "witness", "witness"]);
    expect(await checkWitnesses(loaded)).toBe(3);
  });

  test("a changed port of an inner packet makes labels of what follows", async () => {
    const loaded = await load(
      [
        {
          name: "turn",
          table: "t",
          match: { "inner.udp_dport": 80 },
          actions: [{ modify: [{ set: "inner.udp_dport", to: 6635 }] }, { table: "u" }],
        },
        { name: "label", table: "u", match: { "ext.inner_first_mpls_over_udp_label": 5 }, actions: TO_Q },
      ],
      { tables },
    );
    expect((await coverageOf(loaded))["label"]?.status).not.toBe("none");
  });

  test("circles of tables keep no rule from an answer", async () => {
    const loaded = await load(
      [
        { name: "in", table: "t", actions: [{ table: "u" }] },
        {
          name: "round",
          table: "u",
          match: { "outer.ip_dscp": 1 },
          actions: [{ modify: [{ add: "outer.ip_ttl_hoplimit", by: -1 }] }, { table: "alone" }],
        },
        { name: "back", table: "alone", match: { "outer.tcp_dport": 80 }, actions: [{ table: "u" }] },
        { name: "live", table: "alone", match: { "outer.ip_ttl_hoplimit": 17 }, actions: TO_Q },
        { name: "dead", table: "u", match: { "misc2.metadata_reg_c_0": 6 }, actions: TO_Q },
      ],
      { tables },
    );
    const found = await coverageOf(loaded);
    expect(found["live"]?.status).toBe("witness");
    expect(found["dead"]).toMatchObject({ status: "none", proof: { kind: "cannot match" } });
  });

  test("witness of one rule, by name", async () => {
    const { device } = await load(rules, { tables });
    expect((await witness(device, { kind: "rule", name: "five" })).status).toBe("witness");
    await expect(witness(device, { kind: "rule", name: "fife" })).rejects.toThrow('did you mean "five"?');
  });

  test("the region of a rule claims no frame whose way depends on bytes that no field shows", async () => {
    const { device } = await load(
      [
        {
          name: "port",
          table: "t",
          match: { "outer.udp_dport": 5000 },
          actions: [{ modify: [{ set: "outer.udp_dport", to: 4789 }] }, { table: "u" }],
        },
        { name: "tenant", table: "u", match: { "misc.vxlan_vni": 7 }, actions: TO_Q },
        { name: "others", table: "u", priority: 1, match: { "outer.udp_dport": 4789 }, actions: TO_Q },
      ],
      { tables },
    );
    const tenant = await region(device, { kind: "rule", name: "tenant" });
    expect(tenant).toEqual({ parts: [], share: 0, complete: false });
  });

  test("the region of a rule behind a register is one of arriving frames", async () => {
    const { device } = await load(rules, { tables });
    const { parts, complete } = await region(device, { kind: "rule", name: "five" });
    expect(complete).toBe(true);
    expect(parts.map(({ fields }) => fields)).toEqual([{ "outer.ip_version": "4", "outer.ipv4_dst": "10.0.0.7" }]);
  });
});

describe("ports of VXLAN", () => {
  const VNI = { "misc.vxlan_vni": 5 };
  const rules: Rules = [
    { name: "4789", table: "t", priority: 0, match: { ...VNI, "outer.udp_dport": 4789 }, actions: TO_Q },
    { name: "8472", table: "t", priority: 1, match: { ...VNI, "outer.udp_dport": 8472 }, actions: TO_Q },
    { name: "any", table: "t", priority: 2, match: VNI, actions: TO_Q },
  ];

  test.each<[number[] | undefined, string[]]>([
    [undefined, ["witness", "dead", "dead"]],
    [
      [4789, 8472],
      ["witness", "witness", "dead"],
    ],
    [
      [8472, 65535],
      ["dead", "witness", "witness"],
    ],
    [[], ["dead", "dead", "dead"]],
  ])("with %j", async (vxlanPorts, statuses) => {
    const loaded = await load(rules, vxlanPorts === undefined ? {} : { device: { parser: { vxlanPorts } } });
    const coverage = await coverageOf(loaded);
    const found = rules.map(({ name }) => (coverage[name]?.status === "witness" ? "witness" : "dead"));
    expect(found).toEqual(statuses);
    expect(await checkWitnesses(loaded)).toBe(statuses.filter((one) => one === "witness").length);
  });

  test("a change of the port leads to the header or away from it", async () => {
    const to = (port: number) => ({ modify: [{ set: "outer.udp_dport", to: port }] });
    const tables = [
      { name: "t", level: 0 },
      { name: "next", level: 1 },
    ];
    const change: Rules = [
      { name: "change", table: "t", match: { "outer.udp_dport": 53 }, actions: [to(8472), { table: "next" }] },
      { name: "vni", table: "next", match: VNI, actions: TO_Q },
    ];
    const statusOf = async (vxlanPorts: number[]): Promise<string | undefined> => {
      const loaded = await load(change, { tables, device: { parser: { vxlanPorts } } });
      expect(await checkWitnesses(loaded)).toBeGreaterThan(0);
      return (await coverageOf(loaded))["vni"]?.status;
    };
    // No frame is built whose payload becomes a tunnel, but none is ruled out either.
    expect(await statusOf([4789, 8472])).toBe("unknown");
    expect(await statusOf([4789])).toBe("none");
  });
});
