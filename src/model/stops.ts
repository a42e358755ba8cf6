/** Which field of a header could not be read: names and places, for messages. */
import { Header, Stop } from "../abi/headers.js";

/** Fields of each header that can stop a parse, as [first byte, name], in order. */
const LAYOUT: Readonly<Record<number, readonly (readonly [number, string])[]>> = {
  [Header.ethernet]: [
    [0, "destination"],
    [6, "source"],
    [12, "type"],
  ],
  [Header.vlan]: [
    [0, "tci"],
    [2, "type"],
  ],
  [Header.loopback]: [[0, "family"]],
  [Header.linux_cooked]: [
    [0, "packet_type"],
    [2, "arphrd_type"],
    [4, "address_length"],
    [6, "address"],
    [14, "protocol"],
  ],
  [Header.linux_cooked_v2]: [
    [0, "protocol"],
    [4, "interface"],
    [8, "arphrd_type"],
    [10, "packet_type"],
    [11, "address_length"],
    [12, "address"],
  ],
  [Header.arp]: [
    [0, "hardware_type"],
    [2, "protocol_type"],
    [4, "lengths"],
    [6, "operation"],
    [8, "addresses"],
  ],
  [Header.ip]: [[0, "version"]],
  [Header.ipv4]: [
    [0, "version"],
    [1, "tos"],
    [2, "total_length"],
    [4, "identification"],
    [6, "fragment"],
    [8, "ttl"],
    [9, "protocol"],
    [10, "checksum"],
    [12, "source"],
    [16, "destination"],
    [20, "options"],
  ],
  [Header.ipv6]: [
    [0, "version"],
    [4, "payload_length"],
    [6, "next_header"],
    [7, "hop_limit"],
    [8, "source"],
    [24, "destination"],
  ],
  [Header.tcp]: [
    [0, "source_port"],
    [2, "destination_port"],
    [4, "sequence"],
    [8, "acknowledgement"],
    [12, "flags"],
    [14, "window"],
    [16, "checksum"],
    [18, "urgent"],
    [20, "options"],
  ],
  [Header.udp]: [
    [0, "source_port"],
    [2, "destination_port"],
    [4, "length"],
    [6, "checksum"],
  ],
  [Header.icmp]: [
    [0, "type"],
    [1, "code"],
    [2, "checksum"],
    [4, "rest"],
  ],
  [Header.icmpv6]: [
    [0, "type"],
    [1, "code"],
    [2, "checksum"],
    [4, "rest"],
  ],
  [Header.vxlan]: [
    [0, "flags"],
    [4, "vni"],
  ],
};

/** An extension header: whatever its kind, it begins alike. */
const EXTENSION: readonly (readonly [number, string])[] = [
  [0, "next_header"],
  [1, "length"],
  [2, "options"],
];

/**
 * The first field of a header of which only `had` bytes are there, or the one that made no sense.
 * `header` and `why` are numbers of `Header` and `Stop`.
 */
export function firstCutField(header: number, why: number, had: number): string {
  if (why === (Stop.bad_version as number)) return "version";
  if (why === (Stop.bad_header_length as number)) return "ihl";
  const layout = LAYOUT[header] ?? EXTENSION;
  // The field that holds the first missing byte: the last one that begins at or before it.
  return layout.findLast(([first]) => first <= had)?.[1] ?? "";
}
