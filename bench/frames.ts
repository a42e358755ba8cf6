/** Frames of the parse and steer workloads. Checksums are 0: nothing here reads them. */
import type { Tuple } from "./tuples.js";

const TCP = 6;
const UDP = 17;
const IPV4 = 0x0800;
const IPV6 = 0x86dd;
const VXLAN_PORT = 4789;

const be16 = (value: number): number[] => [(value >>> 8) & 0xff, value & 0xff];
const be32 = (value: number): number[] => [...be16(value >>> 16), ...be16(value)];

function ethernet(ethertype: number, payload: number[]): number[] {
  return [0x02, 0, 0, 0, 0, 0x01, 0x02, 0, 0, 0, 0, 0x02, ...be16(ethertype), ...payload];
}

function ipv4(protocol: number, src: number, dst: number, payload: number[]): number[] {
  const length = be16(20 + payload.length);
  return [0x45, 0, ...length, 0x12, 0x34, 0x40, 0, 64, protocol, 0, 0, ...be32(src), ...be32(dst), ...payload];
}

function tcp(ports: number, payload: number): number[] {
  const fixed = [...be32(ports), ...be32(0x11223344), ...be32(0x55667788), 0x50, 0x10, 0x20, 0, 0, 0, 0, 0];
  return [...fixed, ...Array.from({ length: payload }, () => 0)];
}

function udp(source: number, destination: number, payload: number[]): number[] {
  return [...be16(source), ...be16(destination), ...be16(8 + payload.length), 0, 0, ...payload];
}

/** 64 bytes: Ethernet, IPv4, TCP. */
export function tcpFrame(tuple: Tuple): Uint8Array {
  return Uint8Array.from(tcpPacket(tuple));
}

function tcpPacket({ src, dst, ports }: Tuple): number[] {
  return ethernet(IPV4, ipv4(TCP, src, dst, tcp(ports, 10)));
}

/** 114 bytes: the same frame inside VXLAN. */
export function vxlanFrame(tuple: Tuple): Uint8Array {
  const tunnel = [0x08, 0, 0, 0, 0, 0x12, 0x34, 0, ...tcpPacket(tuple)];
  const outer = udp(tuple.ports >>> 16, VXLAN_PORT, tunnel);
  return Uint8Array.from(ethernet(IPV4, ipv4(UDP, 0xc0a80001, 0xc0a80002, outer)));
}

/** 112 bytes: Ethernet, IPv6, hop-by-hop, routing, destination options, TCP. */
export function ipv6Frame({ src, dst, ports }: Tuple): Uint8Array {
  const padding = [1, 4, 0, 0, 0, 0];
  const extensions = [43, 0, ...padding, 60, 0, 0, 0, 0, 0, 0, 0, TCP, 0, ...padding];
  const payload = [...extensions, ...tcp(ports, 14)];
  const address = (low: number): number[] => [...be32(0x20010db8), ...be32(0), ...be32(1), ...be32(low)];
  const header = [...be32(0x6b812345), ...be16(payload.length), 0, 64, ...address(src), ...address(dst)];
  return Uint8Array.from(ethernet(IPV6, [...header, ...payload]));
}
