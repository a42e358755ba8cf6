/**
 * Importing 100,000 rules of each format, each in a process of its own: `node --import tsx bench/import.ts [FORMAT...]`.
 * With `run` instead: 100,000 rules of testpmd straight into `run`, beside `import` and `run` of the scenario.
 * The goals of a format are 5 s and 500 MB. The peer, in the same run, is a process that reads the same file and parses its
 * lines as JSON texts.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportRules } from "../src/export/index.js";
import { hexOf } from "../src/base/hex.js";
import { matchParameters, type DeviceMatch } from "../src/mlx5dv/index.js";
import type { Scenario } from "../src/scenario/index.js";
import { root, runWell } from "./frames/processes.js";

const RULES = 100_000;
const PEAK_MEMORY = fileURLToPath(new URL("./frames/peakMemory.mjs", import.meta.url));
const PEER = `
const lines = require("node:fs").readFileSync(process.argv[1], "utf8").split("\\n");
for (const line of lines) JSON.parse(JSON.stringify({ line }));`;
const MAPS = ["1=uplink", "2=vf1", "3=vf2", "4=vf3"].flatMap((map) => ["--map", map]);

const host = (n: number): string => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
const port = (n: number): number => 1024 + (n % 60_000);
const priority = (n: number): number => 1 + (n % 60_000);

/** A text of as many rules, each with an address and a port of its own. */
const TEXTS: Readonly<Record<string, () => string>> = {
  testpmd: lines(
    (n) =>
      `flow create 0 ingress group 1 priority ${n % 4} pattern eth / ipv4 dst is ${host(n)} / tcp dst is ${port(n)} / end actions queue index ${n % 16} / end`,
  ),
  tc: lines(
    (n) =>
      `tc filter add dev eth0 ingress protocol ip pref ${priority(n)} flower ip_proto tcp dst_ip ${host(n)} dst_port ${port(n)} action mirred egress redirect dev eth1`,
  ),
  "tc filter show": lines(
    (n) => `filter protocol ip pref ${priority(n)} flower chain 0 handle 0x1
  eth_type ipv4
  ip_proto tcp
  dst_ip ${host(n)}
  dst_port ${port(n)}
  skip_sw
	action order 1: mirred (Egress Redirect to device eth1) stolen
 	index ${n + 1} ref 1 bind 1`,
  ),
  "tc -j filter show": () => JSON.stringify(Array.from({ length: RULES }, (_, n) => listedFilter(n))),
  ethtool: lines((n) => {
    return `ethtool -N eth${n >> 16} flow-type tcp4 dst-ip ${host(n)} dst-port ${port(n)} action ${n % 16} loc ${n & 0xffff}`;
  }),
  ovs: lines(
    (n) =>
      `cookie=0x0, duration=5.1s, table=0, priority=${priority(n)},tcp,nw_dst=${host(n)},tp_dst=${port(n)} actions=mod_dl_dst:02:00:00:00:00:0${n % 10},output:${1 + (n % 2)}`,
  ),
  "ovs datapath": lines(
    (n) =>
      `recirc_id(0),in_port(${2 + (n % 3)}),eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02),eth_type(0x0800),ipv4(dst=${host(n)},proto=6,frag=no),tcp(dst=${port(n)}), packets:0, bytes:0, used:never, actions:${2 + ((n + 1) % 3)}`,
  ),
  classbench: lines((n) => `@${host(n)}/32\t0.0.0.0/0\t0 : 65535\t${port(n)} : ${port(n)}\t0x06/0xFF\t0x0000/0x0000`),
  nft: () =>
    JSON.stringify({ nftables: [...CHAIN, ...Array.from({ length: RULES }, (_, n) => ({ rule: nftRule(n) }))] }),
  "nft text": () =>
    `table netdev t {\n chain in {\n type filter hook ingress device "eth0" priority 0; policy accept; flags offload\n${lines(
      (n) => `ip daddr ${host(n)} tcp dport ${port(n)} drop`,
    )()} }\n}\n`,
  xfrm: lines(
    (n) =>
      `ip xfrm state add src ${host(n)} dst 192.0.2.1 proto esp spi ${n + 1} reqid 1 mode transport aead 'rfc4106(gcm(aes))' 0x00112233445566778899aabbccddeeffa1b2c3d4 128 offload packet dev eth0 dir in`,
  ),
  dump: () => exportRules(dumped(), { format: "dump" }).text ?? "",
  recording: recorded,
};

const OF_CHAIN = { family: "netdev", table: "t", chain: "in" };
const CHAIN = [
  { metainfo: { version: "1.0.6", json_schema_version: 1 } },
  { table: { family: "netdev", name: "t" } },
  { chain: { family: "netdev", table: "t", name: "in", dev: "eth0", type: "filter", hook: "ingress", prio: 0 } },
];

