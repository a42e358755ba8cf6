/** Texts as tools print and read them, drawn at random, of formats that nothing is exported to. */
import { exportRules } from "../../../src/export/index.js";
import { randomRules } from "../../export/support/randomRules.js";
import { randomSwitch, withoutCircles } from "../../export/tc/support.js";
import type { Random } from "../../oracle/generate/random.js";
import { textsIn } from "../../campaign/files.js";

type Part = string | ((random: Random) => string);

const port = (random: Random): string => String(1 + random.below(65_000));
const ipv4 = (random: Random): string => `10.${random.below(256)}.${random.below(256)}.${1 + random.below(254)}`;
const prefix = (random: Random): string => `10.${random.below(256)}.0.0/16`;
const ipv6 = (random: Random): string => `2001:db8::${(1 + random.below(65_000)).toString(16)}`;
const mac = (random: Random): string => `02:00:00:00:00:${(16 + random.below(240)).toString(16)}`;
const small = (random: Random): string => String(1 + random.below(15));

/** Parts in their order, each of the optional ones or not. */
function some(random: Random, parts: readonly Part[]): string[] {
  return parts.filter(() => random.chance(0.5)).map((part) => drawn(random, part));
}

const drawn = (random: Random, part: Part): string => (typeof part === "string" ? part : part(random));

const many = (random: Random, make: (n: number) => string): string =>
  Array.from({ length: 1 + random.below(3) }, (_, n) => make(n)).join("");

/** What a packet has, by the words of a tool for each field. */
function keys(
  random: Random,
  {
    src,
    dst,
    src6,
    dst6,
    sport,
    dport,
  }: Record<"src" | "dst" | "src6" | "dst6" | "sport" | "dport", (v: string) => string>,
): { readonly version: 4 | 6; readonly protocol: "tcp" | "udp"; readonly list: string[] } {
  const version = random.chance(0.7) ? 4 : 6;
  const address = version === 4 ? [src, dst] : [src6, dst6];
  const value = version === 4 ? ipv4 : ipv6;
  const list = some(random, [
    (r) => (address[0] as typeof src)(value(r)),
    (r) => (address[1] as typeof src)(version === 4 && r.chance(0.3) ? prefix(r) : value(r)),
    (r) => sport(port(r)),
    (r) => dport(port(r)),
  ]);
  return { version, protocol: random.chance(0.6) ? "tcp" : "udp", list };
}

function ethtool(random: Random): string {
  return many(random, (n) => {
    const { version, protocol, list } = keys(random, {
      src: (v) => `src-ip ${v.replace("/16", " m 0.0.255.255")}`,
      dst: (v) => `dst-ip ${v.replace("/16", " m 0.0.255.255")}`,
      src6: (v) => `src-ip ${v}`,
      dst6: (v) => `dst-ip ${v}`,
      sport: (v) => `src-port ${v}`,
      dport: (v) => `dst-port ${v} m 0x0`,
    });
    const more = some(random, [(r) => `vlan 0x${small(r)} m 0xf000`, (r) => `dst-mac ${mac(r)}`]);
    const verb = random.pick(["-N", "-U", "--config-ntuple"]);
    return `ethtool ${verb} eth0 flow-type ${protocol}${version} ${[...list, ...more].join(" ")} action ${random.below(8)} loc ${n}\n`;
  });
}

function ethtoolListing(random: Random): string {
  return `4 RX rings available\nTotal 2 rules\n\n${many(
    random,
    (n) => `Filter: ${n}
\tRule Type: ${random.pick(["TCP", "UDP"])} over IPv4
\tSrc IP addr: ${ipv4(random)} mask: 0.0.0.0
\tDest IP addr: ${ipv4(random)} mask: 0.0.0.255
\tTOS: 0x0 mask: 0xff
\tSrc port: 0 mask: 0xffff
\tDest port: ${port(random)} mask: 0x0
\tAction: Direct to queue ${random.below(8)}
\n`,
  )}`;
}

