/**
 * Random rules of each language: every rule and field stands where it was written. Of planted
 * mistakes every repair, made in the text, brings the frame to its rule after a fresh import.
 */
import { describe, expect, it } from "vitest";
import { exportRules } from "../../src/export/index.js";
import { openExplainer } from "../../src/explain/index.js";
import { ImportedRules, importRules, respelled, type TextEdit } from "../../src/import/index.js";
import { buildFrame } from "../../src/packet/builder/build.js";
import { parsePacket } from "../../src/packet/notation/parse.js";
import { hexOf } from "../../src/base/hex.js";
import { matchParameters, type DeviceMatch } from "../../src/mlx5dv/index.js";
import { loadScenario, type Scenario } from "../../src/scenario/index.js";
import { seedFor } from "../assembly/support/core.js";
import { Random } from "../oracle/generate/random.js";
import { rounds } from "../support/tier.js";

const RULES = rounds(200);
const MISTAKES = rounds(30);
/** Rules of one text: JSON is read whole for each value. */
const IN_TEXT = 20;
const FILE = "rules";

interface Values {
  readonly dst: string;
  readonly dport: string;
}

interface Language {
  readonly rule: (values: Values, n: number) => string;
  readonly head?: string;
  readonly tail?: string;
  readonly between?: string;
  /** The fields of the two values. */
  readonly fields: readonly [string, string];
  /** What follows the addresses in its frames. */
  readonly upper?: (dport: string) => string;
  /** A word that a rule has once, with two letters swapped. */
  /** What its rules are in a scenario. */
  readonly kind?: "flow";
  readonly misspelled?: readonly [word: string, wrong: string];
}

const IPV4_TCP = ["outer.ipv4_dst", "outer.tcp_dport"] as const;
const FILTER = "tc filter add dev eth0 ingress protocol ip";

