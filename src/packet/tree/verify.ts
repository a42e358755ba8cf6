/** Verifies the checksums in a tree. A checksum is right, wrong, or not verifiable when covered bytes are missing. */
import { crc32c, internetChecksum, onesComplementSum, pseudoHeader } from "../checksum.js";
import { hexNumber } from "./fieldText.js";
import { PROTOCOLS } from "../../headers/announcers.js";
import type { TreeField, TreeNode } from "./types.js";

/** The packet that a segment lies in. */
interface Packet {
  source: Uint8Array;
  destination: Uint8Array;
  /** Behind its last byte, undefined where nothing says. */
  end: number | undefined;
  /** Whether segments in it are whole and their addresses final. */
  whole: boolean;
}

/** Loose and strict, and those of another shape than theirs. */
const SOURCE_ROUTES: readonly unknown[] = ["loose_source_route", "strict_source_route", 131, 137];

/** Marks each verifiable checksum as right or wrong, with the right value. */
export function verifyChecksums(frame: Uint8Array, nodes: readonly TreeNode[]): void {
  let packet: Packet | undefined;
  for (const node of nodes) {
    if (node.header === "ipv4" || node.header === "ipv6") packet = packetOf(frame, node, packet?.end ?? frame.length);
    if (packet === undefined) continue;
    if (node.header === "ipv4") say(node, onesComplement(frame, node, node.offset + node.length));
    else if (node.header === "ipv6_routing" && number(node, "segments_left") !== 0) packet.whole = false;
    else if (node.header === "ipv6_fragment" && (number(node, "fragment_offset") !== 0 || number(node, "m") !== 0)) {
      packet.whole = false;
    } else if (node.header === "udp" && packet.source.length === 4 && number(node, "checksum") === 0) {
      const checksum = field(node, "checksum");
      if (checksum !== undefined) checksum.text += " (none)";
    } else say(node, segmentChecksum(frame, node, packet));
  }
}

/** `limit` is the end of the packet that this one lies in: a length beyond it is not believed. */
function packetOf(frame: Uint8Array, ip: TreeNode, limit: number): Packet {
  const at = ip.offset;
  if (ip.header === "ipv6") {
    const length = number(ip, "payload_length") ?? 0;
    const end = at + 40 + length;
    // A length of 0 is a jumbogram's (RFC 2675): not verified here.
    return {
      source: frame.subarray(at + 8, at + 24),
      destination: frame.subarray(at + 24, at + 40),
      end: length === 0 || end > limit ? undefined : end,
      whole: true,
    };
  }
  const length = number(ip, "total_length") ?? 0;
  const fragment = number(ip, "fragment_offset") !== 0 || ((number(ip, "flags") ?? 0) & 1) !== 0;
  // SPEC: the final destination of a source route is not the header's; whether it is under way is not asked here.
  const routed = field(ip, "options")?.items?.some(({ value: { option } }) => SOURCE_ROUTES.includes(option));
  return {
    source: frame.subarray(at + 12, at + 16),
    destination: frame.subarray(at + 16, at + 20),
    end: length < ip.length || at + length > limit ? undefined : at + length,
    whole: !fragment && routed !== true,
  };
}

/** What the header's checksum should be; undefined where it has none, or not all that it covers is there. */
function segmentChecksum(frame: Uint8Array, node: TreeNode, packet: Packet): number | undefined {
  const { header, offset } = node;
  const length = header === "udp" ? number(node, "length") : packet.end === undefined ? undefined : packet.end - offset;
  const given = number(node, "checksum");
  if (length === undefined || length < node.length || given === undefined || !packet.whole) return undefined;
  const end = offset + length;
  if (end > frame.length || packet.end === undefined || end > packet.end) return undefined;
  const pseudo = (): Uint8Array =>
    pseudoHeader(packet.source, packet.destination, PROTOCOLS[header as "udp"] ?? 0, length);
  switch (header) {
    case "icmp":
      return onesComplement(frame, node, end);
    case "gre":
      return number(node, "c") === 1 ? onesComplement(frame, node, end) : undefined;
    case "tcp":
    case "icmpv6":
      return onesComplement(frame, node, end, pseudo());
    case "udp":
      // 0 says that there is none, which IPv6 does not allow (RFC 8200 section 8.1).
      return onesComplement(frame, node, end, pseudo()) || 0xffff;
    case "sctp": {
      const bytes = frame.slice(offset, end);
      bytes.fill(0, 8, 12);
      return crc32c(bytes);
    }
    default:
      return undefined;
  }
}

/** Of the bytes from the header to `end`: the field's own value where that is right, for 0 and 0xffff are the same sum. */
function onesComplement(frame: Uint8Array, node: TreeNode, end: number, ...before: Uint8Array[]): number | undefined {
  const checksum = field(node, "checksum");
  if (checksum === undefined) return undefined;
  const sum = onesComplementSum(...before, frame.subarray(node.offset, end));
  if (sum === 0xffff && checksum.value !== 0) return checksum.value as number;
  const bytes = frame.slice(node.offset, end);
  bytes.fill(0, checksum.offset - node.offset, checksum.offset - node.offset + 2);
  return internetChecksum(...before, bytes);
}

function say(node: TreeNode, should: number | undefined): void {
  const checksum = field(node, "checksum");
  if (should === undefined || checksum === undefined) return;
  checksum.right = checksum.value === should;
  if (!checksum.right) checksum.should = should;
}

/** Adds to the text of a checksum whether it is right. */
export function noteChecksum(field: TreeField): void {
  const { right, should = 0, bits } = field;
  if (right === undefined) return;
  field.text += right ? " (right)" : ` (wrong, ${hexNumber(should, bits)} would be right)`;
}

function field(node: TreeNode, name: string): TreeField | undefined {
  return node.fields.find((one) => one.name === name);
}

function number(node: TreeNode, name: string): number | undefined {
  const value = field(node, name)?.value;
  return typeof value === "number" ? value : undefined;
}
