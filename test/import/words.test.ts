/** The words of rules: which set a field, and edits that change it. Texts are made from parts, so their places are known. */
import { describe, expect, it } from "vitest";
import { importRules, RuleWords, type TextEdit } from "../../src/import/index.js";
import { seedFor } from "../assembly/support/core.js";
import { Random } from "../oracle/generate/random.js";

/** A part of a rule: words before a value, the value, the field that it sets, and what the language calls it. */
interface Part {
  readonly words: string;
  readonly field: string;
  readonly name: string;
  readonly value: (random: Random) => string;
}

const byte = (random: Random): number => 1 + random.below(254);
const port = (random: Random): string => String(1 + random.below(65_534));
const ipv4 = (random: Random): string => `10.${byte(random)}.${byte(random)}.${byte(random)}`;
const mac = (random: Random): string =>
  ["02", ...Array.from({ length: 5 }, () => byte(random).toString(16).padStart(2, "0"))].join(":");
const vlan = (random: Random): string => String(1 + random.below(4094));

interface Language {
  readonly line: (parts: readonly string[], n: number) => string;
  readonly parts: readonly Part[];
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  testpmd: {
    line: ([smac = "", dst = "", dport = ""], n) =>
      `flow create 0 ingress pattern eth ${smac} / ipv4 ${dst} / udp ${dport} / end actions queue index ${n} / end`,
    parts: [
      { words: "src is ", field: "outer.smac", name: "eth src", value: mac },
      { words: "dst is ", field: "outer.ipv4_dst", name: "ipv4 dst", value: ipv4 },
      { words: "dst is ", field: "outer.udp_dport", name: "udp dst", value: port },
    ],
  },
  tc: {
    line: ([dmac = "", src = "", dport = ""], n) =>
      `tc filter add dev eth0 ingress protocol ip prio ${n + 1} flower skip_sw ${dmac} ip_proto tcp ${src} ${dport} action drop`,
    parts: [
      { words: "dst_mac ", field: "outer.dmac", name: "dst_mac", value: mac },
      { words: "src_ip ", field: "outer.ipv4_src", name: "src_ip", value: ipv4 },
      { words: "dst_port ", field: "outer.tcp_dport", name: "dst_port", value: port },
    ],
  },
  openflow: {
    line: ([vid = "", dst = "", dport = ""]) => `priority=7,tcp,${vid},${dst},${dport},actions=drop`,
    parts: [
      { words: "dl_vlan=", field: "outer.first_vid", name: "dl_vlan", value: vlan },
      { words: "nw_dst=", field: "outer.ipv4_dst", name: "nw_dst", value: ipv4 },
      { words: "tp_dst=", field: "outer.tcp_dport", name: "tp_dst", value: port },
    ],
  },
  ethtool: {
    line: ([src = "", dst = "", dport = ""], n) =>
      `ethtool -N eth0 flow-type tcp4 ${src} ${dst} ${dport} action 1 loc ${n}`,
    parts: [
      { words: "src-ip ", field: "outer.ipv4_src", name: "src-ip", value: ipv4 },
      { words: "dst-ip ", field: "outer.ipv4_dst", name: "dst-ip", value: ipv4 },
      { words: "dst-port ", field: "outer.tcp_dport", name: "dst-port", value: port },
    ],
  },
  nft: {
    line: ([src = "", dport = ""]) => `nft add rule netdev filter ingress ${src} ${dport} drop`,
    parts: [
      { words: "ip saddr ", field: "outer.ipv4_src", name: "ip saddr", value: ipv4 },
      { words: "udp dport ", field: "outer.udp_dport", name: "udp dport", value: port },
    ],
  },
};
const HEADS: Readonly<Record<string, readonly string[]>> = {
  nft: [
    "nft add table netdev filter",
    "nft add chain netdev filter ingress '{ type filter hook ingress device eth0 priority 0; flags offload; }'",
  ],
};
const RULES = 40;
const FILE = "rules";

function wordsOf(text: string): RuleWords {
  const sources = [{ file: FILE, text }];
  const result = importRules(sources, { namePlaces: true });
  expect(result.findings.filter(({ severity }) => severity === "refused")).toEqual([]);
  return new RuleWords(sources, {}, result);
}

function applied(text: string, edits: readonly TextEdit[]): string {
  const lines = text.split("\n");
  for (const { line, column, before, after } of edits) {
    const whole = lines[line - 1] ?? "";
    expect(whole.slice(column - 1)).toContain(before);
    lines[line - 1] = whole.slice(0, column - 1) + whole.slice(column - 1).replace(before, after);
  }
  return lines.join("\n");
}

