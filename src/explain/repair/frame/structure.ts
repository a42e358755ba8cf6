/** Gives a frame the headers that a rule needs: one change of the layers for each header that is absent. */
import * as key from "../../../abi/key.js";
import { ETHERTYPE_IPV4, ETHERTYPE_IPV6, PROTOCOL_GRE, TPID_CVLAN, TPID_SVLAN } from "../../../abi/protocols.js";
import { PROTOCOLS, headerBy } from "../../../headers/announcers.js";
import { EXTENSIONS, HEADERS, isOneOf, OVER_UDP, UPPER } from "../../../headers/headers.js";
import type { Level } from "../../../headers/fields.js";
import { headerOfBit } from "../../../headers/presence.js";
import type { HeaderName, HeaderRecord } from "../../../headers/record.js";
import type { UdpPorts } from "../../../model/base/parser.js";
import type { TermFact } from "../facts.js";
import { forget, newLayer, type DraftLayer, type FrameDraft, type LayerFields } from "./draft.js";

const IP = ["ipv4", "ipv6"] as const;
const LINKS = ["ethernet", "linux_cooked", "linux_cooked_v2", "loopback"] as const;
const PORTED: readonly string[] = ["tcp", "udp", "sctp"];

/** Tunnels whose header says what the frame inside begins with. */
const SAY_ETHERNET: Readonly<Partial<Record<HeaderName, LayerFields>>> = {
  vxlan_gpe: { next_protocol: HEADERS.ethernet.announced.gpe },
  geneve: { protocol_type: HEADERS.ethernet.announced.tunnelType },
};

const OF_LEVEL: Readonly<Record<number, (draft: FrameDraft, level: Level) => boolean>> = {
  [key.PRESENT_VLAN]: (draft, level) => addVlan(draft, level, 0),
  [key.PRESENT_VLAN2]: (draft, level) => addVlan(draft, level, 1),
  [key.PRESENT_L3]: (draft, level) => setIp(draft, level, "ipv4"),
  [key.PRESENT_IPV4]: (draft, level) => setIp(draft, level, "ipv4"),
  [key.PRESENT_IPV6]: (draft, level) => setIp(draft, level, "ipv6"),
  [key.PRESENT_MPLS]: addMpls,
};

/**
 * Changes a draft so that it has the header of a term, or as much of it as one change can give.
 * `tunnels` are the presence bits of tunnels that the rule needs. Returns false if it cannot.
 */
export function addHeader(
  draft: FrameDraft,
  { field, value, mask }: TermFact,
  tunnels: number,
  udpPorts: UdpPorts,
): boolean {
  const { here, name } = field;
  const level = name.startsWith("inner.") || name.includes(".inner_") ? "inner" : "outer";
  if (level === "inner" && draft.indexOf("inner", [...LINKS, ...IP]) < 0)
    return addTunnel(draft, tunnelOf(tunnels), udpPorts);
  if (name.endsWith(".ip_version")) return setIp(draft, level, value === 6n ? "ipv6" : "ipv4");
  if (name.endsWith(".ethertype")) return setEtherType(draft, level, Number(value), mask === 0xffffn);
  if (name.endsWith(".ip_protocol")) return setProtocol(draft, level, Number(value));
  if (here === null) return false;
  if (here.word === key.EXT_PRESENT_TUNNEL) {
    const kind = tunnelAt(here.bit);
    if (here.bit === key.PRESENT_GRE_KEY && draft.find("outer", ["gre"]) !== undefined) return addGreKey(draft);
    return kind !== undefined && addTunnel(draft, kind, udpPorts, here.bit === key.PRESENT_MPLS_OVER_GRE);
  }
  const upper = headerOfBit(level, here.bit)?.header;
  if (isOneOf(UPPER, upper)) return setUpper(draft, level, upper);
  return OF_LEVEL[here.bit]?.(draft, level) ?? false;
}

/** Removes the tags of a level from the n-th on. */
export function removeVlans(draft: FrameDraft, level: Level, n: number): boolean {
  const at = draft.indexOf(level, ["vlan"], n);
  const before = draft.layers[at - 1];
  if (before === undefined) return false;
  let count = 1;
  while (draft.layers[at + count]?.header === "vlan") count++;
  const type = draft.layers[at + count - 1]?.fields["type"];
  draft.splice(at, count);
  before.fields["type"] = type;
  return true;
}

/** Makes the n-th tag of a level one of another kind. */
export function setTagKind(draft: FrameDraft, level: Level, n: number, service: boolean): boolean {
  const at = draft.indexOf(level, ["vlan"], n);
  const before = draft.layers[at - 1];
  if (at < 0 || before === undefined) return false;
  before.fields["type"] = service ? TPID_SVLAN : TPID_CVLAN;
  return true;
}