const LANGUAGES: Readonly<Record<string, Language>> = {
  testpmd: {
    rule: ({ dst, dport }, n) =>
      `flow create 0 ingress pattern eth / ipv4 dst is ${dst} / udp dst is ${dport} / end actions queue index ${n % 8} / end`,
    fields: ["outer.ipv4_dst", "outer.udp_dport"],
    upper: (dport) => `udp 5 > ${dport}`,
    misspelled: ["queue", "qeueu"],
  },
  "tc commands": {
    rule: ({ dst, dport }, n) =>
      `${FILTER} prio ${n + 1} flower skip_sw ip_proto tcp dst_ip ${dst} dst_port ${dport} action drop`,
    fields: IPV4_TCP,
    misspelled: ["dst_port", "dst_prot"],
  },
  "tc filter show": {
    rule: ({ dst, dport }, n) =>
      `filter protocol ip pref ${n + 1} flower chain 0 handle 0x1\n  eth_type ipv4\n  ip_proto tcp\n  dst_ip ${dst}\n  dst_port ${dport}\n  skip_sw\n\taction order 1: gact action drop`,
    fields: IPV4_TCP,
  },
  "tc -j filter show": {
    head: "[",
    tail: "]",
    between: ",\n",
    rule: ({ dst, dport }, n) => {
      const keys = { eth_type: "ipv4", ip_proto: "tcp", dst_ip: dst, dst_port: Number(dport) };
      const actions = [{ order: 1, kind: "gact", control_action: { type: "drop" } }];
      return JSON.stringify({
        protocol: "ip",
        pref: n + 1,
        kind: "flower",
        chain: 0,
        options: { handle: 1, keys, actions },
      });
    },
    fields: IPV4_TCP,
  },
  "ovs-ofctl": {
    rule: ({ dst, dport }) => `table=0,priority=7,tcp,nw_dst=${dst},tp_dst=${dport},actions=drop`,
    fields: IPV4_TCP,
    misspelled: ["tp_dst", "tp_dts"],
  },
  "ovs-dpctl": {
    rule: ({ dst, dport }) =>
      `recirc_id(0),in_port(1),eth_type(0x0800),ipv4(dst=${dst},proto=6,frag=no),tcp(dst=${dport}), packets:0, bytes:0, used:never, actions:drop`,
    fields: IPV4_TCP,
    misspelled: ["proto", "porto"],
  },
  ethtool: {
    rule: ({ dst, dport }, n) => `ethtool -N eth0 flow-type tcp4 dst-ip ${dst} dst-port ${dport} action 1 loc ${n}`,
    fields: IPV4_TCP,
    misspelled: ["dst-port", "dst-prot"],
  },
  "ethtool -n": {
    head: `4 RX rings available\nTotal ${RULES} rules\n\n`,
    rule: ({ dst, dport }, n) =>
      `Filter: ${n}\n\tRule Type: TCP over IPv4\n\tSrc IP addr: 0.0.0.0 mask: 255.255.255.255\n\tDest IP addr: ${dst} mask: 0.0.0.0\n\tTOS: 0x0 mask: 0xff\n\tSrc port: 0 mask: 0xffff\n\tDest port: ${dport} mask: 0x0\n\tAction: Direct to queue 1\n`,
    fields: IPV4_TCP,
  },
  nft: {
    head: `table netdev t {\n chain in {\n  type filter hook ingress device "eth0" priority 0; policy accept; flags offload\n  `,
    between: "\n  ",
    tail: "\n }\n}\n",
    rule: ({ dst, dport }) => `ip daddr ${dst} tcp dport ${dport} drop`,
    fields: IPV4_TCP,
    misspelled: ["drop", "dorp"],
  },
  "nft -j": {
    head: `{"nftables": [{"metainfo": {"version": "1.0.6", "json_schema_version": 1}},\n{"table": {"family": "netdev", "name": "t"}},\n{"chain": {"family": "netdev", "table": "t", "name": "in", "dev": "eth0", "type": "filter", "hook": "ingress", "prio": 0}},\n`,
    tail: "]}",
    between: ",\n",
    rule: ({ dst, dport }) => {
      const match = (protocol: string, field: string, right: string | number): object => ({
        match: { op: "==", left: { payload: { protocol, field } }, right },
      });
      const expr = [match("ip", "daddr", dst), match("tcp", "dport", Number(dport)), { drop: null }];
      return JSON.stringify({ rule: { family: "netdev", table: "t", chain: "in", expr } });
    },
    fields: IPV4_TCP,
  },
  "ip xfrm": {
    rule: ({ dst, dport }, n) =>
      `ip xfrm state add src 192.0.2.9 dst ${dst} proto esp spi ${dport} reqid ${n + 1} mode transport aead 'rfc4106(gcm(aes))' 0x00112233445566778899aabbccddeeffa1b2c3d4 128 offload packet dev eth0 dir in`,
    fields: ["outer.ipv4_dst", "misc.outer_esp_spi"],
    kind: "flow",
    upper: (dport) => `esp spi ${dport}`,
    misspelled: ["reqid", "reqdi"],
  },
};

interface Written {
  readonly text: string;
  readonly values: readonly Values[];
  /** Where rules begin. */
  readonly starts: readonly number[];
}

function written({ rule, head = "", tail = "\n", between = "\n" }: Language, random: Random, n: number): Written {
  const ports = new Set<number>();
  while (ports.size < n) ports.add(10_000 + random.below(50_000));
  const values = [...ports].map((dport, i): Values => ({
    dst: `10.${1 + random.below(250)}.${1 + (i >> 7)}.${1 + (i & 127)}`,
    dport: String(dport),
  }));
  let text = head;
  const starts = values.map((one, i) => {
    if (i > 0) text += between;
    const at = text.length;
    text += rule(one, i);
    return at;
  });
  return { text: text + tail, values, starts };
}

