/** Imported rules in the words of their texts: names of fields in records, findings about elements, words of formats. */
import { describe, expect, it } from "vitest";
import { openExplainer } from "../../src/explain/index.js";
import { buildFrame } from "../../src/packet/builder/build.js";
import { parsePacket } from "../../src/packet/notation/parse.js";
import { loadScenario } from "../../src/scenario/index.js";
import { formatWords, IMPORT_FORMATS, ImportedRules, importRules, isUnclaimed } from "../../src/import/index.js";

const TEXT = `flow create 0 ingress pattern eth / ipv4 / udp dst is 53 / end actions queue index 1 / end
flow create 0 ingress pattern eth / ipv4 dst is 192.0.2.1 / end actions drop / end`;

function imported(text: string): ImportedRules {
  const sources = [{ file: "rules", text }];
  const result = importRules(sources, { namePlaces: true, lenient: true });
  if (result.scenario === null) throw new Error("nothing was imported");
  return new ImportedRules(sources, {}, result.scenario, result);
}

describe("ImportedRules", () => {
  it("names the fields of a record as the rules name them that it is about", () => {
    const record = [
      { rule: { name: "rules:1" }, differences: [{ field: "outer.udp_dport" }] },
      { rule: { name: "rules:2" }, matched: [{ field: "outer.ipv4_dst" }, { field: "outer.tcp_dport" }] },
    ];
    expect(Object.fromEntries(imported(TEXT).fieldNames(record))).toEqual({
      "rules:1": { "outer.udp_dport": "udp dst" },
      "rules:2": { "outer.ipv4_dst": "ipv4 dst", "outer.tcp_dport": expect.not.stringContaining("outer") as string },
    });
  });

  it("leaves out findings about rules that no element says", () => {
    const rules = imported(TEXT);
    const dead = (name: string) => ({ id: "dead-rule", objects: [{ kind: "rule", name }] });
    const other = { id: "unused-table", objects: [{ kind: "table", name: "root" }] };
    expect(rules.aboutElements([dead("rules:1"), dead("driver: port 0 receives"), other])).toEqual([
      dead("rules:1"),
      other,
    ]);
  });

  it("leaves out tables of the import's own rules, to which no frame gets", () => {
    const rules = imported(`${TEXT}\nflow create 0 ingress group 1 pattern eth / end actions queue index 1 / end`);
    const unreached = (name: string) => ({ id: "unreached-table", objects: [{ kind: "table", name }] });
    const found = [unreached("driver's"), unreached("nic_rx group 1")];
    expect(rules.aboutElements(found)).toEqual([unreached("nic_rx group 1")]);
  });
});

describe("a rule of a connection", () => {
  const ovs = [
    "table=0,priority=10,in_port=1,tcp,ct_state=-trk,actions=ct(table=1,zone=5)",
    "table=1,priority=10,tcp,ct_state=+trk+new,actions=drop",
    "table=1,priority=9,tcp,ct_state=+trk+est,ct_zone=7,actions=output:2",
  ].join("\n");
  const filter = "tc filter add dev eth0 ingress protocol ip prio 1";
  const tc = [
    `${filter} chain 0 flower ip_proto tcp ct_state -trk action ct zone 5 pipe action goto chain 1`,
    `${filter} chain 1 flower ip_proto tcp ct_state +trk+new action drop`,
    `${filter} chain 1 flower ip_proto tcp ct_state +trk+est ct_zone 7 action drop`,
  ].join("\n");
  it.each([
    ["ovs", ovs],
    ["tc", tc],
  ])("%s: has the words of the text, and no edit makes the frame one of another connection", async (_, text) => {
    const rules = imported(text);
    const explainer = await openExplainer((await loadScenario(rules.scenario)).device);
    const frame = buildFrame(parsePacket("ipv4 10.0.0.1 > 10.0.0.7 / tcp 1 > 22").layers);
    const why = (name: string) => rules.inOwnWords(explainer.why(1, frame, { kind: "rule", name }));
    const [state, zone] = [why("rules:2"), why("rules:3")];
    expect(state.sentence).toContain("ct_state is +trk+est, not +trk+new (all frames are taken as part of established");
    expect(zone.sentence).toContain("ct_zone is 5, not 7");
    expect([...state.repairs, ...zone.repairs].filter(({ of }) => of === "rule")).toEqual([]);
  });
});

