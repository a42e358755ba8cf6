/**
 * A capture of any size, the same in every run, and a scenario of 1,000 rules for it, which expects the counts that the
 * capture is made with: services by network and port, then tunnels, IPv6, ICMP, and the rest.
 *
 *     node --import tsx bench/frames/bigCapture.ts FOLDER [BYTES]
 *
 * writes FOLDER/big.pcap (1 GB by default) and FOLDER/rules.json.
 *
 * Flows are skewed as 1 / place; 400 bytes a frame in the mean. Every length and every checksum is right.
 */
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { buildFrame, type Layer } from "../../src/packet/index.js";
import { numbers } from "../random.js";
import { Shares } from "./shares.js";

export const GIGABYTE = 1e9;
/** The filter of tcpdump: it passes half of the frames. */
export const FILTER = "tcp dst port 443";

const SERVICES = 249;
const PORTS = ["443/tcp", "80/tcp", "22/tcp", "53/udp"] as const;
const PORT_SHARES = [60, 20, 5, 15];
const QUEUES = 64;
const COUNTER_LOG = 10;

/** Kinds of flows, their share in percent, and the rule for those without a service. */
const KINDS = [
  { kind: "service", share: 78 },
  { kind: "service in a VLAN", share: 6 },
  { kind: "ipv6", share: 8 },
  { kind: "vxlan", share: 4 },
  { kind: "icmp", share: 2 },
  { kind: "arp", share: 2 },
] as const;
type Kind = (typeof KINDS)[number]["kind"];
/** After the services, in this order; the last one matches everything. */
const OTHERS = ["vxlan", "ipv6", "icmp", "rest"] as const;
const OTHER_MATCHES: readonly Record<string, string | number>[] = [
  { "misc.vxlan_vni": "any" },
  { "outer.ip_version": 6 },
  { "outer.ip_protocol": 1 },
  {},
];

/** Frame lengths and their share in percent: 400 bytes on average. */
const LENGTHS = [66, 200, 576, 1514] as const;
const LENGTH_SHARES = [50, 21, 12, 17];
const FLOWS = 4096;
const CHUNK = 4 << 20;
const HEADER = 24;
const RECORD = 16;
/** 2026-01-01; microseconds between frames. */
const BEGIN = 1_767_225_600;
const STEP = 4;

/** What was written. */
export interface CaptureFile {
  frames: number;
  /** Frames that FILTER passes, and the length of a file of them. */
  passed: number;
  passedBytes: number;
  /** For the same file. */
  scenario: object;
}

interface Flow {
  rule: number;
  passes: boolean;
  /** A record of the file for each of LENGTHS, created on first use. */
  records: (Uint8Array | undefined)[];
  layers: readonly Layer[];
}

/** Writes a classic pcap file of at least this many bytes. */
export function writeCapture(path: string, bytes: number): CaptureFile {
  const next = numbers(21);
  const flows = Array.from({ length: FLOWS }, (_, i) => flowAt(i));
  const [flowShares, lengthShares] = [new Shares(flows.map((_, i) => 1 / (i + 1))), new Shares(LENGTH_SHARES)];
  const counts = Array.from({ length: 2 ** COUNTER_LOG }, () => ({ packets: 0, bytes: 0 }));
  const result = { frames: 0, passed: 0, passedBytes: HEADER };
  const file = openSync(path, "w");
  const chunk = new Uint8Array(CHUNK);
  const view = new DataView(chunk.buffer);
  chunk.set(fileHeader());
  for (let at = HEADER, written = 0; written + at < bytes;) {
    const flow = flows[flowShares.pick(next())]!;
    const record = recordOf(flow, lengthShares.pick(next()));
    chunk.set(record, at);
    const time = result.frames * STEP;
    view.setUint32(at, BEGIN + Math.floor(time / 1e6), true);
    view.setUint32(at + 4, time % 1e6, true);
    at += record.length;
    const length = record.length - RECORD;
    result.frames++;
    counts[flow.rule]!.packets++;
    counts[flow.rule]!.bytes += length;
    if (flow.passes) {
      result.passed++;
      result.passedBytes += record.length;
    }
    if (at > CHUNK - RECORD - LENGTHS.at(-1)! || written + at >= bytes) {
      writeSync(file, chunk, 0, at);
      written += at;
      at = 0;
    }
  }
  closeSync(file);
  return { ...result, scenario: scenarioOf(counts) };
}

