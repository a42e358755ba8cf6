// Drawn lists of changes on drawn frames; the same ones every time.

import { built, captured, data, ethernet, icmp, icmpv6, ipv4, ipv6, spoilt, tcp, udp, vlan } from "../frames.mjs";
import * as pairs from "../pairs.mjs";
import { changed } from "./make.mjs";

const CASES = 150;

let state = 0x2545f491;
/** Below `bound`, by xorshift (Marsaglia 2003). */
function draw(bound) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % bound;
}
const one = (list) => list[draw(list.length)];
const hex = (digits) => Array.from({ length: digits }, () => draw(16).toString(16)).join("");
const mac = () => `0${one("0268ace")}:${Array.from({ length: 5 }, () => hex(2)).join(":")}`;
const quad = () => Array.from({ length: 4 }, () => draw(256)).join(".");
const address6 = () => Array.from({ length: 8 }, () => hex(4)).join(":");
const port = () => draw(0x10000);

const ANY = [() => pairs.ethSource(mac()), () => pairs.ethDestination(mac())];
const BOTH = [() => pairs.dscp(draw(64)), () => pairs.ecn(draw(4))];
const OF = {
  ip: [
    ...BOTH,
    () => pairs.ipv4Source(quad()),
    () => pairs.ipv4Destination(quad()),
    () => pairs.ttl(draw(240) + 16),
    () => pairs.decrementTtl,
    () => pairs.load(someBits(pairs.PARTS.ipv4Source[0]), 1),
  ],
  ipv6: [
    ...BOTH,
    () => pairs.ipv6Source(address6()),
    () => pairs.ipv6Destination(address6()),
    () => pairs.hopLimit(draw(240) + 16),
    () => pairs.decrementHopLimit,
    () => pairs.load(someBits(one(pairs.PARTS.ipv6Destination)), 1),
  ],
  tcp: [() => pairs.tcpSource(port()), () => pairs.tcpDestination(port())],
  udp: [() => pairs.udpSource(port()), () => pairs.udpDestination(port())],
  vlan: [() => pairs.vlanId(draw(4096)), () => pairs.vlanPriority(draw(8))],
};

function someBits(part) {
  const offset = draw(31);
  return pairs.bits(part, offset, 1 + draw(31 - offset));
}

const TPIDS = [0x81, 0x88];
const twice = ({ bytes }) => TPIDS.includes(bytes[12]) && TPIDS.includes(bytes[16]);

/** Frames, what OpenFlow says that they are, and the changes that they can take. */
async function frames() {
  const upper = () => {
    const payload = data(draw(70), draw(1000));
    return one([
      ["tcp", tcp, payload],
      ["udp", udp, payload],
      ["udp", { ...udp, checksum: 0 }, payload],
      ["", one([icmp, icmpv6]), payload],
    ]);
  };
  const made = () => {
    const [name, ...layers] = upper();
    const six = layers[0].header === "icmpv6" || (layers[0].header !== "icmp" && draw(2) === 1);
    const tags = Array.from({ length: draw(3) }, () => vlan(draw(4096), { pcp: draw(8) }));
    const frame = built(ethernet, ...tags, six ? ipv6 : ipv4, ...layers);
    const at = 14 + 4 * tags.length + (six ? 40 : 20) + (name === "tcp" ? 16 : 6);
    const wrong = name !== "" && layers[0].checksum !== 0 && draw(3) === 0;
    const match = name === "" ? (six ? "ipv6" : "ip") : six ? `${name}6` : name;
    return [
      wrong ? spoilt(frame, at, 1 + draw(0xffff)) : frame,
      match,
      [six ? "ipv6" : "ip", name, tags.length > 0 ? "vlan" : ""],
    ];
  };
  const taken = await Promise.all(
    [
      ["print-flags.pcap", 1, "tcp", "ip", "tcp"],
      ["dns_udp.pcap", 2, "udp", "ip", "udp"],
      ["ipv6.pcap", 5, "tcp6", "ipv6", "tcp"],
      // Its tags have the DEI bit, where Open vSwitch keeps whether there is a tag: their fields are left alone.
      ["http-qinq-0.pcap", 4, "tcp", "ip", "tcp"],
      ["IcmpPackets.pcap", 1, "ip", "ip"],
      ["icmpv6.pcap", 1, "ipv6", "ipv6"],
      ["ipv4-options.pcap", 2, "ip", "ip"],
      ["fragmented-1.pcap", 1, "ip", "ip"],
      ["ipv6_opt_fragments.pcap", 2, "ipv6", "ipv6"],
      ["ipv6_options.pcap", 6, "ipv6", "ipv6"],
      ["vxlan.pcap", 4, "udp", "ip", "udp"],
      ["gtp.pcap", 1, "udp", "ip", "udp"],
      ["geneve.pcap", 3, "udp", "ip", "udp"],
      ["6in4.pcap", 1, "ip", "ip"],
      ["esp-strongswan-aes128gcm16.wire.pcap", 1, "udp", "ip", "udp"],
    ].map(async ([file, number, match, ...kinds]) => [await captured(file, number), match, kinds]),
  );
  return () => (draw(2) === 0 ? made() : one(taken));
}

export const drawn = async () => {
  const next = await frames();
  return Array.from({ length: CASES }, (_, i) => {
    const [frame, match, kinds] = next();
    const tagged = kinds.includes("vlan");
    const pool = [ANY, ...kinds.filter((kind) => kind !== "").map((kind) => OF[kind])].flat();
    const changes = Array.from({ length: 1 + draw(6) }, () => one(pool)());
    const pop = tagged && draw(3) === 0 && !changes.some(({ openflow }) => openflow.includes("vlan"));
    // Open vSwitch keeps two tags.
    const push = draw(4) === 0 && (pop || !twice(frame));
    return changed(
      `${i + 1}: ${frame.from}`,
      frame,
      [match, ...(tagged ? ["vlan_tci=0x1000/0x1000"] : [])].join(","),
      ...(pop ? [pairs.popVlan] : []),
      ...changes,
      ...(push ? [pairs.pushVlan(one([0x8100, 0x88a8]), draw(4096), draw(8))] : []),
    );
  });
};
