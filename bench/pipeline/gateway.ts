/**
 * The pipeline that both peers build: a gateway of four tables. It matches its own MAC; 5-tuples,
 * which get a new address, port and TTL and are counted; routes, which set both MACs; and the VXLAN
 * tunnel of each MAC. Then a queue.
 */

/** MACs that the root table knows: the first one is that of tcpFrame, frames to the others are dropped. */
export const OWN_MACS = 16;

/** As numbers: the first 2 bytes and the other 4. */
export type Mac = readonly [high: number, low: number];

export const ownMac = (i: number): Mac => [0x0200, 1 + i];
export const gatewayMac: Mac = [0x0200, 0x00000a00];
export const hostMac = (i: number): Mac => [0x0600, 0x01000000 + i];
export const hostAddress = (i: number): number => (0xac100000 | i) >>> 0;
export const hostPort = (i: number): number => 8000 + i;

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

/** Twelve hexadecimal digits. */
export function macDigits([high, low]: Mac): string {
  return hex(high, 4) + hex(low, 8);
}

/** Ethernet, IPv4, UDP and VXLAN to host i; lengths and checksums are 0. */
export function tunnelHeaders(i: number): Uint8Array {
  const ethernet = `${macDigits([0x0600, i >>> 8])} ${macDigits(gatewayMac)} 0800`;
  const ipv4 = `4500 0000 0000 4000 4011 0000 c0000201 ${hex(0xc6336400 + (i & 0xff), 8)}`;
  const text = `${ethernet} ${ipv4} 0000 12b5 0000 0000 08000000 ${hex(i, 6)}00`;
  return Uint8Array.from(text.replaceAll(" ", "").match(/../g)!, (pair) => parseInt(pair, 16));
}

/** Of one 5-tuple rule. */
export type Count = readonly [packets: number, bytes: number];
