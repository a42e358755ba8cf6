/** A frame in one line, as lists of frames have it: `10.0.0.1:40000 > 10.0.0.7:443 TCP SYN`. */
import type { HeaderName, ParsedHeaders } from "flowsteer";
import { etherTypeName, headerName, protocolName } from "flowsteer/packet";
import { ARP, FLAGS, ICMP, ICMPV6 } from "./numbers.js";

/** A packet of the line: the one that arrived, or one inside a tunnel. */
class Packet {
  /** Reads addresses of Ethernet, then those of IP. */
  ends: (() => readonly [string, string]) | null = null;
  isIp = false;
  ports: readonly [number, number] | null = null;
  words: string[] = [];
  /** What the last header says comes next, in case nothing does. */
  next = "";

  get line(): string {
    const words = this.words.length === 0 || this.words.every((word) => word.startsWith("VLAN")) ? [this.next] : [];
    return [this.#endsText, ...this.words, ...words].filter((word) => word !== "").join(" ");
  }

  get #endsText(): string {
    if (this.ends === null) return "";
    const { ports } = this;
    const ends = this.ends();
    const [from, to] = ports === null ? ends : ends.map((end) => (end.includes(":") ? `[${end}]` : end));
    return ports === null ? `${from} > ${to}` : `${from}:${ports[0]} > ${to}:${ports[1]}`;
  }
}

/**
 * @param frame the captured bytes
 * @param parsed what `device.parseHeaders` says of them
 */
export function summaryOf(frame: Uint8Array, { headers, stopped }: ParsedHeaders): string {
  const bytes = new FrameBytes(frame);
  let packet = new Packet();
  const packets = [packet];
  for (const { header, offset } of headers) {
    const begins = packet.isIp ? ["ethernet", "ipv4", "ipv6"] : packet.ends === null ? [] : ["ethernet"];
    if (begins.includes(header)) packets.push((packet = new Packet()));
    describe(packet, header, bytes, offset);
  }
  const text = packets.map(({ line }) => line).join(" / ");
  const cut = stopped === null ? [] : [`${stopped.header.replaceAll("_", " ")} cut`];
  return [text, ...cut].filter((part) => part !== "").join(", ") || `${frame.length} bytes`;
}

function describe(packet: Packet, header: HeaderName, bytes: FrameBytes, at: number): void {
  const { words } = packet;
  switch (header) {
    case "ethernet":
      packet.ends = () => [bytes.mac(at + 6), bytes.mac(at)];
      packet.next = ethertype(bytes.u16(at + 12));
      break;
    case "vlan":
      words.push(`VLAN ${bytes.u16(at) & 0xfff}`);
      packet.next = ethertype(bytes.u16(at + 2));
      break;
    case "arp":
      words.push("ARP", ARP[bytes.u16(at + 6)] ?? `operation ${bytes.u16(at + 6)}`);
      packet.ends = () => [bytes.ipv4(at + 14), bytes.ipv4(at + 24)];
      break;
    case "ipv4": {
      packet.ends = () => [bytes.ipv4(at + 12), bytes.ipv4(at + 16)];
      packet.isIp = true;
      const fragment = bytes.u16(at + 6) & 0x1fff;
      packet.next = protocol(bytes.u8(at + 9));
      if (fragment > 0) packet.next = `${packet.next} fragment`;
      break;
    }
    case "ipv6":
      packet.ends = () => [bytes.ipv6(at + 8), bytes.ipv6(at + 24)];
      packet.isIp = true;
      packet.next = protocol(bytes.u8(at + 6));
      break;
    case "ipv6_hop_by_hop":
    case "ipv6_destination":
    case "ipv6_routing":
    case "ah":
      packet.next = protocol(bytes.u8(at));
      break;
    case "ipv6_fragment":
      packet.next = `${protocol(bytes.u8(at))} fragment`;
      break;
    case "tcp":
      packet.ports = [bytes.u16(at), bytes.u16(at + 2)];
      words.push("TCP", ...FLAGS.filter((_, bit) => ((bytes.u8(at + 13) >> bit) & 1) === 1));
      break;
    case "udp":
    case "sctp":
      packet.ports = [bytes.u16(at), bytes.u16(at + 2)];
      words.push(header.toUpperCase());
      break;
    case "icmp":
      words.push("ICMP", ICMP[bytes.u8(at)] ?? `type ${bytes.u8(at)}`);
      break;
    case "icmpv6":
      words.push("ICMPv6", ICMPV6[bytes.u8(at)] ?? `type ${bytes.u8(at)}`);
      break;
    case "esp":
      words.push(`ESP 0x${bytes.u32(at).toString(16).padStart(8, "0")}`);
      break;
    case "gre":
      words.push("GRE");
      packet.next = "";
      break;
    case "mpls":
      words.push(`MPLS ${bytes.u32(at) >>> 12}`);
      break;
    case "macsec":
    case "nsh":
      words.push(headerName(header));
      break;
    case "vxlan":
    case "vxlan_gpe":
    case "geneve":
      overUdp(packet, header, bytes.u32(at + 4) >>> 8);
      break;
    case "gtpu":
      overUdp(packet, header, bytes.u32(at + 4));
      break;
    case "bth":
      overUdp(packet, header, `qp ${bytes.u32(at + 4) & 0xffffff}`);
      break;
    case "none":
    case "ip":
    case "loopback":
    case "linux_cooked":
    case "linux_cooked_v2":
    case "gtpu_extension":
  }
}

/** A header whose UDP ports add nothing. */
function overUdp(packet: Packet, header: HeaderName, identifier: number | string): void {
  packet.words = [...packet.words.filter((word) => word !== "UDP"), `${headerName(header)} ${identifier}`];
  packet.ports = null;
}

function ethertype(type: number): string {
  if (type < 0x600) return "LLC";
  return etherTypeName(type) ?? `type 0x${type.toString(16).padStart(4, "0")}`;
}

function protocol(number: number): string {
  return protocolName(number) ?? `protocol ${number}`;
}

/** Numbers and addresses of a frame. What lies after its end is 0. */
class FrameBytes {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  u8(at: number): number {
    return this.#bytes[at] ?? 0;
  }

  u16(at: number): number {
    return (this.u8(at) << 8) | this.u8(at + 1);
  }

  u32(at: number): number {
    return ((this.u16(at) << 16) | this.u16(at + 2)) >>> 0;
  }

  mac(at: number): string {
    return Array.from({ length: 6 }, (_, i) =>
      this.u8(at + i)
        .toString(16)
        .padStart(2, "0"),
    ).join(":");
  }

  ipv4(at: number): string {
    return `${this.u8(at)}.${this.u8(at + 1)}.${this.u8(at + 2)}.${this.u8(at + 3)}`;
  }

  /** RFC 5952: the first of the longest runs of two or more zero groups is `::`. */
  ipv6(at: number): string {
    const groups = Array.from({ length: 8 }, (_, i) => this.u16(at + 2 * i).toString(16)).join(":");
    const runs = groups.match(/\b0(:0)+\b/g) ?? [];
    const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), "");
    return longest === "" ? groups : groups.replace(new RegExp(`(^|:)${longest}(:|$)`), "::");
  }
}