function placeOf(text: string, at: number): { line: number; column: number } {
  const lines = text.slice(0, at).split("\n");
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

function imported(text: string): ImportedRules {
  const sources = [{ file: FILE, text }];
  const result = importRules(sources, { namePlaces: true });
  const refused = result.findings.filter(({ severity }) => severity === "refused");
  expect(refused).toEqual([]);
  if (result.scenario === null) throw new Error("nothing was imported");
  return new ImportedRules(sources, {}, result.scenario, result);
}

/** The names of the rules of the text, in its order. */
function named(rules: ImportedRules): string[] {
  const byPlace = [...rules.elements].toSorted(([, a], [, b]) => a.line - b.line || a.column - b.column);
  return byPlace.map(([name]) => name);
}

function applied(text: string, edits: readonly TextEdit[]): string {
  const lines = text.split("\n");
  for (const { line, column, before, after } of edits.toSorted((a, b) => b.line - a.line || b.column - a.column)) {
    const at = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
    const whole = lines.join("\n");
    expect(whole.startsWith(before, at), `${line}:${column} ${before}`).toBe(true);
    lines.splice(0, lines.length, ...(whole.slice(0, at) + after + whole.slice(at + before.length)).split("\n"));
  }
  return lines.join("\n");
}

const frameFor = ({ upper = (to) => `tcp 5 > ${to}` }: Language, { dst, dport }: Values): Uint8Array =>
  buildFrame(parsePacket(`ipv4 192.0.2.9 > ${dst} / ${upper(dport)}`).layers);

async function hits(rules: ImportedRules, frame: Uint8Array): Promise<string[]> {
  const { device } = await loadScenario(rules.scenario);
  return device.receive(1, frame).rules.map(({ name }) => name);
}

describe.each(Object.entries(LANGUAGES))("%s", (name, language) => {
  const random = new Random(seedFor(`planted in ${name}`));

  it(`${RULES} rules and their fields stand where they were written`, () => {
    for (let n = 0; n < RULES; n += IN_TEXT) checkPlaces(Math.min(IN_TEXT, RULES - n));
  });

  function checkPlaces(count: number): void {
    const { text, values, starts } = written(language, random, count);
    const rules = imported(text);
    const names = named(rules);
    expect(names).toHaveLength(count);
    for (const [n, { dst, dport }] of values.entries()) {
      const rule = names[n] as string;
      const { line, column } = placeOf(text, starts[n] as number);
      expect(rules.elements.get(rule)?.line, rule).toBe(line);
      if (name !== "nft -j") expect(rules.elements.get(rule)?.column, rule).toBe(column);
      // A mask is words of its field, too.
      const words = new Map(
        rules.words
          .fieldsOf(rule)
          .toReversed()
          .map((one) => [one.field, one]),
      );
      for (const [i, value] of [dst, dport].entries()) {
        const field = words.get(language.fields[i] as string);
        expect(field?.value, `${rule} ${language.fields[i]}`).toBe(value);
        const { line: at, column: from, text: phrase } = field!;
        const lines = text.split("\n");
        const start = lines.slice(0, at - 1).reduce((sum, one) => sum + one.length + 1, 0) + from - 1;
        expect(text.startsWith(phrase, start)).toBe(true);
        expect(start + phrase.length).toBe(text.indexOf(value, starts[n]) + value.length);
      }
    }
  }

  it(`${MISTAKES} planted mistakes are mended by every repair`, async () => {
    let [repairs, exact] = [0, 0];
    for (let n = 0; n < MISTAKES; n++) {
      const { text, values, starts } = written(language, random, 6);
      const at = random.below(values.length);
      const right = values[at] as Values;
      const key = random.pick(["dst", "dport"] as const);
      const wrong =
        key === "dst" ? right.dst.replace(/^10/, String(11 + random.below(80))) : String(60_000 + random.below(5000));
      const place = text.indexOf(right[key], starts[at]);
      const planted = text.slice(0, place) + wrong + text.slice(place + right[key].length);
      const rules = imported(planted);
      const rule = named(rules)[at] as string;
      const frame = frameFor(language, right);
      expect(await hits(rules, frame)).not.toContain(rule);
      const explainer = await openExplainer((await loadScenario(rules.scenario)).device);
      const why = rules.inOwnWords(explainer.why(1, frame, { kind: language.kind ?? "rule", name: rule }));
      for (const { edits, of } of why.repairs) {
        if (of !== "rule") continue;
        expect(edits, `${planted}\n${rule}: ${JSON.stringify(why.repairs)}`).toBeDefined();
        const mended = applied(planted, edits ?? []);
        const after = imported(mended);
        expect(await hits(after, frame), mended).toContain(named(after)[at]);
        repairs++;
        if (mended === text) exact++;
      }
    }
    console.log(`${name}: ${repairs} repairs, ${exact} of ${MISTAKES} as it was before the mistake`);
    expect(exact).toBe(MISTAKES);
  });

  const { misspelled } = language;
  if (misspelled === undefined) return;
  it(`${MISTAKES} misspelled words are corrected`, () => {
    const [word, wrong] = misspelled;
    for (let n = 0; n < MISTAKES; n++) {
      const { text, starts } = written(language, random, 6);
      const at = text.indexOf(word, random.pick(starts));
      const planted = text.slice(0, at) + wrong + text.slice(at + word.length);
      const { sources, made } = respelled([{ file: FILE, text: planted }], {});
      expect(sources[0]?.text).toBe(text);
      const places = made.map(({ edit: { line, column, before, after } }) => [line, column, before, after]);
      const { line, column } = placeOf(text, at);
      expect(places).toEqual([[line, column, wrong, word]]);
    }
  });
});

it.each([
  ["icp,actions=drop", "icmp is as near as ip"],
  ["flow create 0 gress pattern eth / end actions queue index 1 / end", "its actions are of ingress rules"],
  ["flow create 0 ingress pattern eth / ipv5 / end actions drop / end", "ipv6 is as near as ipv4"],
])("a guess is not written into a text: %s, where %s", (text) => {
  const { sources, made } = respelled([{ file: FILE, text }], {});
  expect([sources[0]?.text, made]).toEqual([text, []]);
});

/** Values of the device's own notation: rules have places, and fields the device's names. */
describe("texts of programs", () => {
  const random = new Random(seedFor("places of records"));
  const matches = Array.from({ length: RULES }, () => ({
    "outer.ip_version": 4,
    "outer.ipv4_dst": `10.${random.below(256)}.${random.below(256)}.${random.below(256)}`,
    "outer.tcp_dport": 1 + random.below(65_535),
  }));

  function recording(): string {
    const ofRule = (n: number): DeviceMatch => matchParameters(matches[n]!);
    const { mask, match_criteria_enable } = ofRule(0);
    const made = { table: "0x20", priority: 0, match_criteria_enable, mask: hexOf(mask.match_buf), returns: "0x30" };
    const calls = [
      { call: "mlx5dv_dr_domain_create", type: 0, returns: "0x10" },
      { call: "mlx5dv_dr_table_create", domain: "0x10", level: 1, returns: "0x20" },
      { call: "mlx5dv_dr_matcher_create", ...made },
      { call: "mlx5dv_dr_action_create_drop", returns: "0x40" },
      ...matches.map((_, n) => {
        const returns = `0x${(0x1000 + 16 * n).toString(16)}`;
        const value = hexOf(ofRule(n).value.match_buf);
        return { call: "mlx5dv_dr_rule_create", matcher: "0x30", value, actions: ["0x40"], returns };
      }),
    ];
    return `${calls.map((one) => JSON.stringify(one)).join("\n")}\n`;
  }

  function dump(): string {
    const scenario: Scenario = {
      flowsteer: 1,
      tables: [{ name: "t", level: 1 }],
      rules: matches.map((match, n) => ({ name: `r${n}`, table: "t", match, actions: ["drop"] })),
    };
    return exportRules(scenario, { format: "dump" }).text ?? "";
  }

  it.each([
    ["a recording", recording(), /"mlx5dv_dr_rule_create"/],
    ["a steering dump", dump(), /^3300,/],
  ])(`${RULES} rules of %s are at their lines`, (_, text, rule) => {
    const { scenario, elementOf } = importRules([{ file: FILE, text }], { namePlaces: true });
    const lines = text.split("\n").flatMap((line, n) => (rule.test(line) ? [n + 1] : []));
    expect(lines).toHaveLength(RULES);
    expect(scenario?.rules?.map(({ name }) => name)).toEqual(lines.map((line) => `${FILE}:${line}`));
    expect(scenario?.rules?.map((_, n) => elementOf(`rules[${n}]`)?.line)).toEqual(lines);
    expect(scenario?.rules?.map(({ match }) => match?.["outer.ipv4_dst"])).toEqual(
      matches.map((match) => match["outer.ipv4_dst"]),
    );
  });
});
