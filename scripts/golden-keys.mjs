#!/usr/bin/env node
// What tshark sees in each frame of a directory of captures, under our field names: the golden files that the reference
// parser and the engine are compared with. Run once by hand; the result is committed.
//
//   node scripts/golden-keys.mjs test/captures test/golden/keys [capture ...]
//
// One JSON file for each capture: { capture, tshark, frames: [{ number, wireLength, capturedLength, protocols, marks,
// fields }] }. Only fields that tshark names are in it: no l3_ok, l4_ok, port. Addresses are text, the rest numbers.
// `marks` holds "short" and "malformed" where tshark says so of the frame, "source_route" where an IPv4 header has that
// option (tshark then shows the end of the route as the destination).
//
// Occurrence decides the level: the first of each header is outer; behind `vxlan` a second packet begins, which is
// inner. Collecting ends at the first header that is neither in HEADERS nor expected there (a tunnel that is out of
// scope, an application). tshark's PDML is read, not its JSON, because PDML keeps the order of headers and repeated ones.
// Reassembly is off: each frame stands for itself.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const OPTIONS = [
  ...["ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE"].flatMap((o) => ["-o", o]),
];

/** Headers that are followed. What is nested in another header (a packet quoted by ICMP) is not a header of the frame. */
const HEADERS = new Set("eth sll null raw vlan ieee8021ad ip ipv6 tcp udp icmp icmpv6 vxlan".split(" "));
/** Headers that tshark nests in ipv6. */
const EXTENSIONS = new Set("ipv6.hopopts ipv6.routing ipv6.fraghdr ipv6.dstopts ah".split(" "));
/** Entries of tshark's own that are not headers. */
const NOT_HEADERS = new Set("geninfo frame fake-field-wrapper".split(" "));

const MARKS = { "_ws.short": "short", "_ws.malformed": "malformed" };

const VXLAN_PORT = 4789;

/** Loose and strict source and record route (RFC 791). */
const SOURCE_ROUTES = new Set([131, 137]);

/**
 * The mapping table: tshark's field -> our field. `$` is the level ("outer" or "inner"). The second member converts
 * tshark's text; without it the text is a number, decimal or 0x. A later field of the same name overwrites an earlier
 * one: that is how the last VLAN tag gives the ethertype and the last extension header gives ip_protocol.
 */
