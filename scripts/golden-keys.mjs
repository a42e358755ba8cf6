#!/usr/bin/env node
// What tshark sees in each frame of a directory of captures, under our field names: the golden files that the reference
// parser and the engine are compared with. Run once by hand; the result is committed.
//
//   node scripts/golden-keys.mjs test/captures test/golden/keys [capture ...]
//
// One JSON file for each capture: { capture, tshark, frames: [{ number, wireLength, capturedLength, protocols, marks,
// fields }] }. Only fields that tshark names are in it: no l3_ok, l4_ok, port. Addresses are text, the rest numbers.
// `marks` holds "short" and "malformed" where tshark says so of the frame, "source_route" where an IPv4 header has that
// option (tshark then shows the end of the route as the destination), "segments_left" where an IPv6 routing header has
// some (tshark then verifies checksums by the last of them), "outer_no_checksum" and "inner_no_checksum" where a UDP
// checksum is 0.
//
// Occurrence decides the level: the first of each header is outer; behind a tunnel's header, and at the second of two IP
// headers in a row, a second packet begins, which is inner. Collecting ends at the first header that is neither in
// HEADERS nor expected there (a tunnel in a tunnel, an application). tshark's PDML is read, not its JSON, because PDML
// keeps the order of headers and repeated ones. Whole dwords are the frame's bytes, as tshark prints them, where tshark
// says that the header lies. Reassembly is off: each frame stands for itself.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const OPTIONS = [
  ...["ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE"],
  ...["ip", "tcp", "udp"].map((name) => `${name}.check_checksum:TRUE`),
].flatMap((option) => ["-o", option]);

/** Headers that are followed. What is nested in another header (a packet quoted by ICMP) is not a header of the frame. */
const HEADERS = new Set([
  ..."eth sll null raw vlan ieee8021ad macsec mpls ip ipv6 tcp udp icmp icmpv6 sctp udpencap esp infiniband".split(" "),
  ..."gre vxlan vxlan_gpe geneve gtp".split(" "),
]);
/** Tunnels: the next Ethernet or IP header begins the inner packet. */
const TUNNELS = new Set("gre vxlan vxlan_gpe geneve gtp".split(" "));
/** Destination ports, and 4500 of the source: tshark looks at all source ports as well, and guesses. */
const PORTS = {
  vxlan: 4789,
  vxlan_gpe: 4790,
  geneve: 6081,
  gtp: 2152,
  mpls: 6635,
  udpencap: 4500,
  infiniband: 4791,
};
/** Headers that tshark nests in ipv6. */
const EXTENSIONS = new Set("ipv6.hopopts ipv6.routing ipv6.fraghdr ipv6.dstopts ah".split(" "));
/** Entries of tshark's own that are not headers. */
const NOT_HEADERS = new Set("geninfo frame fake-field-wrapper".split(" "));

const MARKS = { "_ws.short": "short", "_ws.malformed": "malformed" };

/** Loose and strict source and record route (RFC 791). */
const SOURCE_ROUTES = new Set([131, 137]);

/**
 * The mapping table: tshark's field -> our field. `$` is the level ("outer" or "inner"). The second member converts
 * tshark's text; without it the text is a number, decimal or 0x. A later field of the same name overwrites an earlier
 * one: that is how the last VLAN tag gives the ethertype and the last extension header gives ip_protocol.
 */
