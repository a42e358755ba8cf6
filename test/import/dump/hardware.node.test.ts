/**
 * Dumps of hardware steering: what the importer reads in entries is what the public steering dump tool
 * reads (scripts/golden-hardware-dump.mjs), and rules that are written out here steer frames.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";
import { fieldNamed, type Field } from "../../../src/model/match/fields.js";
import { parseTerm } from "../../../src/model/match/term.js";
import { hardwareDump } from "./support/hardwareDump.js";

type Rule = NonNullable<Scenario["rules"]>[number];

const golden = (name: string): string => readFileSync(new URL(`../../golden/dump/${name}`, import.meta.url), "utf8");

/** The tool's name of each field of ours, and the value that it has there. */
const NAMES: Readonly<Record<string, string>> = {
  "outer.dmac": "dmac_o",
  "outer.smac": "smac_o",
  "outer.ethertype": "l3_ethertype_o",
  "outer.first_prio": "first_priority_o",
  "outer.first_cfi": "first_cfi_o",
  "outer.first_vid": "first_vlan_id_o",
  "misc.outer_second_prio": "second_priority_o",
  "misc.outer_second_cfi": "second_cfi_o",
  "misc.outer_second_vid": "second_vlan_id_o",
  "outer.ipv4_src": "src_ip_o",
  "outer.ipv4_dst": "dst_ip_o",
  "inner.ipv4_src": "src_ip_i",
  "outer.ipv6_src": "ipv6_addr_src_o",
  "outer.ipv6_dst": "ipv6_addr_dst_o",
  "outer.tcp_sport": "src_port_o",
  "outer.udp_sport": "src_port_o",
  "outer.tcp_dport": "dst_port_o",
  "outer.udp_dport": "dst_port_o",
  "outer.ip_dscp": "dscp_o",
  "outer.ip_ecn": "ecn_o",
  "outer.ip_ttl_hoplimit": "time_to_live_hop_limit_o",
  "misc5.tunnel_header_1": "tunnel_header1",
  "misc2.metadata_reg_c_0": "regc_0",
  "misc2.metadata_reg_c_1": "regc_1",
  "misc2.metadata_reg_c_5": "regc_5",
  "misc2.metadata_reg_c_6": "regc_6",
  "misc2.metadata_reg_a": "general_purpose_lookup_field",
  "misc.source_sqn": "source_qp",
  "outer.ipv4_checksum_ok": "first_ipv4_checksum_ok",
  "outer.l4_checksum_ok": "first_l4_checksum_ok",
  "inner.ipv4_checksum_ok": "second_ipv4_checksum_ok",
  "inner.l4_checksum_ok": "second_l4_checksum_ok",
  "inner.l3_ok": "second_l3_ok",
  "inner.l4_ok": "second_l4_ok",
  "outer.l3_ok": "first_l3_ok",
  "outer.l4_ok": "first_l4_ok",
  "misc3.gtpu_dw_0": "flex_parser_1",
  "misc3.gtpu_teid": "flex_parser_0",
  "misc.outer_esp_spi": "SPI",
  "misc.inner_ipv6_flow_label": "flow_label_i",
  "misc3.icmp_type": "TCP_seq_number / ICMP_DW1",
};
const MPLS: Readonly<Record<string, number>> = { label: 12, exp: 9, s_bos: 8, ttl: 0 };
const FLAGS = ["tcp_ns", "tcp_cwr", "tcp_ece", "tcp_urg", "tcp_ack", "tcp_psh", "tcp_rst", "tcp_syn", "tcp_fin"];

/** A rule's match as the tool would print it: names and values that are not 0. */
function asTool({ match = {} }: Rule): Record<string, bigint> {
  const found: Record<string, bigint> = {};
  const put = (name: string, value: bigint): void => {
    if (value !== 0n) found[name] = (found[name] ?? 0n) | value;
  };
  for (const [name, text] of Object.entries(match)) {
    const term = parseTerm(name, fieldNamed(name) as Field, text);
    if (term.kind !== "bits") throw new Error(name);
    const { value } = term;
    const side = name.startsWith("inner") ? "i" : "o";
    const [, part] = /^misc2.outer_first_mpls_(\w+)$/.exec(name) ?? [];
    if (part !== undefined) put("mpls0_o", value << BigInt(MPLS[part] as number));
    else if (name.endsWith(".ip_version")) put(`l3_type_${side}`, value === 4n ? 1n : 2n);
    else if (name === "outer.ip_protocol") {
      // The tool has two names for two places: the type of two bits, and the protocol of the header.
      put("protocol_o", value);
    } else if (name.endsWith(".cvlan_tag")) put("first_vlan_qualifier_o", value << 1n);
    else if (name.endsWith(".svlan_tag")) put("first_vlan_qualifier_o", value);
    else if (name.endsWith("second_cvlan_tag")) put("second_vlan_qualifier_o", value << 1n);
    else if (name.endsWith("second_svlan_tag")) put("second_vlan_qualifier_o", value);
    else if (name.endsWith(".tcp_flags"))
      FLAGS.forEach((flag, n) => put(`${flag}_${side}`, (value >> BigInt(8 - n)) & 1n));
    else if (name === "misc3.icmp_type") put(NAMES[name] as string, value << 24n);
    else if (name === "misc3.icmp_code") put("TCP_seq_number / ICMP_DW1", value << 16n);
    else put(NAMES[name] ?? `? ${name}`, value);
  }
  return found;
}

