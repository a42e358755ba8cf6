// Random actions of direct rules: changes of header fields that the frame usually has,
// encapsulation in tunnels of all kinds, destination arrays, and a terminal action.

import { be, some } from "./draw.js";
import { onesComplementSum } from "../wire/checksum.js";
import { MODIFY_FIELDS, type Modify } from "../act/modifyFields.js";
import {
  type Destination,
  type DomainType,
  type Member,
  type PipelineAction,
  type Terminal,
} from "../walk/pipeline.js";
import { type Random } from "./random.js";
import { type Frame, REFORMAT, type Reformat, parsed } from "../act/rewrite.js";

/** Objects that rules of a table can name. */
export interface Places {
  domain: DomainType;
  /** Queue pairs of the function, in NIC_RX. */
  queues: readonly string[];
  /** Later tables of the domain, and all tables. */
  behind: readonly string[];
  tables: readonly string[];
  counters: readonly string[];
  vports: readonly number[];
  ports: readonly number[];
  priorities: readonly number[];
}

/** Actions of a rule that matches the frame. */
export function randomActions(random: Random, frame: Frame, places: Places): PipelineAction[] {
  const list: PipelineAction[] = [];
  const add = (chance: number, make: () => PipelineAction): void => {
    if (random.chance(chance)) list.push(make());
  };
  const tunnel = parsed(frame).headers.some(({ level }) => level === "inner");
  if (places.domain === "nic_rx") add(0.3, () => ({ kind: "tag", value: random.word() }));
  for (const chance of [0.4, 0.1]) add(chance, () => ({ kind: "counter", counter: random.pick(places.counters) }));
  for (const chance of [0.4, 0.08]) add(chance, () => ({ kind: "modify", list: randomModify(random, frame, places) }));
  for (const chance of [0.12, 0.04]) add(chance, () => ({ kind: "popVlan" }));
  for (const chance of [0.12, 0.04]) add(chance, () => ({ kind: "pushVlan", header: vlanHeader(random) }));
  add(tunnel ? 0.3 : 0.02, () => ({ kind: "reformat", reformat: randomDecapsulation(random, frame) }));
  add(0.12, () => ({ kind: "reformat", reformat: randomEncapsulation(random, frame) }));
  add(0.92, () => randomTerminal(random, frame, places));
  return random.shuffle(list);
}

/** A step that makes the frame longer or shorter. */
export function randomReshape(random: Random, frame: Frame): PipelineAction {
  const tunnel = parsed(frame).headers.some(({ level }) => level === "inner");
  const roll = random.below(4);
  if (roll === 0) return { kind: "popVlan" };
  if (roll === 1) return { kind: "pushVlan", header: vlanHeader(random) };
  const inward = tunnel && roll === 2;
  return {
    kind: "reformat",
    reformat: inward ? randomDecapsulation(random, frame) : randomEncapsulation(random, frame),
  };
}

function vlanHeader(random: Random): number {
  return (random.pick([0x8100, 0x88a8]) * 0x10000 + random.below(0x10000)) >>> 0;
}

function randomTerminal(random: Random, frame: Frame, places: Places): Terminal {
  const roll = random.below(100);
  if (roll < 7) return { kind: "drop" };
  if (roll < 11) return { kind: "rootTable", priority: random.pick(places.priorities.slice(1)) };
  if (roll < 23) return { kind: "array", members: randomMembers(random, frame, places) };
  return randomDestination(random, places);
}

export function randomDestination(random: Random, places: Places): Destination {
  const { domain } = places;
  const roll = random.below(100);
  const table = random.pick(random.chance(0.98) && places.behind.length > 0 ? places.behind : places.tables);
  const onward = places.behind.length > 0 ? 45 : 8;
  if (roll < onward) return { kind: "table", table };
  if (roll < onward + 8 || domain === "nic_tx") return { kind: "defaultMiss" };
  if (domain === "nic_rx") return { kind: "qp", qp: random.pick(places.queues) };
  if (random.chance(0.65)) return { kind: "vport", vport: random.pick(places.vports) };
  return { kind: "port", port: random.pick(places.ports) };
}