describe.each(Object.entries(LANGUAGES))("%s", (name, { line, parts }) => {
  const random = new Random(seedFor(`words of ${name}`));
  const head = HEADS[name] ?? [];
  const values = Array.from({ length: RULES }, () => parts.map(({ value }) => value(random)));
  const lines = values.map((own, n) =>
    line(
      parts.map(({ words }, i) => words + (own[i] ?? "")),
      n,
    ),
  );
  const text = [...head, ...lines].join("\n");
  const ruleAt = (n: number): string => `${FILE}:${head.length + n + 1}`;

  it("has the words of each field at their place", () => {
    const all = wordsOf(text);
    for (const [n, own] of values.entries()) {
      const found = new Map(all.fieldsOf(ruleAt(n)).map((one) => [one.field, one]));
      for (const [i, part] of parts.entries()) {
        const words = found.get(part.field);
        expect(words, `${ruleAt(n)} ${part.field}`).toMatchObject({ name: part.name, line: head.length + n + 1 });
        expect(words?.text.endsWith(part.words + (own[i] ?? ""))).toBe(true);
        expect(lines[n]?.startsWith(words?.text ?? "?", (words?.column ?? 0) - 1)).toBe(true);
      }
    }
  });

  it("changes a field by an edit, and nothing else", () => {
    const all = wordsOf(text);
    const before = importRules([{ file: FILE, text }], { namePlaces: true }).scenario;
    for (const [n, own] of values.entries()) {
      const i = random.below(parts.length);
      const part = parts[i];
      const was = own[i];
      if (part === undefined || was === undefined) continue;
      const becomes = part.value(random);
      if (becomes === was) continue;
      const edits = all.editsFor(ruleAt(n), [{ field: part.field, before: was, after: becomes }]);
      expect(edits, `${ruleAt(n)} ${part.field} ${was} to ${becomes}`).toHaveLength(1);
      const edited = applied(text, edits ?? []);
      expect(edited).toBe(
        text
          .split("\n")
          .map((one, at) => (at === head.length + n ? one.replace(part.words + was, part.words + becomes) : one))
          .join("\n"),
      );
      const after = importRules([{ file: FILE, text: edited }], { namePlaces: true }).scenario;
      const list = before?.rules ?? before?.hostRules ?? [];
      const now = after?.rules ?? after?.hostRules ?? [];
      expect(now.filter((one, at) => JSON.stringify(one) !== JSON.stringify(list[at]))).toHaveLength(1);
    }
  });
});

it("finds no edit where none makes the change", () => {
  const all = wordsOf("flow create 0 ingress pattern eth / ipv4 dst is 10.0.0.7 / end actions drop / end");
  expect(all.editsFor("rules:1", [{ field: "outer.ip_version", before: "4", after: "6" }])).toBeNull();
  expect(all.editsFor("rules:1", [{ field: "outer.udp_dport", before: null, after: "53" }])).toBeNull();
  expect(all.editsFor("rules:9", [{ field: "outer.ipv4_dst", before: "10.0.0.7", after: "10.0.0.8" }])).toBeNull();
});

it("takes a field out with the words that name it", () => {
  const all = wordsOf("priority=7,tcp,nw_dst=10.0.0.7,tp_dst=80,actions=drop");
  expect(all.editsFor("rules:1", [{ field: "outer.ipv4_dst", before: "10.0.0.7", after: null }])).toEqual([
    { file: "rules", line: 1, column: 16, before: "nw_dst=10.0.0.7,", after: "" },
  ]);
});

it.each([
  [
    "flow create 0 ingress pattern eth src is 02:00:00:00:00:01 / ipv4 dst is 10.0.0.7 / end actions drop / end",
    "outer.ipv4_dst",
    "10.0.0.7",
  ],
  [
    "tc filter add dev eth0 ingress protocol ip prio 1 flower skip_sw ip_proto tcp src_ip 10.0.0.1 dst_port 80 action drop",
    "outer.tcp_dport",
    "80",
  ],
  ["ethtool -N eth0 flow-type tcp4 src-ip 10.0.0.1 dst-port 80 action 1 loc 1", "outer.ipv4_src", "10.0.0.1"],
])("an edit that takes a field out stands at its place: %s", (text, field, before) => {
  const edits = wordsOf(text).editsFor("rules:1", [{ field, before, after: null }]);
  expect(edits).toHaveLength(1);
  for (const { column, before: words } of edits ?? []) expect(text.startsWith(words, column - 1)).toBe(true);
  const { scenario } = importRules([{ file: FILE, text: applied(text, edits ?? []) }], { namePlaces: true });
  const [rule] = [...(scenario?.hostRules ?? []), ...(scenario?.rules ?? [])].filter(({ name }) => name === "rules:1");
  expect(Object.keys(rule?.match ?? {})).not.toContain(field);
  expect(Object.keys(rule?.match ?? {}).length).toBeGreaterThan(0);
});

it("has no words of rules that no element says", () => {
  const text = "priority=7,tcp,tp_dst=80,actions=drop";
  const { scenario, elementOf } = importRules([{ file: FILE, text }], { namePlaces: true });
  const elements = scenario?.rules?.map(({ name }, n) => [name, elementOf(`rules[${n}]`)?.text]);
  expect(elements).toEqual([
    ["driver: to table 0", undefined],
    ["rules:1", text],
    ["driver: table 0: no flow", undefined],
  ]);
});