const text = (show) => show;
const MAPPING = {
  "eth.dst": ["$.dmac", text],
  "eth.src": ["$.smac", text],
  "eth.type": ["$.ethertype"],
  "eth.len": ["$.ethertype"], // 802.3: the two bytes as they are
  "vlan.etype": ["$.ethertype"],
  "vlan.len": ["$.ethertype"],
  "ieee8021ah.etype": ["$.ethertype"], // so named inside ieee8021ad too
  "ip.version": ["$.ip_version"],
  "ip.hdr_len": ["$.ipv4_ihl", (show) => Number(show) / 4],
  "ip.dsfield.dscp": ["$.ip_dscp"],
  "ip.dsfield.ecn": ["$.ip_ecn"],
  "ip.flags": ["ext.$_ipv4_flags"],
  "ip.ttl": ["$.ip_ttl_hoplimit"],
  "ip.proto": ["$.ip_protocol"],
  "ip.src": ["$.ipv4_src", text],
  "ip.dst": ["$.ipv4_dst", text],
  "ipv6.version": ["$.ip_version"],
  "ipv6.tclass.dscp": ["$.ip_dscp"],
  "ipv6.tclass.ecn": ["$.ip_ecn"],
  "ipv6.flow": ["misc.$_ipv6_flow_label"],
  "ipv6.hlim": ["$.ip_ttl_hoplimit"],
  "ipv6.src": ["$.ipv6_src", text],
  "ipv6.dst": ["$.ipv6_dst", text],
  "ipv6.nxt": ["$.ip_protocol"],
  "ipv6.hopopts.nxt": ["$.ip_protocol"],
  "ipv6.routing.nxt": ["$.ip_protocol"],
  "ipv6.fraghdr.nxt": ["$.ip_protocol"],
  "ipv6.dstopts.nxt": ["$.ip_protocol"],
  "ah.next_header": ["$.ip_protocol"],
  "tcp.srcport": ["$.tcp_sport"],
  "tcp.dstport": ["$.tcp_dport"],
  "tcp.flags": ["$.tcp_flags", (show) => Number(show) & 0x1ff], // tshark counts the three reserved bits in
  "tcp.seq_raw": ["misc3.$_tcp_seq_num"],
  "tcp.ack_raw": ["misc3.$_tcp_ack_num"],
  "udp.srcport": ["$.udp_sport"],
  "udp.dstport": ["$.udp_dport"],
  "vxlan.vni": ["misc.vxlan_vni"],
};
/** Of the outer packet only. */
const OUTER_ONLY = {
  "icmp.type": ["misc3.icmp_type"],
  "icmp.code": ["misc3.icmp_code"],
  "icmpv6.type": ["misc3.icmpv6_type"],
  "icmpv6.code": ["misc3.icmpv6_code"],
};
/** Two tshark fields side by side make one dword of ours: high half << bits | low half. */
const PAIRS = [
  ["icmp.ident", "icmp.seq", 16, "misc3.icmp_header_data", "outer"],
  ["icmpv6.echo.identifier", "icmpv6.echo.sequence_number", 16, "misc3.icmpv6_header_data", "outer"],
  ["vxlan.flags", "vxlan.gbp", 16, "misc5.tunnel_header_0"],
  ["vxlan.vni", "vxlan.reserved8", 8, "misc5.tunnel_header_1"],
];
/** State bits, from what tshark shows: 1 where it holds, else left out. */
const FRAGMENT = ["ip.flags.mf", "ip.frag_offset", "ipv6.fraghdr.more", "ipv6.fraghdr.offset"];
const TAG_FIELDS = {
  prio: ["vlan.priority", "ieee8021ad.priority"],
  cfi: ["vlan.dei", "ieee8021ad.dei"],
  vid: ["vlan.id", "ieee8021ad.id", "ieee8021ad.svid", "ieee8021ad.cvid"],
};
const TAG_STATE = { vlan: "cvlan_tag", ieee8021ad: "svlan_tag" };

/** The top-level headers of one packet in order: { name, fields: [[name, show]] }; nested extension headers join ipv6. */
function headersOf(pdml) {
  const headers = [];
  const protos = [];
  for (const [, close, tag, attributes, selfClosed] of pdml.matchAll(/<(\/?)(proto|field)\b([^>]*?)(\/?)>/g)) {
    const name = /\bname="([^"]*)"/.exec(attributes)?.[1] ?? "";
    if (tag === "proto") {
      if (close) protos.pop();
      else {
        if (protos.length === 0) headers.push({ name, fields: [] });
        if (!selfClosed) protos.push(name);
      }
    } else if (!close) {
      const show = /\bshow="([^"]*)"/.exec(attributes)?.[1];
      const own = protos.length === 1 || (protos.length === 2 && protos[0] === "ipv6" && EXTENSIONS.has(protos[1]));
      // Inside ipv6 tshark adds a hidden ip.version for filters.
      if (own && show !== undefined && !(protos[0] === "ipv6" && name.startsWith("ip.")))
        headers.at(-1).fields.push([name, show]);
    }
  }
  return headers;
}

function fieldsOf(headers) {
  const fields = {};
  let level = "outer";
  let tags = 0;
  let ethernet = false;
  let ip = false;
  for (const { name, fields: found } of headers) {
    if (NOT_HEADERS.has(name) || name in MARKS) continue;
    const again = (name === "ip" || name === "ipv6") && ip;
    // tshark calls VXLAN-GPE vxlan too, and looks at the source port as well.
    const notOurs = name === "vxlan" && (level === "inner" || fields["outer.udp_dport"] !== VXLAN_PORT);
    if (!HEADERS.has(name) || again || notOurs) break;
    const shown = new Map(found);
    if (name === "eth") ethernet = true;
    if (name === "ip" || name === "ipv6") ip = true;

    if (name in TAG_STATE) {
      if (!ethernet) continue; // captures without Ethernet have no L2 fields
      for (const tag of tagsOf(found)) setTag(fields, level, tags++, name, tag);
    }
    for (const [key, show] of found) {
      const [target, convert = Number] = MAPPING[key] ?? (level === "outer" ? OUTER_ONLY[key] : undefined) ?? [];
      if (target) fields[target.replace("$", level)] = convert(show);
    }
    for (const [high, low, bits, target, only] of PAIRS) {
      if (!shown.has(high) || !shown.has(low) || (only && only !== level)) continue;
      fields[target] = Number(shown.get(high)) * 2 ** bits + Number(shown.get(low));
    }
    if (found.some(([key, show]) => FRAGMENT.includes(key) && Number(show) !== 0)) fields[`${level}.frag`] = 1;

    if (name === "vxlan") [level, tags, ethernet, ip] = ["inner", 0, false, false];
  }
  return fields;
}