/** Two to five, rarely very many. */
function randomMembers(random: Random, frame: Frame, places: Places): Member[] {
  const many = random.chance(0.06);
  return Array.from({ length: many ? random.between(20, 64) : random.between(2, 5) }, () => ({
    ...(random.chance(0.25) ? { reformat: randomEncapsulation(random, frame) } : {}),
    dest: random.chance(0.2)
      ? { kind: "counter", counter: random.pick(places.counters) }
      : randomDestination(random, places),
  }));
}

/** One to five actions. */
export function randomModify(random: Random, frame: Frame, { domain }: Pick<Places, "domain">): Modify[] {
  const { headers } = parsed(frame);
  const names = [...MODIFY_FIELDS].filter(([, { register }]) => {
    return register === undefined || (register === "A" ? domain === "nic_tx" : register !== "B" || domain === "nic_rx");
  });
  const registers = names.filter(([, { register }]) => register !== undefined);
  const there = names.filter(([, { level, places }]) =>
    headers.some((one) => one.level === level && (places.has(one.kind) || places.has("ethertype"))),
  );
  const field = (): string => {
    const roll = random.below(10);
    return random.pick(roll < 3 || there.length === 0 ? registers : roll < 4 ? names : there)[0];
  };
  return Array.from({ length: random.between(1, 5) }, () => {
    const roll = random.below(20);
    if (roll < 11) return randomSet(random, field(), frame);
    return roll < 14 ? { type: "add", field: field(), data: added(random) } : randomCopy(random, field(), field());
  });
}

/** Adds one, subtracts one (of any width), or anything. */
const added = (random: Random): number => random.pick([1, 0xff, 0xffff, 0xffffffff, random.word()]);

/** Bits `offset` .. `offset + length - 1` of a field; a length of 32 is written as 0. */
interface Slice {
  offset: number;
  length: number;
}

function sliceOf(random: Random, field: string, most = 32): Slice {
  const width = MODIFY_FIELDS.get(field)?.width ?? 0;
  const length = random.chance(0.5) ? Math.min(width, most) : random.between(1, Math.min(width, most));
  return { offset: random.chance(0.5) ? 0 : random.below(width - length + 1), length };
}

function randomSet(random: Random, field: string, frame: Frame): Modify {
  const { offset, length } = sliceOf(random, field);
  const data = random.chance(0.5) && offset === 0 ? telling(random, field, frame) : random.word();
  return { type: "set", field, data, offset, length: length & 31 };
}

function randomCopy(random: Random, from: string, to: string): Modify {
  const source = sliceOf(random, from);
  const { offset, length } = sliceOf(random, to, source.length);
  return {
    type: "copy",
    field: from,
    src_offset: source.offset,
    length: length & 31,
    to,
    dst_offset: offset,
  };
}

const TUNNEL_PORTS = [2152, 4500, 4789, 4790, 4791, 6081, 6635];

/** Values that change how the frame parses: other types and ports, UDP checksums that become 0. */
function telling(random: Random, field: string, frame: Frame): number {
  if (field.endsWith("ETHERTYPE")) return random.pick([0x0800, 0x86dd, 0x8100, 0x8847, 0x0806, 0x88e5]);
  if (field.endsWith("UDP_DPORT")) return random.pick(TUNNEL_PORTS);
  if (field === "OUT_UDP_SPORT") return sumOfNothing(frame) ?? random.word();
  if (field.endsWith("FIRST_VID")) return random.below(4);
  return random.pick([0, 0xffffffff, random.word()]);
}

/** The source port that makes the checksum 0: the port plus the checksum. */
function sumOfNothing(frame: Frame): number | null {
  const at = parsed(frame).headers.find(({ kind, level }) => kind === "udp" && level === "outer")?.offset;
  if (at === undefined) return null;
  return onesComplementSum(frame.bytes.subarray(at, at + 2), frame.bytes.subarray(at + 6, at + 8));
}

function randomDecapsulation(random: Random, frame: Frame): Reformat {
  const inner = parsed(frame).headers.filter(({ level }) => level === "inner");
  const l2 = inner.some(({ kind }) => kind === "ethernet") ? random.chance(0.6) : random.chance(0.1);
  if (l2) return { type: REFORMAT.L2_TUNNEL_TO_L2, data: new Uint8Array() };
  const type = inner.some(({ kind }) => kind === "ipv6") ? 0x86dd : 0x0800;
  const tag = random.chance(0.4) ? [0x81, 0, ...random.bytes(2)] : [];
  return { type: REFORMAT.L3_TUNNEL_TO_L2, data: Uint8Array.from([...macs(random), ...tag, ...be(type, 2)]) };
}

