/** Names and values of inputs do not reach a terminal as control characters, whatever the command and its outcome. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { flowsteer, root, scratch } from "../cli/support/command.js";

/** ESC, BEL, CR, BS, CSI of C1, a right-to-left override, an isolate, a line separator. */
const HOSTILE = "\u001b[2J\u001b]0;owned\u0007\r\b\u009b31m\u202e\u2066\u2028";
const REACHES_TERMINALS = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

const named = (name: string): string => `${name}${HOSTILE}`;

const SCENARIO = {
  flowsteer: 1,
  queues: [{ name: named("web") }, { name: named("idle") }],
  counters: [{ name: named("seen") }],
  tables: [
    { name: named("root"), level: 0 },
    { name: named("next"), level: 1, description: HOSTILE },
  ],
  rules: [
    { name: named("on"), table: named("root"), match: { "outer.ip_version": 4 }, actions: [{ table: named("next") }] },
    {
      name: named("https"),
      table: named("next"),
      match: { "outer.tcp_dport": 443 },
      actions: [{ counter: named("seen") }, { queue: named("web") }],
    },
    { name: named("same"), table: named("next"), match: { "outer.tcp_dport": 443 }, actions: ["drop"] },
    { name: named("gone"), table: named("next"), match: { "outer.udp_dport": 9 }, actions: ["drop"] },
  ],
  frames: [
    {
      name: named("frame"),
      headers: [{ header: "ethernet" }, { header: "ipv4" }, { header: "tcp", destination_port: 443 }],
      expect: { verdict: "drop" },
    },
    { headers: [{ header: "ethernet" }, { header: "ipv4" }, { header: "tcp", destination_port: 80 }] },
  ],
};

const scenario = scratch("hostile.json", JSON.stringify(SCENARIO));
const other = scratch(
  "other.json",
  JSON.stringify({ ...SCENARIO, rules: SCENARIO.rules.filter(({ name }) => !name.startsWith("https")) }),
);
const broken = scratch("broken.json", JSON.stringify({ ...SCENARIO, tables: [], [named("key")]: named("value") }));
const text = scratch("text.json", `{"flowsteer":1,"${HOSTILE.replace("\u2028", "")}`);
const capture = "examples/everyday.pcap";
const FLOWS = [
  `flow create 0 ingress pattern eth / ipv4 dst is 10.0.0.7${HOSTILE} / end actions queue index 1 / end`,
  `flow create 0 ingress pattern eth / ${named("ipv4")} / end actions queue index 1 / end`,
  `table=0,priority=5,udp,${named("nw_dst")}=1,actions=${named("output")}:2`,
  `tc filter add dev ${named("eth0")} ingress protocol ip pref 1 flower ${named("dst_port")} 5 action drop`,
  `ethtool -N ${named("eth0")} flow-type tcp4 ${named("dst-port")} 5 action 1`,
  `nft add rule netdev t ${named("c")} ${named("ip")} daddr 10.0.0.1 drop`,
];

async function silent(...args: readonly string[]): Promise<void> {
  const { out, err } = await flowsteer(args);
  for (const line of `${out}\n${err}`.split("\n")) expect(line, args.join(" ")).not.toMatch(REACHES_TERMINALS);
}

describe("names of a scenario", () => {
  const frame = ["--packet", "ipv4 / tcp > 443"];
  test.each([
    ["run", scenario],
    ["run", scenario, capture],
    ["trace", scenario, "--frame", "1"],
    ["trace", scenario, ...frame],
    ["why", scenario, "--frame", "2"],
    ["why", scenario, ...frame, "--rule", named("gone")],
    ["why", scenario, ...frame, "--queue", named("idle")],
    ["why", scenario, ...frame, "--queue", named("missing")],
    ["why", scenario, capture, "--all"],
    ["cover", scenario],
    ["check", scenario],
    ["diff", scenario, other],
    ["diff", scenario, other, capture],
    ["export", scenario, "--to", "testpmd", "--lenient"],
    ["fields", named("outer.tcp_dport")],
    ["parse", scratch(`${named("capture").replaceAll("/", "")}.pcap`, readFileSync(`${root}/${capture}`))],
    ["run", scenario, named("nowhere.pcap")],
    ["run", named("nowhere.json")],
    ["trace", scenario, "--packet", named("ipv4")],
    ["trace", scenario, "--hex", named("00")],
    [named("unknown")],
    ["run", scenario, `--${named("option")}`],
  ])("%s %s %s %s", silent);

  test.each(["run", "trace", "why", "check", "cover"])("%s of a document that is refused", async (command) => {
    await silent(command, broken);
    await silent(command, text);
  });
});

describe("words of rules in other languages", () => {
  test.each(FLOWS.map((line, n) => [n, line] as const))("%i", async (n, line) => {
    const file = scratch(`rules-${n}.txt`, `${line}\n`);
    for (const command of ["import", "check", "run"]) {
      await silent(command, file);
      if (command !== "import") await silent(command, file, "--lenient");
    }
  });
});