const text = (show) => show;
/** State bits are left out when 0. */
const bit = (show) => (Number(show) === 1 ? 1 : undefined);
/** tshark: 0 is bad, 1 good, 2 unverified, 3 not there. */
const good = bit;
const truth = (show) => Number(show === "True" || show === "1");
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
  "ip.checksum.status": ["$.ipv4_checksum_ok", good],
  "tcp.checksum.status": ["$.l4_checksum_ok", good],
  "udp.checksum.status": ["$.l4_checksum_ok", good],
  "sctp.srcport": ["ext.$_sctp_sport"],
  "sctp.dstport": ["ext.$_sctp_dport"],
  "esp.spi": ["misc.$_esp_spi"],
  "esp.sequence": ["ext.$_esp_seq"],
};
/** Of the outer packet only. */
const OUTER_ONLY = {
  "gre.flags_and_version": ["ext.gre_c_ks_res0_ver"],
  "gre.flags.checksum": ["misc.gre_c_present", bit],
  "gre.flags.key": ["misc.gre_k_present", bit],
  "gre.flags.sequence_number": ["misc.gre_s_present", bit],
  "gre.proto": ["misc.gre_protocol"],
  "gre.key": ["misc.gre_key"],
  "geneve.option.length": ["misc.geneve_opt_len", (show) => Number(show) / 4],
  "geneve.flags.oam": ["misc.geneve_oam"],
  "geneve.proto_type": ["misc.geneve_protocol_type"],
  "geneve.vni": ["misc.geneve_vni"],
  "gtp.flags": ["misc3.gtpu_msg_flags"],
  "gtp.message": ["misc3.gtpu_msg_type"],
  "gtp.teid": ["misc3.gtpu_teid"],
  "infiniband.bth.opcode": ["misc.bth_opcode"],
  "infiniband.bth.destqp": ["misc.bth_dst_qp"],
  "infiniband.bth.a": ["misc.bth_a", truth],
  "icmp.type": ["misc3.icmp_type"],
  "icmp.code": ["misc3.icmp_code"],
  "icmpv6.type": ["misc3.icmpv6_type"],
  "icmpv6.code": ["misc3.icmpv6_code"],
};
/** What is called alike in different headers. */
const OF_HEADER = {
  vxlan: { "vxlan.vni": ["misc.vxlan_vni"] },
  vxlan_gpe: {
    "vxlan.flags": ["misc3.outer_vxlan_gpe_flags"],
    "vxlan.next_proto": ["misc3.outer_vxlan_gpe_next_protocol"],
    "vxlan.vni": ["misc3.outer_vxlan_gpe_vni"],
  },
};
/** The key of GRE version 1, in two halves. */
const GRE_KEY_HALVES = ["gre.key.payload_length", "gre.key.call_id"];
/** No checksum, which only UDP can have. */
const NO_CHECKSUM = "3";
/** State bits, from what tshark shows: 1 where it holds, else left out. */
const FRAGMENT = ["ip.flags.mf", "ip.frag_offset", "ipv6.fraghdr.more", "ipv6.fraghdr.offset"];
const TAG_FIELDS = {
  prio: ["vlan.priority", "ieee8021ad.priority"],
  cfi: ["vlan.dei", "ieee8021ad.dei"],
  vid: ["vlan.id", "ieee8021ad.id", "ieee8021ad.svid", "ieee8021ad.cvid"],
};
const TAG_STATE = { vlan: "cvlan_tag", ieee8021ad: "svlan_tag" };

/**
 * The top-level headers of one packet in order: { name, at, size, fields: [[name, show, at]] }; nested extension headers
 * join ipv6.
 */
function headersOf(pdml) {
  const headers = [];
  const protos = [];
  for (const [, close, tag, attributes, selfClosed] of pdml.matchAll(/<(\/?)(proto|field)\b([^>]*?)(\/?)>/g)) {
    const attribute = (key) => new RegExp(`\\b${key}="([^"]*)"`).exec(attributes)?.[1];
    const name = attribute("name") ?? "";
    if (tag === "proto") {
      if (close) protos.pop();
      else {
        if (protos.length === 0)
          headers.push({ name, at: Number(attribute("pos")), size: Number(attribute("size")), fields: [] });
        if (!selfClosed) protos.push(name);
      }
    } else if (!close) {
      const show = attribute("show");
      const own = protos.length === 1 || (protos.length === 2 && protos[0] === "ipv6" && EXTENSIONS.has(protos[1]));
      // Inside ipv6 tshark adds a hidden ip.version for filters.
      if (own && show !== undefined && !(protos[0] === "ipv6" && name.startsWith("ip.")))
        headers.at(-1).fields.push([name, show, Number(attribute("pos"))]);
    }
  }
  return headers;
}