/** tshark's ieee8021ad holds two tags where both are service tags: the second begins where the priority comes again. */
function tagsOf(found) {
  const tags = [];
  for (const [key, show] of found) {
    if (TAG_FIELDS.prio.includes(key)) tags.push(new Map());
    tags.at(-1)?.set(key, show);
  }
  return tags;
}

function setTag(fields, level, index, name, shown) {
  const prefix = [`${level}.first`, `misc.${level}_second`][index];
  if (!prefix) return;
  for (const [part, keys] of Object.entries(TAG_FIELDS)) {
    const show = keys.map((key) => shown.get(key)).find((value) => value !== undefined);
    if (show !== undefined) fields[`${prefix}_${part}`] = Number(show);
  }
  fields[index === 0 ? `${level}.${TAG_STATE[name]}` : `${prefix}_${TAG_STATE[name]}`] = 1;
}

function marksOf({ name, fields }) {
  const routed =
    name === "ip" && fields.some(([key, show]) => key === "ip.opt.type" && SOURCE_ROUTES.has(Number(show)));
  return [...(name in MARKS ? [MARKS[name]] : []), ...(routed ? ["source_route"] : [])];
}

function framesOf(path) {
  const pdml = execFileSync("tshark", ["-n", "-r", path, ...OPTIONS, "-T", "pdml"], {
    encoding: "utf8",
    maxBuffer: 1 << 30,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const packets = [...pdml.matchAll(/<packet>([^]*?)<\/packet>/g)].map(([, body]) => headersOf(body));
  const factsOf = (headers) => new Map(headers.find((header) => header.name === "frame").fields);
  // tshark counts pcapng blocks that are no packets too; they have no link type.
  const frames = packets.filter((headers) => factsOf(headers).has("frame.encap_type"));
  return frames.map((headers, index) => {
    const frame = factsOf(headers);
    return {
      number: index + 1,
      wireLength: Number(frame.get("frame.len")),
      capturedLength: Number(frame.get("frame.cap_len")),
      protocols: frame.get("frame.protocols"),
      marks: [...new Set(headers.flatMap(marksOf))],
      fields: fieldsOf(headers),
    };
  });
}

/** One frame a line: small files that still diff. */
function render(golden) {
  const { frames, ...head } = golden;
  const lines = frames.map((frame) => `    ${JSON.stringify(frame)}`).join(",\n");
  return `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "frames": [${lines ? `\n${lines}\n  ` : ""}]\n}\n`;
}

const [capturesDir, outDir, ...chosen] = process.argv.slice(2);
if (!capturesDir || !outDir) {
  console.error("usage: golden-keys.mjs <captures directory> <output directory> [capture ...]");
  process.exit(2);
}
const tshark = /(\d+\.\d+\.\d+)/.exec(execFileSync("tshark", ["--version"], { encoding: "utf8", stdio: "pipe" }))[1];
mkdirSync(outDir, { recursive: true });
for (const capture of readdirSync(capturesDir).sort()) {
  if (!/\.(pcap|pcapng|cap)$/.test(capture) || (chosen.length && !chosen.includes(capture))) continue;
  const frames = framesOf(join(capturesDir, capture));
  writeFileSync(join(outDir, `${basename(capture)}.json`), render({ capture, tshark, frames }));
  console.log(`${capture}: ${frames.length} frames`);
}