/** Makes a fragment a whole packet, or a whole packet a first fragment. */
export function setFragment(draft: FrameDraft, level: Level, fragment: boolean): boolean {
  const ip = draft.find(level, IP);
  const more = draft.indexOf(level, ["ipv6_fragment"]);
  if (ip?.header === "ipv4") {
    ip.fields["flags"] = fragment ? 1 : 0;
    ip.fields["fragment_offset"] = 0;
    return true;
  }
  if (fragment || more < 0) return false;
  const next = draft.layers[more]?.fields["next_header"];
  const before = draft.layers[more - 1] as DraftLayer;
  draft.splice(more, 1);
  before.fields["next_header"] = next;
  return true;
}

/** Lets lengths and checksums of a level be right. */
export function setRight(draft: FrameDraft, level: Level): boolean {
  for (const layer of draft.layers) {
    if (layer.level !== level) continue;
    for (const name of ["checksum", "total_length", "payload_length", "length"]) forget(layer, name);
  }
  return true;
}

/** Sets the type of the last header of the link layer. */
export function setEtherType(draft: FrameDraft, level: Level, type: number, whole = true): boolean {
  if (whole && type === ETHERTYPE_IPV4) return setIp(draft, level, "ipv4");
  if (whole && type === ETHERTYPE_IPV6) return setIp(draft, level, "ipv6");
  const at = linkEnd(draft, level);
  const link = draft.layers[at - 1];
  if (link === undefined) return false;
  const payload = newLayer("payload", level, { bytes: draft.bytesFrom(at) });
  draft.splice(at, draft.end - at, payload);
  link.fields["type"] = type;
  return true;
}

/** Gives the packet of a level an upper-layer protocol. */
export function setProtocol(draft: FrameDraft, level: Level, protocol: number): boolean {
  const upper = headerBy(PROTOCOLS, protocol);
  if (isOneOf(UPPER, upper)) return setUpper(draft, level, upper);
  if (protocol === PROTOCOL_GRE && level === "outer") return wrap(draft, "gre", undefined, false);
  const at = upperAt(draft, level);
  if (at < 0) return setIp(draft, level, "ipv4");
  const before = draft.layers[at - 1] as DraftLayer;
  const payload = newLayer("payload", level, { bytes: draft.bytesFrom(at) });
  draft.splice(at, draft.end - at, payload);
  before.fields[before.header === "ipv4" ? "protocol" : "next_header"] = protocol;
  return true;
}

function setIp(draft: FrameDraft, level: Level, version: (typeof IP)[number]): boolean {
  const at = draft.indexOf(level, IP);
  if (at < 0) {
    const from = linkEnd(draft, level);
    const payload = newLayer("payload", level, { bytes: draft.bytesFrom(from) });
    draft.splice(from, draft.end - from, newLayer(version, level), payload);
    return true;
  }
  const old = draft.layers[at] as DraftLayer;
  if (old.header === version) return false;
  const { dscp, ecn, ttl, hop_limit } = old.fields;
  const life = ttl ?? hop_limit;
  const added = newLayer(version, level, { dscp, ecn, [version === "ipv4" ? "ttl" : "hop_limit"]: life });
  let count = 1;
  while (isOneOf(EXTENSIONS, draft.layers[at + count]?.header)) count++;
  draft.splice(at, count, added);
  return true;
}

function setUpper(draft: FrameDraft, level: Level, header: HeaderName): boolean {
  const fragment = draft.find(level, IP)?.fields["fragment_offset"];
  if ((typeof fragment === "number" && fragment > 0) || draft.indexOf(level, ["ipv6_fragment"]) >= 0) {
    return setFragment(draft, level, false);
  }
  const at = upperAt(draft, level);
  if (at < 0) return setIp(draft, level, header === "icmpv6" ? "ipv6" : "ipv4");
  const old = draft.layers[at];
  if (old?.header === header) return false;
  const keepsPorts = old !== undefined && PORTED.includes(old.header) && PORTED.includes(header);
  const { source_port, destination_port } = old?.fields ?? {};
  const fields = keepsPorts ? { source_port, destination_port } : {};
  const body = draft.bytesFrom(isOneOf(UPPER, old?.header) ? at + 1 : at);
  draft.splice(at, draft.end - at, newLayer(header, level, fields), newLayer("payload", level, { bytes: body }));
  return true;
}

