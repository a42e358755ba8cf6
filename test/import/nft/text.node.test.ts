/** Rule sets of nftables as text: what nft prints of the same rules as JSON, files and commands. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import type { Scenario } from "../../../src/scenario/index.js";

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");
const MAP = { va: "uplink", eth0: "uplink", eth1: "vf1", vb: "vf1" };

/** Matches and actions, in order, and what was refused. */
function imported(text: string) {
  const { scenario, findings } = importRules([{ file: "r", text }], { lenient: true, map: MAP });
  const rules = (scenario as Scenario).rules?.map(({ match, actions }) => ({ match, actions })) ?? [];
  return { rules, refused: findings.filter(({ severity }) => severity === "refused") };
}

test("what nft prints as text and as JSON gives the same rules, and refuses the same ones", () => {
  const [text, json] = [imported(read("rules.txt")), imported(read("rules.json"))];
  expect(text.rules).toHaveLength(5);
  expect(JSON.stringify(text.rules)).toBe(JSON.stringify(json.rules).replaceAll("eth0", "va"));
  expect(text.refused.map(({ reason }) => reason)).toEqual(json.refused.map(({ reason }) => reason));
});

test("a finding has the line and column at which its element stands", () => {
  const lines = read("rules.txt").split("\n");
  const { refused } = imported(read("rules.txt"));
  expect(refused).toHaveLength(12);
  for (const { line, column, text } of refused) {
    const [first = ""] = text.split(" ");
    expect(lines[line - 1]?.slice(column - 1).startsWith(first)).toBe(true);
  }
});

test.each([
  ["commands at a prompt", "root@fw:~# nft add rule netdev t c tcp dport https fwd to eth1"],
  ["a command in quotation marks", "$ sudo nft 'add rule netdev t c tcp dport 443 fwd to \"eth1\"'"],
  [
    "a text of the shell",
    "nft -f - <<EOF\nadd rule netdev t c tcp dport 443 counter packets 5 bytes 300 fwd to eth1\nEOF",
  ],
  ["a variable", "define out = eth1\ndefine web = 443\nadd rule netdev t c tcp dport $web counter fwd to $out # away"],
  ["a wrapped line", "nft add rule netdev t c tcp dport 443 \\\n  counter name seen fwd to eth1"],
])("reads %s", (_, command) => {
  const chain =
    "nft add table netdev t\nnft add chain netdev t c { type filter hook ingress device eth0 priority 0 \\; policy accept \\; }\n";
  const { rules, refused } = imported(chain + command);
  expect(refused).toEqual([]);
  expect(rules).toMatchObject([
    { match: { "outer.tcp_dport": 443, "outer.ip_protocol": 6 }, actions: [{ vport: 1 }] },
    { match: { "misc.source_port": "uplink" } },
  ]);
});

test("a diff, a comment, two statements on a line, a policy", () => {
  const text = `+table netdev t {
+	chain c {
+		type filter hook ingress device "eth0" priority 0; policy drop; flags offload;
+		ip saddr 10.0.0.1 accept comment "mine"; udp dport 53 accept
+	}
+}`;
  const { scenario, findings } = importRules(text, { map: MAP });
  expect(findings).toEqual([]);
  expect(scenario?.rules?.map(({ actions }) => actions).slice(0, 3)).toEqual([
    ["default_miss"],
    ["default_miss"],
    ["drop"],
  ]);
});

test("an inserted rule comes before the others", () => {
  const { rules } = imported(
    "nft add chain netdev t c '{ type filter hook ingress device eth0 priority 0; }'\n" +
      "nft add rule netdev t c udp dport 1 drop\nnft insert rule netdev t c udp dport 2 drop",
  );
  expect(rules.slice(0, 2).map(({ match }) => match?.["outer.udp_dport"])).toEqual([2, 1]);
});

const chainOf = (rules: readonly string[]): string =>
  `table netdev t {\n chain c {\n type filter hook ingress device "eth0" priority 0; flags offload;\n${rules.join("\n")}\n}\n}`;

