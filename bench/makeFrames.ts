/** Frames of the parse and steer workloads, with right lengths and checksums. */
import type { Tuple } from "./tuples.js";

const TCP = 6;
const UDP = 17;
const IPV4 = 0x0800;
const IPV6 = 0x86dd;
const ETHERNET = 0x6558;
const VXLAN_PORT = 4789;
const GENEVE_PORT = 6081;
/** Bytes of TCP payload. */
const MIN_LENGTH = 10;
const ENDPOINTS = [0xc0a80001, 0xc0a80002] as const;

/** Geneve option 0 of the devices here: the last of three that a frame has. */
export const GENEVE_OPTION_0 = { class: 0x0103, type: 0x80 };

const be16 = (value: number): number[] => [(value >>> 8) & 0xff, value & 0xff];
const be32 = (value: number): number[] => [...be16(value >>> 16), ...be16(value)];

/** The Internet checksum of some bytes (RFC 1071). */
function checksum(bytes: readonly number[]): number[] {
  let sum = 0;
  for (let i = 0; i < bytes.length; i += 2) sum += (bytes[i]! << 8) + (bytes[i + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return be16(~sum);
}

/** Puts the checksum at `at` of the segment; a UDP checksum of 0 would say that there is none. */
function checked(addresses: number[], protocol: number, segment: number[], at: number): number[] {
  const right = checksum([...addresses, 0, protocol, ...be16(segment.length), ...segment]);
  if (protocol === UDP && right[0] === 0 && right[1] === 0) right.fill(0xff);
  return [...segment.slice(0, at), ...right, ...segment.slice(at + 2)];
}

function ethernet(ethertype: number, payload: number[]): number[] {
  return [0x02, 0, 0, 0, 0, 0x01, 0x02, 0, 0, 0, 0, 0x02, ...be16(ethertype), ...payload];
}

function ipv4(protocol: number, src: number, dst: number, segment: number[]): number[] {
  const addresses = [...be32(src), ...be32(dst)];
  const payload = checked(addresses, protocol, segment, protocol === TCP ? 16 : 6);
  const front = [0x45, 0, ...be16(20 + payload.length), 0x12, 0x34, 0x40, 0, 64, protocol];
  return [...front, ...checksum([...front, ...addresses]), ...addresses, ...payload];
}

function tcp(ports: number, payload: number): number[] {
  const fixed = [...be32(ports), ...be32(0x11223344), ...be32(0x55667788), 0x50, 0x10, 0x20, 0, 0, 0, 0, 0];
  return [...fixed, ...Array.from({ length: payload }, () => 0)];
}

/** A tunnel over UDP, between the same two endpoints. */
function overUdp(source: number, destination: number, payload: number[]): number[] {
  const datagram = [...be16(source), ...be16(destination), ...be16(8 + payload.length), 0, 0, ...payload];
  return ethernet(IPV4, ipv4(UDP, ...ENDPOINTS, datagram));
}

/** 64 bytes: Ethernet, IPv4, TCP. */
export function tcpFrame(tuple: Tuple): Uint8Array {
  return longerFrame(tuple, MIN_LENGTH);
}

/** The same with more payload: 54 bytes of headers are in front of it. */
export function longerFrame(tuple: Tuple, payload: number): Uint8Array {
  return Uint8Array.from(tcpPacket(tuple, payload));
}

function tcpPacket({ src, dst, ports }: Tuple, payload = MIN_LENGTH): number[] {
  return ethernet(IPV4, ipv4(TCP, src, dst, tcp(ports, payload)));
}

/** 114 bytes: the same frame inside VXLAN. */
export function vxlanFrame(tuple: Tuple): Uint8Array {
  const header = [0x08, 0, 0, 0, 0, 0x12, 0x34, 0];
  return Uint8Array.from(overUdp(tuple.ports >>> 16, VXLAN_PORT, [...header, ...tcpPacket(tuple)]));
}

/** 138 bytes: the same frame inside Geneve, behind three options of 8 bytes each. */
export function geneveFrame(tuple: Tuple): Uint8Array {
  const option = (type: number, data: number): number[] => [...be16(GENEVE_OPTION_0.class), type, 1, ...be32(data)];
  const options = [...option(1, 1), ...option(2, 2), ...option(GENEVE_OPTION_0.type, tuple.src)];
  const header = [options.length / 4, 0, ...be16(ETHERNET), 0, 0x12, 0x34, 0, ...options];
  return Uint8Array.from(overUdp(tuple.ports >>> 16, GENEVE_PORT, [...header, ...tcpPacket(tuple)]));
}

/** 144 bytes: Ethernet, IPv6, hop-by-hop, destination options, routing, fragment (atomic), AH, destination options, TCP. */
export function ipv6Frame({ src, dst, ports }: Tuple): Uint8Array {
  const padding = [1, 4, 0, 0, 0, 0];
  const extensions = [
    ...[60, 0, ...padding],
    ...[43, 0, ...padding],
    // No segments left.
    ...[44, 0, 0, 0, 0, 0, 0, 0],
    ...[51, 0, 0, 0, ...be32(0x01020304)],
    ...[60, 2, 0, 0, ...be32(0x1000), ...be32(1), ...be32(0xdeadbeef)],
    ...[TCP, 0, ...padding],
  ];
  const address = (low: number): number[] => [...be32(0x20010db8), ...be32(0), ...be32(1), ...be32(low)];
  const addresses = [...address(src), ...address(dst)];
  const payload = [...extensions, ...checked(addresses, TCP, tcp(ports, 14), 16)];
  const header = [...be32(0x6b812345), ...be16(payload.length), 0, 64, ...addresses];
  return Uint8Array.from(ethernet(IPV6, [...header, ...payload]));
}