/** What is followed of a frame, in order: each header with its level and the one before it. */
function followed(headers) {
  const list = [];
  let level = "outer";
  let before = "";
  let port;
  let inTunnel = false;
  let ip = false;
  for (const header of headers) {
    const { fields } = header;
    // tshark calls both by one name.
    const name = fields.some(([key]) => key === "vxlan.next_proto") ? "vxlan_gpe" : header.name;
    if (NOT_HEADERS.has(name) || name in MARKS) continue;
    const isIp = name === "ip" || name === "ipv6";
    const tunnel = TUNNELS.has(name) || (name === "mpls" && (before === "udp" || inTunnel));
    const elsewhere = before === "udp" && name in PORTS && PORTS[name] !== port;
    if (!HEADERS.has(name) || elsewhere) break;
    if (tunnel && level === "inner") {
      const entry = name === "gre" ? headers[headers.indexOf(header) + 1] : header;
      if (entry?.name === "mpls") list.push({ ...entry, level, before: name === "gre" ? "gre" : before });
      break;
    }
    const ipInIp = isIp && (before === "ip" || before === "ipv6");
    if (level === "outer" && (ipInIp || (inTunnel && (isIp || name === "eth")))) {
      [level, ip, inTunnel] = ["inner", false, false];
    } else if ((isIp && ip) || (name === "eth" && list.length > 0)) break;
    list.push({ ...header, name, level, before });
    if (isIp) ip = true;
    if (tunnel) inTunnel = true;
    if (name === "udp") port = telling(fields);
    before = name === "mpls" && before === "mpls" ? before : name;
  }
  return list;
}

/** The port of a UDP header that tells what follows. */
function telling(fields) {
  const [source, destination] = ["udp.srcport", "udp.dstport"].map((key) =>
    Number(fields.find(([name]) => name === key)?.[1]),
  );
  return source === PORTS.udpencap && !Object.values(PORTS).includes(destination) ? source : destination;
}

function fieldsOf(headers, bytes) {
  const fields = {};
  const tags = { outer: 0, inner: 0 };
  const ethernet = new Set();
  for (const header of followed(headers)) {
    const { name, level, fields: found } = header;
    if (name === "eth") ethernet.add(level);
    if (name in TAG_STATE) {
      if (!ethernet.has(level)) continue; // captures without Ethernet have no L2 fields
      for (const tag of tagsOf(found)) setTag(fields, level, tags[level]++, name, tag);
    }
    const known = { ...MAPPING, ...(level === "outer" ? OUTER_ONLY : {}), ...OF_HEADER[name] };
    for (const [key, show] of found) {
      const [target, convert = Number] = known[key] ?? [];
      const value = target && convert(show);
      if (value !== undefined) fields[target.replace("$", level)] = value;
      if (key === "geneve.option.length") delete known[key]; // so are the lengths of single options called
    }
    if (found.some(([key, show]) => FRAGMENT.includes(key) && Number(show) !== 0)) fields[`${level}.frag`] = 1;
    setMpls(fields, header);
    setDwords(fields, header, bytes);
  }
  return fields;
}

/** The first label stack entry, by what carries it. */
function setMpls(fields, { name, level, before, fields: found }) {
  if (name !== "mpls" || before === "mpls") return;
  const over = before === "gre" || before === "udp" ? `_over_${before}` : "";
  const group = level === "inner" && over !== "" ? "ext" : "misc2";
  for (const [key, part] of Object.entries({ label: "label", exp: "exp", bottom: "s_bos", ttl: "ttl" })) {
    const show = found.find(([one]) => one === `mpls.${key}`)?.[1];
    if (show !== undefined) fields[`${group}.${level}_first_mpls${over}_${part}`] = Number(show);
  }
}