function datapath(random: Random): string {
  return many(random, () => {
    const {
      version,
      protocol,
      list: _list,
    } = keys(random, {
      src: String,
      dst: String,
      src6: String,
      dst6: String,
      sport: String,
      dport: String,
    });
    const address = version === 4 ? ipv4 : ipv6;
    const ip = [
      ...some(random, [(r) => `src=${address(r)}`, (r) => `dst=${address(r)}`]),
      `proto=${protocol === "tcp" ? 6 : 17}`,
      "frag=no",
    ];
    const l4 = some(random, [(r) => `src=${port(r)}`, (r) => `dst=${port(r)}`]);
    const name = version === 4 ? "ipv4" : "ipv6";
    const actions = random.pick([
      "drop",
      "3",
      "4,3",
      `set(eth(dst=${mac(random)})),3`,
      `push_vlan(vid=${small(random)},pcp=0),4`,
      `set(${name}(src=${address(random)})),set(${protocol}(dst=${port(random)})),3`,
    ]);
    return `recirc_id(0),in_port(${2 + random.below(3)}),eth(src=${mac(random)},dst=${mac(random)}),eth_type(0x${version === 4 ? "0800" : "86dd"}),${name}(${ip.join()})${l4.length === 0 ? "" : `,${protocol}(${l4.join()})`}, packets:${small(random)}, bytes:60, used:1.2s, actions:${actions}\n`;
  });
}

const NFT = {
  src: (v: string) => `ip saddr ${v}`,
  dst: (v: string) => `ip daddr ${v}`,
  src6: (v: string) => `ip6 saddr ${v}`,
  dst6: (v: string) => `ip6 daddr ${v}`,
};

function nftRules(random: Random): string[] {
  return Array.from({ length: 1 + random.below(3) }, () => {
    const protocol = random.pick(["tcp", "udp"]);
    const { list } = keys(random, {
      ...NFT,
      sport: (v) => `${protocol} sport ${v}`,
      dport: (v) => `${protocol} dport ${v}`,
    });
    const verdict = random.pick(["drop", "accept", 'fwd to "eth1"', 'dup to "eth1" drop']);
    return [...list, ...some(random, [(r) => `ether saddr ${mac(r)}`, "counter"]), verdict].join(" ");
  });
}

function nft(random: Random): string {
  return `table netdev t {
 chain in {
  type filter hook ingress device "eth0" priority ${small(random)}; policy ${random.pick(["accept", "drop"])}; flags offload
  ${nftRules(random).join("\n  ")}
 }
}
`;
}

function nftCommands(random: Random): string {
  return `nft add table netdev t
nft add chain netdev t in '{ type filter hook ingress device eth0 priority 0; policy accept; flags offload; }'
${nftRules(random)
  .map((rule) => `nft ${random.pick(["add", "insert"])} rule netdev t in ${rule}\n`)
  .join("")}`;
}

function nftJson(random: Random): string {
  const match = (protocol: string, field: string, right: unknown): unknown => {
    return { match: { op: "==", left: { payload: { protocol, field } }, right } };
  };
  const of = { family: "netdev", table: "t", chain: "in" };
  const rules = Array.from({ length: 1 + random.below(2) }, () => {
    const expr = [
      match("ip", "daddr", ipv4(random)),
      match("tcp", "dport", Number(port(random))),
      random.pick([{ drop: null }, { accept: null }, { fwd: { dev: "eth1" } }]),
    ];
    return { rule: { ...of, expr } };
  });
  const chain = { family: "netdev", table: "t", name: "in", dev: "eth0", hook: "ingress", policy: "drop" };
  return `${JSON.stringify({ nftables: [{ chain }, ...rules] }, null, 1)}\n`;
}

function xfrm(random: Random): string {
  const key = "0x00112233445566778899aabbccddeeffa1b2c3d4";
  return many(random, (n) => {
    const selector = `src ${ipv4(random)} dst 192.0.2.1`;
    const more = some(random, ["replay-window 32", "flag esn"]);
    const mode = random.pick(["transport", "tunnel"]);
    const state = `ip xfrm state add ${selector} proto esp spi ${n + 1} reqid ${n + 1} mode ${mode} ${more.join(" ")} aead 'rfc4106(gcm(aes))' ${key} 128 offload packet dev eth0 dir in\n`;
    const policy = `ip xfrm policy add ${selector} dev eth0 dir in offload packet dev eth0 tmpl ${selector} proto esp reqid ${n + 1} mode ${mode}\n`;
    return `${state}${random.chance(0.5) ? policy : ""}`;
  });
}