const macs = (random: Random): number[] => [...some(random, [0x661122334455n], 6), ...random.bytes(6)];

/** A tunnel, usually of a kind that can carry the frame. */
function randomEncapsulation(random: Random, frame: Frame): Reformat {
  const l3 = random.chance(0.5);
  const six = parsed(frame).fields.get("outer.ip_version") === 6n;
  const [protocol, header] = random.pick(l3 ? aroundIp(random, six) : aroundEthernet(random));
  const type = l3 ? REFORMAT.L2_TO_L3_TUNNEL : REFORMAT.L2_TO_L2_TUNNEL;
  return { type, data: Uint8Array.from(outerHeaders(random, protocol, header)) };
}

type Tunnel = readonly [protocol: number, header: readonly number[]];

const vni = (random: Random): number[] => some(random, [42, 5001], 3);
/** Lengths are to be filled in, as is the source port of a known port; the checksum is not. */
const udp = (random: Random, port: number, header: readonly number[]): Tunnel => [
  17,
  [
    ...random.bytes(2),
    ...be(port, 2),
    ...random.pick([[0, 0], random.bytes(2)]),
    ...random.pick([[0, 0], random.bytes(2)]),
    ...header,
  ],
];
/** Without and with a checksum and a key. */
const gre = (random: Random, type: number, behind: readonly number[] = []): Tunnel =>
  random.chance(0.5)
    ? [47, [0, 0, ...be(type, 2), ...behind]]
    : [47, [0xa0, 0, ...be(type, 2), ...random.bytes(8), ...behind]];

function aroundEthernet(random: Random): Tunnel[] {
  return [
    udp(random, 4789, [8, 0, 0, 0, ...vni(random), 0]),
    udp(random, 4790, [0x0c, 0, 0, 3, ...vni(random), 0]),
    udp(random, 6081, [1, 0, 0x65, 0x58, ...vni(random), 0, ...[1, 2, 0x81, 0]]),
    udp(random, random.pick([53, 4500, 9000]), random.bytes(random.below(12))),
    gre(random, 0x6558),
    [random.pick([97, 143]), []],
  ];
}

function aroundIp(random: Random, six: boolean): Tunnel[] {
  const type = six ? 0x86dd : 0x0800;
  return [
    udp(random, 4790, [0x0c, 0, 0, six ? 2 : 1, ...vni(random), 0]),
    udp(random, 6081, [0, 0, ...be(type, 2), ...vni(random), 0]),
    udp(random, 2152, [0x30, 255, ...random.bytes(6)]),
    udp(random, 6635, [...random.bytes(2), 0x01, 64]),
    gre(random, type),
    gre(random, 0x8847, be(0x2a0140, 4)),
    [six ? 41 : 4, []],
  ];
}

/**
 * Ethernet with or without tags, IPv4 with or without options, or IPv6; then the tunnel header,
 * rarely long.
 */
function outerHeaders(random: Random, protocol: number, header: readonly number[]): number[] {
  const tags = Array.from({ length: random.pick([0, 0, 0, 1, 2]) }, () => be(vlanHeader(random), 4)).flat();
  const six = random.chance(0.35);
  const options = random.chance(0.15) ? [1, 1, 1, 0] : [];
  const garbage = random.bytes(2);
  const ip = six
    ? [...be(0x6000_0000 + random.below(1 << 28), 4), ...garbage, protocol, 64, ...random.bytes(32)]
    : [
        ...[0x45 + options.length / 4, random.below(256), ...garbage, ...random.bytes(2), 0x40, 0, 64, protocol],
        ...random.pick([[0, 0], garbage]),
        ...some(random, [0x0a000001], 4),
        ...some(random, [0x0a000002], 4),
        ...options,
      ];
  const more = random.chance(0.02) ? random.bytes(random.below(900)) : [];
  return [...macs(random), ...tags, ...be(six ? 0x86dd : 0x0800, 2), ...ip, ...header, ...more];
}