describe("a value in whose place no other stands", () => {
  it.each([
    ["flow create 0 ingress pattern eth / ipv4 / udp dst is 4789 / vxlan vni is 5 / end actions drop / end", "udp dst"],
    [
      "tc filter add dev vxlan0 ingress protocol ip prio 1 flower enc_key_id 5 enc_dst_port 4789 action drop",
      "enc_dst_port",
    ],
  ])("%s: has the name of the text", (text, name) => {
    const rules = imported(text);
    expect(rules.namesOfFields("rules:1")("outer.udp_dport", "rules:1")).toBe(name);
  });
});

describe("a repair that edits a line in several places", () => {
  const line =
    "flow create 0 ingress pattern eth / ipv4 dst is 10.0.0.7 ttl is 9 / tcp dst is 443 / end actions drop / end";
  const frame = buildFrame(parsePacket("ipv4 10.0.0.1 > 10.0.0.8 ttl 10 / tcp 1 > 444").layers);

  it("writes the line as a whole, and its edits do not overlap", async () => {
    const rules = imported(line);
    const explainer = await openExplainer((await loadScenario(rules.scenario)).device);
    const { repairs } = rules.inOwnWords(explainer.why(1, frame, { kind: "rule", name: "rules:1" }));
    const { edits = [], sentence } = repairs.find(({ of }) => of === "rule") ?? {};
    const mended = line.replace("10.0.0.7 ttl is 9", "10.0.0.8 ttl is 10").replace("443", "444");
    expect(sentence).toBe(`rules:1: write "${mended}".`);
    expect(edits.map(({ before, after }) => [before, after])).toEqual([
      ["ipv4 dst is 10.0.0.7 ttl is 9", "ipv4 dst is 10.0.0.8 ttl is 10"],
      ["tcp dst is 443", "tcp dst is 444"],
    ]);
  });
});

describe("a rule that carries on the flow of a line", () => {
  it("is a part of the line that drops the frame", async () => {
    const rules = imported("priority=10,ip,actions=dec_ttl,output:1,dec_ttl,output:2\n");
    const explainer = await openExplainer((await loadScenario(rules.scenario)).device);
    const { layers } = parsePacket("ipv4 10.0.0.1 > 10.0.0.7 ttl 1 / udp 1 > 2");
    const { sentence } = rules.inOwnWords(explainer.why(1, buildFrame(layers), "dropped"));
    expect(sentence).toBe('rule "rules:1" (step 1: TTL 0 or 1) drops the frame');
  });

  const LINES = "in_port=1,ipv6,actions=output:2,dec_ttl,output:3,dec_ttl,output:4\n";

  it("is named where a frame is lost on its way to a port", async () => {
    const rules = imported(LINES);
    const explainer = await openExplainer((await loadScenario(rules.scenario)).device);
    const frame = buildFrame(parsePacket("ipv6 hop_limit 2 / udp").layers);
    const why = (target: Parameters<typeof explainer.why>[2]): string =>
      rules.inOwnWords(explainer.why(1, frame, target)).sentence;
    expect(why({ kind: "vport", vport: 3 })).toBe(
      'rule "rules:1" (step 2: TTL 0 or 1) took the frame first: it takes precedence: rule "rules:1" (step 1: TTL) ' +
        'changed TTL from 2 to 1 before table "step 2" (modify); rule "rules:1" (step 2: TTL) would match too',
    );
    expect(why("dropped")).toBe(
      'qp:vf1 and qp:vf2 got the frame by rule "rules:1"; a copy was lost: rule "rules:1" (step 2: TTL 0 or 1) drops the frame: ' +
        'rule "rules:1" (step 1: TTL) changed TTL from 2 to 1 before table "step 2" (modify)',
    );
  });

  it("is named where no frame came to it, if one line alone leads there", async () => {
    const rules = imported("in_port=1,ip,actions=dec_ttl,resubmit(,1)\ntable=1,priority=10,udp,actions=output:2\n");
    const explainer = await openExplainer((await loadScenario(rules.scenario)).device);
    const frame = buildFrame(parsePacket("ipv4 10.0.0.1 > 10.0.0.7 ttl 1 / udp").layers);
    expect(rules.inOwnWords(explainer.why(1, frame, { kind: "vport", vport: 1 })).sentence).toBe(
      'the frame never reached VF 1: rule "rules:2" (step 2: from others) leads there, and rule "rules:1" (step 1: TTL 0 or 1) ' +
        'took the frame first: it takes precedence; rule "rules:1" (step 1: TTL) would match too',
    );
  });
});