function nftRule(n: number): unknown {
  const match = (protocol: string, field: string, right: string | number): unknown => {
    return { match: { op: "==", left: { payload: { protocol, field } }, right } };
  };
  return { ...OF_CHAIN, expr: [match("ip", "daddr", host(n)), match("tcp", "dport", port(n)), { drop: null }] };
}

function listedFilter(n: number): unknown {
  const keys = { eth_type: "ipv4", ip_proto: "tcp", dst_ip: host(n), dst_port: port(n) };
  const redirect = { kind: "mirred", mirred_action: "redirect", direction: "egress", to_dev: "eth1" };
  const actions = [{ order: 1, ...redirect, control_action: { type: "stolen" } }];
  return { protocol: "ip", pref: priority(n), kind: "flower", chain: 0, options: { handle: n + 1, keys, actions } };
}

function dumped(): Scenario {
  return {
    flowsteer: 1,
    tables: [{ name: "t", level: 1 }],
    matchers: [{ name: "m", table: "t", mask: { "outer.ipv4_dst": "full", "outer.tcp_dport": "full" } }],
    rules: Array.from({ length: RULES }, (_, n) => ({
      name: `r${n}`,
      matcher: "m",
      match: { "outer.ipv4_dst": host(n), "outer.tcp_dport": port(n) },
      actions: ["drop" as const],
    })),
  };
}

/** The calls of a C program, as `flowsteer record` logs them. */
function recorded(): string {
  const matched = (n: number): DeviceMatch =>
    matchParameters({ "outer.ipv4_dst": `${host(n)}/32`, "outer.tcp_dport": port(n) });
  const { mask, match_criteria_enable } = matched(0);
  const objects = [
    { call: "mlx5dv_dr_domain_create", type: 0, returns: "0x10" },
    { call: "mlx5dv_dr_table_create", domain: "0x10", level: 1, returns: "0x20" },
    {
      call: "mlx5dv_dr_matcher_create",
      table: "0x20",
      priority: 0,
      match_criteria_enable,
      mask: hexOf(mask.match_buf),
      returns: "0x30",
    },
    { call: "mlx5dv_dr_action_create_drop", returns: "0x40" },
  ];
  const rules = lines((n) => {
    const { match_buf } = matched(n).value;
    const returns = `0x${(0x1000 + 16 * n).toString(16)}`;
    const call = "mlx5dv_dr_rule_create";
    return JSON.stringify({ call, matcher: "0x30", value: hexOf(match_buf), actions: ["0x40"], returns });
  });
  return `${objects.map((one) => JSON.stringify(one)).join("\n")}\n${rules()}`;
}

function lines(line: (n: number) => string): () => string {
  return () => `${Array.from({ length: RULES }, (_, n) => line(n)).join("\n")}\n`;
}

async function main(chosen: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "flowsteer-import-"));
  try {
    console.log(
      `| ${RULES.toLocaleString("en")} rules | seconds | MB | times the peer |\n| --- | ---: | ---: | ---: |`,
    );
    for (const [name, make] of Object.entries(TEXTS)) {
      if (chosen.length > 0 && !chosen.includes(name)) continue;
      const [file, out] = [join(folder, "rules"), join(folder, "scenario.json")];
      writeFileSync(file, make());
      const command = [join(root, "dist/cli.js"), "import", file, ...MAPS, "--output", out, "--quiet"];
      const { seconds, more } = await runWell(process.execPath, ["--import", PEAK_MEMORY, ...command]);
      const peer = await runWell(process.execPath, ["--eval", PEER, file]);
      const ratio = (seconds / peer.seconds).toFixed(1);
      console.log(`| ${name} | ${seconds.toFixed(1)} | ${Math.round(Number(more) / 1000)} | ${ratio} |`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ROUNDS = 3;
const median = (values: readonly number[]): string => values.toSorted((a, b) => a - b)[values.length >> 1]!.toFixed(1);

/** Rules into `run` as they are, and as a scenario, in turn. */
async function straight(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "flowsteer-straight-"));
  try {
    const [file, scenario, capture] = [join(folder, "rules"), join(folder, "scenario.json"), join(root, CAPTURE)];
    writeFileSync(file, TEXTS["testpmd"]!());
    const seconds = async (...args: string[]): Promise<number> =>
      (await runWell(process.execPath, [join(root, "dist/cli.js"), ...args, "--quiet"])).seconds;
    const [asTheyAre, imports, runs]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < ROUNDS; round++) {
      asTheyAre.push(await seconds("run", file, capture));
      imports.push(await seconds("import", file, "--output", scenario));
      runs.push(await seconds("run", scenario, capture));
    }
    const both = imports.map((one, n) => one + (runs[n] as number));
    const ratio = median(asTheyAre.map((one, n) => one / (both[n] as number)));
    console.log(
      `run RULES: ${median(asTheyAre)} s; import: ${median(imports)} s and run: ${median(runs)} s; ${ratio} x`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const CAPTURE = "examples/everyday.pcap";
const chosen = process.argv.slice(2);
await (chosen[0] === "run" ? straight() : main(chosen));