/** Flow i; most frames are those of the first. */
function flowAt(i: number): Flow {
  const next = numbers(1000 + i);
  const { kind } = KINDS[KIND_SHARES.pick(next())]!;
  const service = next() % SERVICES;
  const port = SERVICE_PORTS.pick(next());
  const [number, protocol] = PORTS[port]!.split("/") as [string, "tcp" | "udp"];
  const client = `172.16.${next() & 0xff}.${next() & 0xff}`;
  const server = `10.0.${service}.${1 + (next() % 250)}`;
  const upper: Layer =
    protocol === "tcp"
      ? { header: "tcp", source_port: 32768 + (next() % 28000), destination_port: Number(number), flags: "ack" }
      : { header: "udp", source_port: 32768 + (next() % 28000), destination_port: Number(number) };
  const packet: Layer[] = [{ header: "ipv4", source: client, destination: server }, upper];
  const v6: Layer = { header: "ipv6", source: `2001:db8::${i.toString(16)}`, destination: "2001:db8:1::2" };
  const tunnel: Layer[] = [
    { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.2" },
    { header: "udp", source_port: 49152 + (i & 0x3fff), destination_port: 4789 },
    { header: "vxlan", vni: 5000 + (i & 15) },
  ];
  const layers: Record<Kind, Layer[]> = {
    service: packet,
    "service in a VLAN": [{ header: "vlan", vid: 100 + (i & 63) }, ...packet],
    ipv6: [v6, upper],
    vxlan: [...tunnel, { header: "ethernet" }, ...packet],
    icmp: [
      { header: "ipv4", source: client, destination: server },
      { header: "icmp", type: 8 },
    ],
    arp: [{ header: "arp" }],
  };
  const own = kind === "service" || kind === "service in a VLAN";
  const rule = own
    ? service * PORTS.length + port
    : SERVICES * PORTS.length + OTHERS.indexOf(kind === "arp" ? "rest" : kind);
  // The filter does not look after tags, nor into tunnels.
  const passes = (kind === "service" || kind === "ipv6") && PORTS[port] === "443/tcp";
  return { rule, passes, records: [], layers: [{ header: "ethernet" }, ...layers[kind]] };
}

const KIND_SHARES = new Shares(KINDS.map(({ share }) => share));
const SERVICE_PORTS = new Shares(PORT_SHARES);

/** Seconds, microseconds, captured length, length; then the frame. */
function recordOf(flow: Flow, n: number): Uint8Array {
  return (flow.records[n] ??= recordWith(flow.layers, LENGTHS[n]!));
}

function recordWith(layers: readonly Layer[], length: number): Uint8Array {
  const bare = buildFrame(layers).length;
  const frame = length > bare ? buildFrame([...layers, new Uint8Array(length - bare)]) : buildFrame(layers);
  const record = new Uint8Array(RECORD + frame.length);
  const view = new DataView(record.buffer);
  view.setUint32(8, frame.length, true);
  view.setUint32(12, frame.length, true);
  record.set(frame, RECORD);
  return record;
}

/** Version 2.4, microseconds, Ethernet. */
function fileHeader(): Uint8Array {
  const words = [0xa1b2c3d4, 0x00040002, 0, 0, 262144, 1];
  return new Uint8Array(Uint32Array.from(words).buffer);
}

function scenarioOf(counts: readonly object[]): object {
  const services = Array.from({ length: SERVICES * PORTS.length }, (_, i) => {
    const [port, protocol] = PORTS[i % PORTS.length]!.split("/");
    const service = Math.floor(i / PORTS.length);
    const match = { "outer.ipv4_dst": `10.0.${service}.0/24`, [`outer.${protocol}_dport`]: Number(port) };
    return { name: `service ${service} ${protocol} ${port}`, match };
  });
  const others = OTHERS.map((name, i) => ({ name, match: OTHER_MATCHES[i]! }));
  return {
    flowsteer: 1,
    title: "Services of 249 networks",
    queues: Array.from({ length: QUEUES }, (_, i) => ({ name: `q${i}` })),
    counters: [{ name: "rules", flow_counter_bulk_log_size: COUNTER_LOG }],
    tables: [{ name: "root", level: 0 }],
    rules: [...services, ...others].map(({ name, match }, i) => ({
      name,
      table: "root",
      priority: Math.max(0, i - services.length + 1),
      match,
      actions: [{ tag: i }, { count: "rules", offset: i }, { queue: `q${i % QUEUES}` }],
    })),
    expect: { counters: { rules: counts } },
  };
}

if (process.argv[1]?.endsWith("bigCapture.ts") === true) {
  const [folder, bytes = String(GIGABYTE)] = process.argv.slice(2);
  if (folder === undefined) throw new Error("name a folder");
  mkdirSync(folder, { recursive: true });
  const { frames, scenario } = writeCapture(join(folder, "big.pcap"), Number(bytes));
  writeFileSync(join(folder, "rules.json"), JSON.stringify(scenario, null, 1));
  console.log(`${frames} frames`);
}