it("a step that carries on a flow is no frame that only the driver received", () => {
  const receiver = "driver: vf1 receives";
  expect(isUnclaimed(["rules:1", "driver: step 1: TTL", receiver])).toBe(false);
  expect(isUnclaimed(["driver: to table 0", receiver])).toBe(true);
  expect(isUnclaimed([receiver])).toBe(true);
  expect(isUnclaimed(["rules:1", receiver])).toBe(false);
});

describe("a repair of a line that has a key", () => {
  const key = "000102030405060708090a0b0c0d0e0fcafebabe";
  const line =
    "ip xfrm state add src 198.51.100.1 dst 198.51.100.2 proto esp spi 0x1001 reqid 1 mode transport " +
    `aead 'rfc4106(gcm(aes))' 0x${key} 128 offload packet dev eth6 dir in`;
  const packet = parsePacket(
    "ipv4 198.51.100.9 > 198.51.100.2 / esp spi 0x1005 sequence 1 / payload 0x0011223344556677",
  );

  it("names the words that it changes, and nothing that is said has the key", async () => {
    const rules = imported(line);
    const explainer = await openExplainer((await loadScenario(rules.scenario)).device);
    const flow = { kind: "flow", name: "rules:1" } as const;
    const explanation = rules.inOwnWords(explainer.why(1, buildFrame(packet.layers), flow));
    const { sentence } = explanation.repairs.find(({ of }) => of === "rule") ?? {};
    expect(sentence).toBe(
      'rules:1: change "src 198.51.100.1" to "src 198.51.100.9". rules:1: change "spi 0x1001" to "spi 0x1005".',
    );
    expect(JSON.stringify(explanation)).not.toContain(key);
  });
});

describe("a list of rules that has an order of its own", () => {
  it("has no findings about the order, and other rules have", () => {
    const find = (name: string) => ({ id: "order-dependent", objects: [{ kind: "rule", name }] });
    const list = imported("@10.0.0.0/8\t0.0.0.0/0\t0 : 65535\t80 : 80\t0x06/0xFF\t0x0000/0x0000\n");
    const [name = ""] = list.elements.keys();
    expect(list.aboutElements([find(name)])).toEqual([]);
    expect(imported(TEXT).aboutElements([find("rules:1")])).toEqual([find("rules:1")]);
  });
});

describe("formatWords", () => {
  it("has words that a text can have as they are, once in their groups", () => {
    for (const format of IMPORT_FORMATS.filter((one) => one !== "classbench")) {
      const words = formatWords(format);
      expect(words.length, format).toBeGreaterThan(3);
      for (const { word } of words) expect(word).toMatch(/^-{0,2}[a-z][\w.-]*(?: [a-z][\w.-]*)?$/i);
      const keys = words.map(({ word, group }) => `${group} ${word}`);
      expect(new Set(keys).size, format).toBe(keys.length);
    }
  });

  it("has the fields of testpmd's items, and what becomes of words", () => {
    const words = formatWords("testpmd");
    expect(words.find(({ word, of }) => word === "ttl" && of === "ipv4")).toBeDefined();
    expect(words.find(({ word, of }) => word === "ttl" && of === "eth")).toBeUndefined();
    expect(words.find(({ word }) => word === "pppoes")?.becomes).toBeNull();
    expect(formatWords("tc").find(({ word }) => word === "dst_ip")?.becomes).toContain("ipv4_dst");
  });
});