interface ToolRule {
  readonly tag: Record<string, bigint>;
  readonly actions: readonly string[];
}

const PROTOCOLS: Readonly<Record<string, readonly bigint[]>> = {
  l4_type_bwc_o: [0n, 6n, 17n],
  l4_type_o: [0n, 6n, 17n],
};

/** The rules that the tool prints, by the addresses of their entries. */
function toolRules(text: string): Map<string, ToolRule> {
  const rules = new Map<string, ToolRule>();
  for (const part of text.split(/^ +(?:RX |TX )?STE /m).slice(1)) {
    const [at = ""] = part.split(":");
    const lines = part.split("\n").map((line) => line.trim());
    const tagLine = lines[lines.indexOf("Tag:") + 1] ?? "";
    const tag: Record<string, bigint> = {};
    for (const one of tagLine === "Empty Tag" ? [] : tagLine.split(", ")) {
      const [name = "", value = ""] = one.split(": ");
      const [, number = value] = /\((0x[0-9a-f]+)\)/.exec(value) ?? [];
      const protocol = PROTOCOLS[name]?.[Number(number)];
      if (protocol !== undefined) tag["protocol_o"] = protocol;
      else tag[name === "protocol_next_header_o" ? "protocol_o" : name] = BigInt(number);
    }
    const actions = lines.slice(lines.indexOf("Actions:") + 1, lines.indexOf("Raw STE:"));
    rules.set(at, { tag, actions: actions.map((one) => one.replace(/ +\(0x\w+\)$/, "")).sort() });
  }
  return rules;
}

function actionsAsTool({ actions = [] }: Rule): string[] {
  return actions
    .map((one) => {
      if (one === "drop") return "Go To: DROP";
      if (typeof one !== "object") return JSON.stringify(one);
      if (one.tag !== undefined) return `Flow tag: flow_tag: 0x${Number(one.tag).toString(16)}`;
      if (one.tir !== undefined) return `Go To: TIR ${String(one.tir).slice(4)}`;
      if (one.table !== undefined) return `Go To: FT 0x22`;
      return String(one.count);
    })
    .sort();
}

/** Counters of entries and of actions have one form with us. */
function plainActions(actions: readonly string[]): string[] {
  return actions.map((one) => one.replace(/^Counter: (?:idx|counter_id): /, "counter ")).sort();
}

describe("entries of hardware steering", () => {
  const { scenario, findings } = importRules(golden("hardware.csv"), { format: "mlx5-dump" });
  const tool = toolRules(golden("hardware.txt"));
  const ours = (scenario?.rules ?? []).filter(({ name }) => name.startsWith("0x"));

  test("are all imported", () => {
    expect(findings.filter(({ severity }) => severity === "refused")).toEqual([]);
    expect(tool.size).toBe(golden("hardware.csv").match(/^4930,/gm)?.length);
    expect(new Set(ours.map(({ name }) => name.split(" ")[0]))).toEqual(new Set(tool.keys()));
  });

  test("ask for what the public steering dump tool reads in them", () => {
    for (const rule of ours) {
      const { tag } = tool.get(rule.name.split(" ")[0] as string) as ToolRule;
      expect([rule.name, asTool(rule)]).toEqual([rule.name, tag]);
    }
  });

  test("do what the tool reads in them", () => {
    for (const rule of ours) {
      const { actions } = tool.get(rule.name.split(" ")[0] as string) as ToolRule;
      expect([rule.name, plainActions(actionsAsTool(rule))]).toEqual([rule.name, plainActions(actions)]);
    }
  });
});

const rulesOf = (text: string, lenient = false): readonly Rule[] =>
  (importRules(text, { lenient }).scenario?.rules ?? []).filter(({ name }) => name.startsWith("0x"));