function tcListing(random: Random): string {
  return many(random, (n) => {
    const { version, protocol, list } = keys(random, {
      src: (v) => `src_ip ${v}`,
      dst: (v) => `dst_ip ${v}`,
      src6: (v) => `src_ip ${v}`,
      dst6: (v) => `dst_ip ${v}`,
      sport: (v) => `src_port ${v}`,
      dport: (v) => `dst_port ${v}`,
    });
    const action = random.pick([
      "gact action drop\n\t random type none pass val 0",
      "mirred (Egress Redirect to device eth1) stolen",
      "vlan  pop pipe",
    ]);
    const name = version === 4 ? "ip" : "ipv6";
    return `filter protocol ${name} pref ${n + 1} flower chain 0 handle 0x1
  eth_type ${version === 4 ? "ipv4" : "ipv6"}
  ip_proto ${protocol}
${list.map((key) => `  ${key}\n`).join("")}  in_hw in_hw_count 1
\taction order 1: ${action}
\t index ${n + 1} ref 1 bind 1
`;
  });
}

function tcJson(random: Random): string {
  const filters = Array.from({ length: 1 + random.below(2) }, (_, n) => {
    const given = { eth_type: "ipv4", ip_proto: "tcp", dst_ip: ipv4(random), dst_port: Number(port(random)) };
    const action = random.pick([
      { kind: "gact", control_action: { type: "drop" } },
      {
        kind: "mirred",
        mirred_action: "redirect",
        direction: "egress",
        to_dev: "eth1",
        control_action: { type: "stolen" },
      },
    ]);
    return {
      protocol: "ip",
      pref: n + 1,
      kind: "flower",
      chain: 0,
      options: { handle: n + 1, keys: given, in_hw: true, actions: [{ order: 1, ...action }] },
    };
  });
  return `${JSON.stringify(filters, null, 1)}\n`;
}

function classbench(random: Random): string {
  return many(
    random,
    () =>
      `@${ipv4(random)}/32\t${random.chance(0.5) ? "0.0.0.0/0" : prefix(random)}\t0 : 65535\t${small(random)} : 100\t0x06/0xFF\t0x0000/0x0000\n`,
  );
}

const recordings = (): readonly { readonly text: string }[] =>
  (RECORDINGS ??= textsIn("test/import/recording/recordings/rdma-core", /\.jsonl$/));
let RECORDINGS: ReturnType<typeof textsIn> | undefined;

/** Generators of texts, by the reader that reads them. */
export const TEXTS = {
  testpmd: (random) => exported(withoutFlows(random), "testpmd"),
  tc: (random) => exported(withoutCircles(randomSwitch(random)), "tc"),
  "tc filter show": tcListing,
  "tc -j filter show": tcJson,
  ovs: (random) => exported(withoutCircles(randomSwitch(random)), "ovs"),
  "ovs-ofctl dump-flows": (random) =>
    exported(withoutCircles(randomSwitch(random)), "ovs").replaceAll(
      /^(?=table=)/gm,
      () => ` cookie=0x${small(random)}, duration=${small(random)}.5s, n_packets=${small(random)}, n_bytes=60, `,
    ),
  "ovs-dpctl": datapath,
  ethtool,
  "ethtool -n": ethtoolListing,
  nft,
  "nft commands": nftCommands,
  "nft -j": nftJson,
  xfrm,
  classbench,
  "mlx5-dump": (random) => exported(withoutFlows(random), "dump"),
  recording: (random) => random.pick(recordings()).text,
} as const satisfies Readonly<Record<string, (random: Random) => string>>;

export type Reader = keyof typeof TEXTS;

function withoutFlows(random: Random): Parameters<typeof exportRules>[0] {
  const { flows: _flows, ...scenario } = randomRules(random);
  return scenario;
}

function exported(
  scenario: Parameters<typeof exportRules>[0],
  format: NonNullable<Parameters<typeof exportRules>[1]>["format"],
): string {
  return exportRules(scenario, { format, lenient: true }).text ?? "";
}