test("a chain with more rules than a table has priorities", () => {
  const port = (n: number): string => `ip saddr 10.${n >> 16}.${(n >> 8) & 255}.${n & 255} drop`;
  // The same match twice, then another mask: each is after the rules before it.
  const list = [...Array.from({ length: 65_540 }, (_, n) => port(n)), port(7), "udp dport 1 accept", port(8)];
  const { rules: all = [] } = importRules(chainOf(list), { map: MAP }).scenario as Scenario;
  const rules = all.filter(({ table }) => table === "eth0");
  expect(rules).toHaveLength(65_543);
  expect([0, 7, 65_539, 65_540, 65_541, 65_542].map((n) => rules[n]?.priority)).toEqual([0, 0, 0, 1, 2, 3]);
});

test("a chain whose rules need more priorities than a table has", () => {
  const both = Array.from({ length: 33_000 }, (_, n) => `udp dport ${n} drop\ntcp dport ${n} drop`);
  const { refused } = imported(chainOf(both));
  expect(refused).toHaveLength(66_000 - 65_535);
  expect(refused[0]).toMatchObject({ line: 4 + 65_535, text: "tcp dport 32767 drop" });
});

test.each([
  ["tcp dport {80, 443} drop", "{ 80 , 443 }", "sets and ranges"],
  ["ip saddr 10.0.0.1-10.0.0.9 drop", "10.0.0.1-10.0.0.9", "sets and ranges"],
  ["tcp dport $web drop", "$web", "a variable that the text does not set (--set web=..."],
  ["tcp dprot 80 drop", "tcp dprot", "the kernel does not offload matches on it"],
  ["tpc dport 80 drop", "tpc", 'did you mean "tcp"'],
  ["ip saddr 10.0.0.1", "ip saddr 10.0.0.1", "a rule without a verdict"],
  ["tcp dport", "dport", "a value is missing"],
  ["tcp dport 70000 drop", "70000", "it is a number of 16 bits"],
  ["ip saddr 10.0.0.300 drop", "10.0.0.300", "is not an IPv4 address"],
  ["tcp dport 80 fwd eth1", "eth1", "to is missing"],
  ["fwd ip to 10.0.0.1 device eth1", "fwd", "the kernel resolves the neighbour"],
  ["tcp dport 80 limit rate 5/second drop", "limit", "the kernel does not offload it"],
  ["iifname eth7 drop", "iifname eth7", "the chain is for frames of eth0"],
])("refuses %s at %s", (rule, part, reason) => {
  const text = `table netdev t {\n chain c {\n type filter hook ingress device eth0 priority 0\n   ${rule}\n}\n}`;
  const [finding, ...others] = imported(text).refused;
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ line: 4, text: part });
  expect(finding?.reason).toContain(reason);
});

test.each([
  ["nft delete rule netdev t c handle 5", "commands that remove rules are not followed"],
  ["nft add rule netdev t c index 0 tcp dport 80 drop", "its place depends on a number"],
  ['include "/etc/nft/other.nft"', "an included file is not read"],
  ["nft ad rule netdev t c drop", 'did you mean "add"'],
  [
    "table netdev t { flowtable ft { hook ingress priority 0; devices = { eth0 }; } }",
    "the kernel adds connections to it",
  ],
])("refuses %s", (command, reason) => {
  const { refused } = imported(
    `nft add chain netdev t c { type filter hook ingress device eth0 priority 0; }\n${command}`,
  );
  expect(refused.map((one) => one.reason).join()).toContain(reason);
  expect(refused).toHaveLength(1);
});

test("variables of variables do not grow without an end", () => {
  const defines = Array.from({ length: 40 }, (_, n) => `define v${n + 1} = $v${n} $v${n}`);
  const { refused } = imported(`define v0 = a b\n${defines.join("\n")}\ntable netdev t { }`);
  expect(refused[0]).toMatchObject({ line: 9, reason: "a variable has 256 words at most" });
});

test("a text that is cut off anywhere is read up to there", () => {
  const whole = read("rules.txt");
  for (let end = 0; end < whole.length; end += 7) {
    const cut = whole.slice(0, end);
    expect(() => importRules(cut, { format: "nft", lenient: true })).not.toThrow();
  }
});