const reasonsOf = (text: string): string[] =>
  importRules(text, { lenient: true })
    .findings.filter(({ severity }) => severity === "refused")
    .map(({ reason }) => reason);

describe("actions of entries", () => {
  const actionsOf = (words: readonly string[], more: readonly string[] = []): unknown =>
    rulesOf(hardwareDump({ entries: [{ words, to: 0x50000001 }], more }), true)[0]?.actions;
  const END = { tir: "tir 0x171" };

  test.each<[string, readonly string[], unknown]>([
    ["a tag", ["0c0000ab"], { tag: 0xab }],
    ["a counter", ["14000010"], { count: "counter 0x10" }],
    ["a VLAN that is removed", ["08020002"], "pop_vlan"],
    ["a VLAN that is added", ["0a000c00", "8100a00b"], { push_vlan: { pcp: 5, dei: false, vid: 11 } }],
    [
      "a service VLAN that is added",
      ["0a000c00", "88a8100c"],
      { push_vlan: { tpid: "0x88a8", pcp: 0, dei: true, vid: 12 } },
    ],
    ["a tunnel that is removed", ["09001308"], { reformat: { type: "l2_tunnel_to_l2" } }],
    ["a register that is set", ["06952000", "00000077"], { modify: [{ set: "METADATA_REG_C_1", to: 0x77 }] }],
    [
      "a TTL that is less by one",
      ["070e2808", "000000ff"],
      {
        modify: [
          { add: "OUT_IP_TTL", by: -1 },
          { add: "OUT_IPV6_HOPLIMIT", by: -1 },
        ],
      },
    ],
  ])("%s", (_, words, action) => {
    expect(actionsOf(words)).toEqual([action, END]);
  });

  test("two changes are one action; a counter of the entry comes first", () => {
    const [rule] = rulesOf(
      hardwareDump({
        entries: [{ counter: 9, words: ["0c000001"], to: 0x10001000 }],
        behind: [{ at: 0x10001000, words: ["06942000", "00000005"], to: 0x50000001 }],
      }),
    );
    expect(rule?.actions).toEqual([
      { count: "counter 0x9" },
      { tag: 1 },
      { modify: [{ set: "METADATA_REG_C_0", to: 5 }] },
      END,
    ]);
  });

  test("an encapsulation has its headers in the device's memory", () => {
    const header = "02000000000b02000000000a0800".padEnd(100, "5");
    const words = ["0b0000c8", "00000020"];
    expect(actionsOf(words, [`4912,0x20,0x20,${header.padEnd(128, "0")}`])).toEqual([
      { reformat: { type: "l2_to_l2_tunnel", data: `0x${header}` } },
      END,
    ]);
    expect(reasonsOf(hardwareDump({ entries: [{ words, to: 0x50000001 }] }))).toEqual([
      "the dump does not contain the headers that it adds (4912: --extra_hw_res arg)",
    ]);
  });

  test("a list of changes has its pattern and its values in the device's memory", () => {
    const more = [
      "4911,0x30,06952000-0x1-Set: field: regc_1 field_offset: 0x0 length: 0x20,0595200000942000-0x3-Copy: dst_field: regc_1",
      "4912,0x40,0x40,000000000000007b0000000000000000",
    ];
    expect(actionsOf(["0e000030", "02000040"], more)).toEqual([
      {
        modify: [
          { set: "METADATA_REG_C_1", to: 0x7b },
          { copy: "METADATA_REG_C_0", into: "METADATA_REG_C_1", bits: 32 },
        ],
      },
      END,
    ]);
  });

  test.each([
    ["12000001", "a dump does not contain the state of an ASO object"],
    ["09000708", "it removes the Ethernet header alone, for an encapsulation without one"],
    ["1f000001", "the engine does not have PSP"],
    ["7f000001", "unknown action of the device"],
    ["0e000030", "the dump does not contain the pattern of the changes (4911: --extra_hw_res pat,arg)"],
  ])("%s is refused", (word, reason) => {
    const text = hardwareDump({ entries: [{ words: [word, "01000000"], to: 0x50000001 }] });
    expect(reasonsOf(text)).toContain(reason);
    expect(rulesOf(text, true)[0]?.notImported?.[0]).toContain(reason);
  });
});