/** What is a whole dword of ours: the frame's own bytes, where tshark says that the header lies. */
function setDwords(fields, { name, level, at, size, fields: found }, bytes) {
  if (level === "inner") return;
  const shown = new Map(found);
  const dword = (target, offset) => {
    if (offset >= at && offset + 4 <= at + size) fields[target] = bytes.readUInt32BE(offset);
  };
  if (name === "icmp" || name === "icmpv6") dword(`misc3.${name}_header_data`, at + 4);
  if (name === "gre" && GRE_KEY_HALVES.every((key) => shown.has(key)))
    fields["misc.gre_key"] = GRE_KEY_HALVES.reduce((sum, key) => sum * 65536 + Number(shown.get(key)), 0);
  if (name === "macsec") {
    fields["misc5.macsec_tag_0"] = 0x88e50000 + bytes.readUInt16BE(at);
    for (const i of [1, 2, 3])
      if (i === 1 || shown.get("macsec.TCI.SC") === "1") dword(`misc5.macsec_tag_${i}`, at + 4 * i - 2);
  }
  let dwords = Math.min(4, Math.floor(size / 4));
  if (name === "gtp") {
    dword("misc3.gtpu_dw_0", at);
    const optional = ["e", "s", "pn"].some((flag) => shown.get(`gtp.flags.${flag}`) === "1");
    if (optional) dword("misc3.gtpu_dw_2", at + 8);
    const extension = found.find(([key]) => key === "gtp.ext_hdr")?.[2];
    if (extension !== undefined) dword("misc3.gtpu_first_ext_dw_0", extension);
    dwords = extension !== undefined ? 4 : optional ? 3 : 2; // tshark counts a message in
  }
  if (TUNNELS.has(name)) for (let i = 0; i < dwords; i++) dword(`misc5.tunnel_header_${i}`, at + 4 * i);
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

function marksOf({ name, fields, level }) {
  const shows = (key, accept) => fields.some(([one, show]) => one === key && accept(show));
  return [
    ...(name in MARKS ? [MARKS[name]] : []),
    ...(name === "ip" && shows("ip.opt.type", (show) => SOURCE_ROUTES.has(Number(show))) ? ["source_route"] : []),
    ...(name === "ipv6" && shows("ipv6.routing.segleft", (show) => Number(show) > 0) ? ["segments_left"] : []),
    ...(level && shows("udp.checksum.status", (show) => show === NO_CHECKSUM) ? [`${level}_no_checksum`] : []),
  ];
}

/** The bytes of each packet, as tshark prints them. */
function bytesOf(path) {
  const packets = JSON.parse(tshark("-r", path, ...OPTIONS, "-T", "jsonraw", "-j", "frame"));
  return packets.map(({ _source: { layers } }) => Buffer.from([layers.frame_raw ?? ""].flat()[0], "hex"));
}

function tshark(...args) {
  return execFileSync("tshark", ["-n", ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 30,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

function framesOf(path) {
  const pdml = tshark("-r", path, ...OPTIONS, "-T", "pdml");
  const bytes = bytesOf(path);
  const packets = [...pdml.matchAll(/<packet>([^]*?)<\/packet>/g)].map(([, body], i) => ({
    headers: headersOf(body),
    bytes: bytes[i],
  }));
  const factsOf = (headers) => new Map(headers.find((header) => header.name === "frame").fields);
  // tshark counts pcapng blocks that are no packets too; they have no link type.
  const frames = packets.filter(({ headers }) => factsOf(headers).has("frame.encap_type"));
  return frames.map(({ headers, bytes }, index) => {
    const frame = factsOf(headers);
    return {
      number: index + 1,
      wireLength: Number(frame.get("frame.len")),
      capturedLength: Number(frame.get("frame.cap_len")),
      protocols: frame.get("frame.protocols"),
      marks: [...new Set([...headers, ...followed(headers)].flatMap(marksOf))],
      fields: fieldsOf(headers, bytes),
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
const version = /(\d+\.\d+\.\d+)/.exec(execFileSync("tshark", ["--version"], { encoding: "utf8", stdio: "pipe" }))[1];
mkdirSync(outDir, { recursive: true });
for (const capture of readdirSync(capturesDir).sort()) {
  if (!/\.(pcap|pcapng|cap)$/.test(capture) || (chosen.length && !chosen.includes(capture))) continue;
  const frames = framesOf(join(capturesDir, capture));
  writeFileSync(join(outDir, `${basename(capture)}.json`), render({ capture, tshark: version, frames }));
  console.log(`${capture}: ${frames.length} frames`);
}
