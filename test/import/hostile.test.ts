/** Texts that would keep an importer busy for minutes, or end its stack: each is read, and what is left out has a reason. */
import { expect, test } from "vitest";
import { importRules } from "../../src/import/index.js";

const reasonsOf = (text: string): string[] => {
  const { scenario, findings } = importRules(text, { lenient: true });
  expect(scenario).not.toBeNull();
  return findings.map(({ reason }) => reason);
};

const clones = (depth: number): string => `table=0,actions=${"clone(".repeat(depth)}1${")".repeat(depth)}`;
const json = (depth: number): string => `{"nftables":[${'{"a":'.repeat(depth)}1${"}".repeat(depth)}]}`;

test("actions within actions, to their limit and beyond", () => {
  expect(reasonsOf(clones(64))).not.toContain("more than 64 parentheses are open");
  expect(reasonsOf(clones(65))).toContain("more than 64 parentheses are open");
  expect(reasonsOf(clones(100_000))).toContain("more than 64 parentheses are open");
});

test("a group whose buckets lead to it again", () => {
  const group = (id: number, ...buckets: string[]): string =>
    `ovs-ofctl add-group br0 group_id=${id},type=all,${buckets.map((one) => `bucket=actions=${one}`).join()}\n`;
  const flow = "ovs-ofctl add-flow br0 table=0,actions=group:1\n";
  const circular = "its buckets lead to it again";
  expect(reasonsOf(group(1, "group:1") + flow)).toContain(circular);
  expect(reasonsOf(group(1, "1", "group:2") + group(2, "clone(group:1)") + flow)).toContain(circular);
  expect(reasonsOf(group(1, "1", "group:2") + group(2, "2") + flow)).not.toContain(circular);
});

test("groups that each lead twice to the next one", () => {
  const groups = Array.from({ length: 40 }, (_, n) => {
    const next = `bucket=actions=group:${n + 1}`;
    return `ovs-ofctl add-group br0 group_id=${n},type=all,${next},${next}\n`;
  });
  expect(reasonsOf(`${groups.join("")}ovs-ofctl add-flow br0 table=0,actions=group:0`)).not.toEqual([]);
});

test.each([
  ["Filter: x\n\tRule Type: TCP over IPv4\n\tAction: Drop\n", "a rule has a location up to 65535"],
  ["Filter: 1\n\tRule Type: TCP over IPv4\n\tAction: Direct to queue 70000\n", "a queue has a number up to 65535"],
])("a listing of ethtool with a number that is none: %j", (text, reason) => {
  const { scenario, findings } = importRules(text, { format: "ethtool", lenient: true, driver: "none" });
  expect(findings.map((finding) => finding.reason)).toContain(reason);
  expect(scenario?.hostRules ?? []).toEqual([]);
});

const LONG = 300_000;

test.each([
  "9",
  "-",
  "_",
  "\t",
  "\r",
  "#",
  "[",
  "/",
  '"',
  "\u200b",
  "tc_filter",
  "etc_filter ",
  "tc -",
  "filter dev ",
  "-nft -",
  "(",
  "add -",
])("lines of very many %j", (word) => {
  const line = word.repeat(LONG / word.length);
  const texts = [
    line,
    `flow create 0 ingress pattern eth / end actions drop ${line}x`,
    `tc filter add dev eth0 ingress protocol ip flower ${line}x`,
    `filter dev eth0 ${line}x`,
    `table=0,priority=1,nw${line}x actions=drop`,
    `in_port(1),eth() ${line}x actions:2`,
    `ethtool -N eth0 flow-type tcp4 ${line}x action 1`,
    `Filter: 1\n\tRule Type: ${line}x`,
    `table netdev t { ${line}x }`,
    `ip xfrm state add src ${line}x`,
    `src 1.2.3.4 dst 1.2.3.5\n\tproto esp spi ${line}x`,
    `3000, ${line}x`,
    `$P${line}{`,
    `x=${line}x`,
  ];
  for (const text of texts) expect(() => importRules(text, { lenient: true })).not.toThrow();
});