describe("where frames go", () => {
  test.each<[string, unknown]>([
    ["VPORT,0x2", { vport: 2 }],
    ["UPLINK,", { vport: "uplink" }],
    ["DROP,", "drop"],
    ["ALLOW,", "default_miss"],
    ["FT,0x12", { table: "fdb level 2" }],
  ])("%s", (to, action) => {
    const text = hardwareDump({ type: 2, entries: [{ words: [], to: 0x50000009 }], more: [`4910,0x50000009,${to}`] });
    expect(rulesOf(text)[0]?.actions).toEqual([action]);
  });

  test("an address that nothing names is refused", () => {
    expect(reasonsOf(hardwareDump({ entries: [{ words: [], to: 0x5000ffff }] }))).toEqual([
      "the dump does not say where this address leads",
    ]);
  });

  test("a rule that one side of the FDB has is for its frames", () => {
    const both = { words: [], to: 0x50000001 };
    const text = hardwareDump({ type: 2, entries: [both, { ...both, tag: "0a010204" }], transmit: [both] });
    expect(rulesOf(text).map(({ match }) => match)).toEqual([
      { "outer.ip_version": 4, "outer.ipv4_src": "10.1.2.3" },
      { "outer.ip_version": 4, "outer.ipv4_src": "10.1.2.4", "ext.direction": 1 },
    ]);
  });

  test("frames that match nothing go to the table for them", () => {
    const { scenario } = importRules(hardwareDump({ miss: true, entries: [{ words: [], to: 0x50000001 }] }));
    expect(scenario?.rules?.find(({ name }) => name.endsWith("no rule"))).toEqual({
      name: "nic_rx level 1: no rule",
      table: "nic_rx level 1",
      priority: 65535,
      actions: [{ table: "nic_rx level 2" }],
    });
  });
});

describe("what a dump does not say", () => {
  test("a dump of the driver alone has no rules", () => {
    const text = hardwareDump({ entries: [] }).replace(/^49[^]*/m, "");
    expect(reasonsOf(text)).toEqual([
      "the driver's dump does not have the rules of hardware steering; the public steering dump tool adds them (4930)",
    ]);
  });

  test("ports without a protocol are those of TCP or of UDP", () => {
    const text = hardwareDump({
      word: 24,
      mask: "0000ffff",
      layer3: false,
      entries: [{ words: [], to: 0x50000001, tag: "00000050" }],
    });
    expect(rulesOf(text).map(({ match }) => match)).toEqual([{ "outer.tcp_dport": 80 }, { "outer.udp_dport": 80 }]);
  });

  test.each([
    [23, "ffff0000", "it compares bits 0xffff0000 of word 23 of the device's header layout, which no match field has"],
    [28, "0000ffff", "the dump does not say which vport has the gvmi 0x203"],
    [94, "ff000000", "it compares bits 0xff000000 of word 94 of the device's header layout, which no match field has"],
  ])("word %i", (word, mask, reason) => {
    const text = hardwareDump({ word, mask, layer3: false, entries: [{ words: [], to: 0x50000001 }] });
    expect(reasonsOf(text)).toEqual([reason]);
    expect(rulesOf(text, true)).toEqual([]);
  });

  test("the own gvmi is the PF", () => {
    const text = hardwareDump({
      word: 28,
      mask: "0000ffff",
      layer3: false,
      entries: [{ words: [], to: 0x50000001, tag: "00000007" }],
    });
    expect(rulesOf(text)[0]?.match).toEqual({ "misc.source_port": 0 });
  });

  test("entries of ranges are refused", () => {
    const text = hardwareDump({ entries: [{ words: [], to: 0x50000001 }] }).replace(/0x04(?=00)/, "0x07");
    expect(reasonsOf(text)).toEqual(["entries that compare ranges of fields"]);
  });

  test("records are named with their places", () => {
    expect(reasonsOf("4100,0x1,0x2,3,0,0,1\n")).toEqual(["no context (4000) precedes it"]);
    const text = hardwareDump({ entries: [{ words: [], to: 0x50000001 }], more: ["4999,1", "4930,0x1,300,0x12"] });
    expect(reasonsOf(text)).toEqual([
      "unknown record type of hardware steering",
      "an entry has an address and 64 bytes in hexadecimal",
    ]);
  });
});

test("imported rules steer frames", async () => {
  const text = hardwareDump({
    entries: [
      { words: ["0c000015"], to: 0x50000001 },
      { words: [], to: 0x50000001, tag: "0a010204" },
    ],
  });
  const { device } = await loadScenario(importRules(text).scenario as Scenario);
  const sent = (source: string): unknown =>
    device
      .receive(
        1,
        buildFrame([{ header: "ethernet" }, { header: "ipv4", source, destination: "10.9.9.9" }, { header: "udp" }]),
      )
      .to.map(({ name }) => name);
  expect(sent("10.1.2.3")).toEqual(["qp:tir 0x171"]);
  expect(sent("10.1.2.4")).toEqual(["qp:tir 0x171"]);
  expect(sent("10.1.2.5")).toEqual([]);
});
