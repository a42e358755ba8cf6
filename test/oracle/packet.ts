// The second opinion, part 0: what one parse carries along, and how it reads and stops.
//
// Nothing here is fast. A header is read only when all of its bytes are there ("all or nothing for each header",
// parsing rulings); the first header that is not whole, or not sane, ends the parse and `stopped` says where and why.

export type Level = "outer" | "inner";

/** Where parsing ended early. `reason` is "truncated" or says what was wrong with the field. */
export interface Stopped {
  header: string;
  /** The first field of the header that could not be read whole, or the field whose value was refused. */
  field: string;
  /** Offset of the header in the frame. */
  offset: number;
  /** Bytes wanted from `offset` on; for a refused value (reason other than "truncated") the least value accepted. */
  wanted: number;
  /** Bytes that were there; for a refused value the value found. */
  had: number;
  reason: string;
}

export interface HeaderSeen {
  kind: string;
  offset: number;
  level: Level;
}

export interface Packet {
  bytes: Uint8Array;
  fields: Map<string, bigint>;
  headers: HeaderSeen[];
  stopped: Stopped | null;
}

/** The next header to read: where it starts, how far bytes may be read, how far the packet reached on the wire. */
export interface Step {
  kind: string;
  level: Level;
  at: number;
  /** End of the readable bytes: captured, and inside the enclosing packet. */
  end: number;
  /** End of the enclosing packet on the wire, whether captured or not; never below `end`. */
  wireEnd: number;
  /** The payload of a first fragment: the fixed part of an L4 header is enough. */
  fragment?: boolean;
  /** An IPv6 packet of length 0 without a jumbo option: nothing can vouch for the L4 lengths. */
  lengthUnknown?: boolean;
}

/** Field names in wire order with the byte at which each ends; what lies behind the last one is "options". */
const LAYOUT: Record<string, [name: string, end: number][]> = {
  ethernet: [
    ["dmac", 6],
    ["smac", 12],
    ["ethertype", 14],
  ],
  vlan: [
    ["tci", 2],
    ["ethertype", 4],
  ],
  arp: [
    ["hardware_type", 2],
    ["protocol_type", 4],
    ["lengths", 6],
    ["operation", 8],
  ],
  sll: [
    ["packet_type", 2],
    ["arphrd_type", 4],
    ["address_length", 6],
    ["address", 14],
    ["protocol", 16],
  ],
  sll2: [
    ["protocol", 2],
    ["reserved", 4],
    ["interface", 8],
    ["arphrd_type", 10],
    ["packet_type", 11],
    ["address_length", 12],
    ["address", 20],
  ],
  null: [["family", 4]],
  loop: [["family", 4]],
  ip: [["ip_version", 1]],
  ipv4: [
    ["ip_version", 1],
    ["tos", 2],
    ["total_length", 4],
    ["identification", 6],
    ["fragment", 8],
    ["ip_ttl_hoplimit", 9],
    ["ip_protocol", 10],
    ["checksum", 12],
    ["ipv4_src", 16],
    ["ipv4_dst", 20],
  ],
  ipv6: [
    ["ip_version", 1],
    ["flow_label", 4],
    ["payload_length", 6],
    ["next_header", 7],
    ["ip_ttl_hoplimit", 8],
    ["ipv6_src", 24],
    ["ipv6_dst", 40],
  ],
  hop_by_hop: [
    ["next_header", 1],
    ["length", 2],
  ],
  routing: [
    ["next_header", 1],
    ["length", 2],
  ],
  destination: [
    ["next_header", 1],
    ["length", 2],
  ],
  fragment: [
    ["next_header", 1],
    ["reserved", 2],
    ["fragment_offset", 4],
    ["identification", 8],
  ],
  ah: [
    ["next_header", 1],
    ["length", 2],
    ["reserved", 4],
    ["spi", 8],
    ["sequence", 12],
  ],
  tcp: [
    ["tcp_sport", 2],
    ["tcp_dport", 4],
    ["tcp_seq_num", 8],
    ["tcp_ack_num", 12],
    ["data_offset", 13],
    ["tcp_flags", 14],
    ["window", 16],
    ["checksum", 18],
    ["urgent_pointer", 20],
  ],
  udp: [
    ["udp_sport", 2],
    ["udp_dport", 4],
    ["length", 6],
    ["checksum", 8],
  ],
  icmp: [
    ["type", 1],
    ["code", 2],
    ["checksum", 4],
    ["header_data", 8],
  ],
  icmpv6: [
    ["type", 1],
    ["code", 2],
    ["checksum", 4],
    ["header_data", 8],
  ],
  vxlan: [
    ["flags", 4],
    ["vxlan_vni", 7],
    ["reserved", 8],
  ],
};

/** True when `length` bytes of the header are readable; otherwise the parse is stopped as truncated. */
export function whole(packet: Packet, step: Step, length: number): boolean {
  const had = step.end - step.at;
  if (had >= length) return true;
  const field = LAYOUT[step.kind]?.find(([, end]) => end > had)?.[0] ?? "options";
  packet.stopped = { header: step.kind, field, offset: step.at, wanted: length, had, reason: "truncated" };
  return false;
}

/** Stops the parse at a value that makes the header unreadable. */
export function refuse(packet: Packet, step: Step, field: string, wanted: number, had: number, reason: string): null {
  packet.stopped = { header: step.kind, field, offset: step.at, wanted, had, reason };
  return null;
}

export function seen(packet: Packet, step: Step): void {
  packet.headers.push({ kind: step.kind, offset: step.at, level: step.level });
}

/** A big-endian unsigned number of `length` bytes. The caller has made sure that they are there. */
export function big(packet: Packet, offset: number, length: number): bigint {
  let value = 0n;
  for (const byte of packet.bytes.subarray(offset, offset + length)) value = (value << 8n) | BigInt(byte);
  return value;
}

export function number(packet: Packet, offset: number, length: number): number {
  return Number(big(packet, offset, length));
}