test.each([
  ["flow create 0 ingress pattern eth\n", "/ ipv4\n"],
  ["tc filter add dev eth0 ingress protocol ip flower \\\n", " ip_proto tcp \\\n"],
  ["ethtool -N eth0 flow-type tcp4 \\\n", " dst-port 1 \\\n"],
  ["table=0,priority=1\n", " actions=output:1,\n"],
  ["src 1.2.3.4 dst 1.2.3.5\n\tproto esp spi 1\n", "\ttmpl src 1.2.3.4\n"],
  ["ip xfrm state add src 1.2.3.4\n", "ip xfrm policy deleteall dir in\n"],
  ["tc filter add dev eth0 ingress protocol ip flower ", "\u201c"],
])("a command of very many lines or signs: %j", (head, line) => {
  expect(reasonsOf(head + line.repeat(100_000))).not.toEqual([]);
});

test.each(["9", "07"])("a number of ten million digits %s", (digit) => {
  const text = digit.repeat(10_000_000 / digit.length);
  expect(reasonsOf(`flow create 0 priority ${text} ingress pattern eth / end actions drop / end`)).toEqual([
    "priority has 32 bits: 0 to 4294967295",
  ]);
});

test("JSON of many levels", () => {
  const deep = "not the JSON of nft -j list ruleset: at most 64 levels deep";
  expect(reasonsOf(json(62))).not.toContain(deep);
  expect(reasonsOf(json(63))).toContain(deep);
  expect(importRules(json(61), { format: "nft", lenient: true }).scenario).not.toBeNull();
  expect(() => importRules(json(20_000), { format: "nft", lenient: true })).not.toThrow();
  const tc = `[{"kind":"flower","options":${"[".repeat(20_000)}`;
  expect(() => importRules(tc, { format: "tc", lenient: true })).not.toThrow();
  const recorded = `{"call":"ibv_create_flow","flow":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n`;
  expect(() => importRules(recorded, { format: "recording", lenient: true })).not.toThrow();
});

test.each([
  ["left", `${'{"&":['.repeat(100_000)}1${",1]}".repeat(100_000)}`],
  ["op", `${"[".repeat(100_000)}1${"]".repeat(100_000)}`],
  ["right", `${"[".repeat(3000)}1${"]".repeat(3000)}`],
])("a match of nftables whose %s has many levels", (key, value) => {
  const chain = '{"chain":{"family":"netdev","table":"t","name":"c","dev":"eth0","hook":"ingress","type":"filter"}}';
  const match = { op: '"=="', left: '{"payload":{"protocol":"tcp","field":"dport"}}', right: "1", [key]: value };
  const expr = `{"match":{"op":${match.op},"left":${match.left},"right":${match.right}}},{"drop":null}`;
  const rule = `{"rule":{"family":"netdev","table":"t","chain":"c","handle":2,"expr":[${expr}]}}`;
  const { findings } = importRules(`{"nftables":[${chain},${rule}]}`, { lenient: true });
  expect(findings).toMatchObject([{ line: 1, reason: expect.stringContaining("64 levels") as string }]);
});

test.each(["\n", " \n", '"\n', " "])("a million times %j", (line) => {
  expect(reasonsOf(line.repeat(1_000_000))).toHaveLength(1);
});

test("a variable of nftables that is made of two, and so on", () => {
  const defines = Array.from({ length: 40 }, (_, n) => `define v${n + 1} = { $v${n}, $v${n} }\n`).join("");
  const chain = "chain c { type filter hook ingress device eth0 priority 0; ip saddr $v40 drop; }";
  expect(reasonsOf(`define v0 = 10.0.0.1\n${defines}table netdev t { ${chain} }`)).toContain(
    "a variable has 256 words at most",
  );
});

test.each([
  ["tc", "tc filter add dev $v40 ingress protocol ip flower action drop"],
  ["ethtool", "ethtool -N $v40 flow-type tcp4 action 1"],
  ["testpmd", "flow create 0 ingress pattern eth / end actions queue index $v40 / end"],
])("shell variables that are each twice the one before, in %s", (_format, command) => {
  const values = Array.from({ length: 40 }, (_, n) => `v${n + 1}=$v${n}$v${n}\n`).join("");
  expect(() => reasonsOf(`v0=eth0\n${values}${command}\n`)).not.toThrow();
});

test("filters without a prio, more than a call has arguments", () => {
  // Of listings alone: each filter has the prio of the list that it is in.
  const add = "tc filter add dev eth0 ingress protocol ip flower action drop\n";
  expect(reasonsOf(add.repeat(300)).filter((reason) => reason.startsWith("without a prio"))).toHaveLength(300);
});