/** The index of what follows the IP headers of a level; -1 without IP. */
function upperAt(draft: FrameDraft, level: Level): number {
  let at = draft.indexOf(level, IP);
  if (at < 0) return -1;
  do at++;
  while (isOneOf(EXTENSIONS, draft.layers[at]?.header));
  return at;
}

/** The index after the link layer of a level. */
function linkEnd(draft: FrameDraft, level: Level): number {
  let at = draft.layers.findIndex((layer) => layer.level === level && layer.header !== "payload");
  if (at < 0) return draft.end;
  if (LINKS.some((link) => link === draft.layers[at]?.header)) at++;
  while (draft.layers[at]?.header === "vlan") at++;
  return at;
}

/** Adds the first or the second tag of a level. */
export function addVlan(draft: FrameDraft, level: Level, n: number): boolean {
  const first = draft.indexOf(level, ["vlan"]) < 0;
  const at = n === 0 || first ? draft.indexOf(level, ["ethernet"]) + 1 : draft.indexOf(level, ["vlan"]) + 1;
  const before = draft.layers[at - 1];
  if (at === 0 || before === undefined) return false;
  const type = before.fields["type"];
  draft.splice(at, 0, newLayer("vlan", level, { type }));
  before.fields["type"] = TPID_CVLAN;
  return true;
}

function addMpls(draft: FrameDraft, level: Level): boolean {
  const at = linkEnd(draft, level);
  if (draft.layers[at - 1] === undefined) return false;
  draft.splice(at, 0, newLayer("mpls", level));
  return true;
}

/** Gives the GRE header a key. */
export function addGreKey(draft: FrameDraft): boolean {
  const at = draft.indexOf("outer", ["gre"]);
  const gre = draft.layers[at];
  if (gre === undefined) return false;
  // The key makes the header longer, so the lengths before it follow.
  draft.splice(at + 1, 0);
  gre.fields["k"] = true;
  gre.fields["key"] = 0;
  return true;
}

/** The tunnel that a presence bit needs. */
function tunnelAt(bit: number): HeaderName | undefined {
  if (bit === key.PRESENT_GRE_KEY || bit === key.PRESENT_MPLS_OVER_GRE) return "gre";
  const header = headerOfBit("tunnel", bit)?.header;
  return header === "gre" || isOneOf(OVER_UDP, header) ? header : undefined;
}

/** The tunnel that a rule names, or VXLAN. */
function tunnelOf(tunnels: number): HeaderName {
  for (let bit = 1; bit <= tunnels; bit *= 2) {
    const kind = (tunnels & bit) === 0 ? undefined : tunnelAt(bit);
    if (kind !== undefined) return kind;
  }
  return "vxlan";
}

function addTunnel(draft: FrameDraft, kind: HeaderName, udpPorts: UdpPorts, mpls = false): boolean {
  if (!isOneOf(OVER_UDP, kind)) return wrap(draft, kind, undefined, mpls);
  const udp = draft.find("outer", ["udp"]);
  const ports = udpPorts[kind];
  const [port] = ports;
  if (port === undefined) return false;
  if (udp === undefined || ports.includes(udp.fields["destination_port"] as number)) {
    return wrap(draft, kind, port, mpls);
  }
  udp.fields["destination_port"] = port;
  return true;
}

/** Puts the whole frame, or its packet, into a tunnel. */
function wrap(draft: FrameDraft, kind: HeaderName, port: number | undefined, mpls: boolean): boolean {
  const { layers } = draft;
  const link = linkEnd(draft, "outer");
  const [first] = layers;
  if (first === undefined || (link > 0 && first.header !== "ethernet")) return false;
  const { source, destination } = first.fields;
  const outer = link > 0 ? [newLayer("ethernet", "outer", { source, destination })] : [];
  const ip = newLayer("ipv4", "outer");
  const { tunnel }: HeaderRecord = HEADERS[kind];
  const from = kind === "bth" ? draft.end : tunnel === "frame" ? 0 : link;
  const body = newLayer("payload", "inner", { bytes: draft.bytesFrom(from) });
  if (port !== undefined) {
    const udp = newLayer("udp", "outer", { destination_port: port });
    draft.splice(0, draft.end, ...outer, ip, udp, newLayer(kind, "outer", { ...SAY_ETHERNET[kind] }), body);
    return true;
  }
  const inner = layers[link]?.header === "ipv6" ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4;
  const gre = newLayer("gre", "outer", mpls ? {} : { protocol_type: inner });
  draft.splice(0, draft.end, ...outer, ip, gre, ...(mpls ? [newLayer("mpls", "outer")] : []), body);
  return true;
}
