/** GIDs, the IPv6 addresses of RoCE ports, and the MAC addresses derived from them. */
import { mistyped, refuse } from "../../../errors.js";
import { bytesOf, joined } from "../../../packet/bytes.js";
import { parseIpv4, parseIpv6, parseMac } from "../../../packet/addresses.js";
import { wrongType } from "../../../base/checks.js";

/** `union ibv_gid` */
export interface Gid {
  /** 16 bytes as on the wire. */
  raw: Uint8Array;
  global: { subnet_prefix: bigint; interface_id: bigint };
}

/**
 * A GID as callers write it: the union, by either member; 16 bytes; or text. "10.0.0.1" means the
 * mapped form "::ffff:10.0.0.1".
 */
export type GidInput = Uint8Array | string | { raw: Uint8Array } | Pick<Gid, "global">;

/** A MAC as callers write it: 6 bytes, or text such as "02:00:00:00:00:01". */
export type MacInput = Uint8Array | string;

export const GID_LENGTH = 16;
export const MAC_LENGTH = 6;

/** The union, over a copy of the bytes. */
export function gidOf(bytes: Uint8Array): Gid {
  const view = new DataView(bytes.buffer, bytes.byteOffset, GID_LENGTH);
  return {
    raw: bytes.slice(),
    global: { subnet_prefix: view.getBigUint64(0), interface_id: view.getBigUint64(8) },
  };
}

/** The 16 bytes, a copy. */
export function gidFrom(path: string, value: GidInput): Uint8Array {
  if (typeof value === "string") return gidFromText(path, value);
  if (typeof value !== "object" || value === null) {
    wrongType(path, "a GID", value);
  }
  if (value instanceof Uint8Array) return addressBytes(path, value, GID_LENGTH);
  if ("raw" in value) {
    if (value.raw instanceof Uint8Array) return addressBytes(`${path}.raw`, value.raw, GID_LENGTH);
    wrongType(`${path}.raw`, "a Uint8Array", value.raw);
  }
  const { subnet_prefix, interface_id } = value.global ?? {};
  if (typeof subnet_prefix !== "bigint" || typeof interface_id !== "bigint") {
    mistyped(`${path}.global must have subnet_prefix and interface_id, both bigint`);
  }
  return joined(bytesOf(subnet_prefix, 8), bytesOf(interface_id, 8));
}

function gidFromText(path: string, text: string): Uint8Array {
  const ipv4 = parseIpv4(text);
  const value = ipv4 === undefined ? parseIpv6(text) : 0xffff_0000_0000n | ipv4;
  if (value !== undefined) return bytesOf(value, GID_LENGTH);
  const hint = '"fe80::1", or "10.0.0.1" for its mapped form';
  return refuse({ code: "EINVAL", reason: "bad_address", path, value: text, hint });
}

/** The 6 bytes, a copy. */
export function macFrom(path: string, value: MacInput): Uint8Array {
  if (value instanceof Uint8Array) return addressBytes(path, value, MAC_LENGTH);
  if (typeof value !== "string") wrongType(path, "a MAC", value);
  const mac = parseMac(value);
  if (mac !== undefined) return bytesOf(mac, MAC_LENGTH);
  const hint = '"02:00:00:00:00:01"';
  return refuse({ code: "EINVAL", reason: "bad_address", path, value, hint });
}

function addressBytes(path: string, bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length === length) return bytes.slice();
  return refuse({ code: "EINVAL", reason: "bad_address", path, value: bytes, hint: `${length} bytes` });
}

/** ::ffff:0:0/96 (RFC 4291 section 2.5.5.2) */
export function isIpv4Mapped(gid: Uint8Array): boolean {
  return gid.subarray(0, 10).every((byte) => byte === 0) && gid[10] === 0xff && gid[11] === 0xff;
}

/** Whether it is a group: ff00::/8, or a mapped address of 224.0.0.0/4. */
export function isMulticast(gid: Uint8Array): boolean {
  return isIpv4Mapped(gid) ? (gid[12] ?? 0) >> 4 === 0xe : gid[0] === 0xff;
}

/** The four bytes of a mapped address. */
export function mappedIpv4(gid: Uint8Array): Uint8Array {
  return gid.slice(12);
}

/** fe80::/64 and the modified EUI-64 of a MAC (RFC 4291 appendix A). */
export function linkLocalGid(mac: Uint8Array): Uint8Array {
  return joined(Uint8Array.of(0xfe, 0x80, 0, 0, 0, 0, 0, 0), modifiedEui64(mac));
}

function modifiedEui64(mac: Uint8Array): Uint8Array {
  const id = eui64(mac);
  id[0] = (id[0] ?? 0) ^ 2;
  return id;
}

/** | first three bytes of the MAC | ff fe | last three |: the EUI-64 of a node GUID. */
export function eui64(mac: Uint8Array): Uint8Array {
  return joined(mac.subarray(0, 3), Uint8Array.of(0xff, 0xfe), mac.subarray(3));
}

/**
 * The MAC derived from a destination GID: of a multicast group (RFC 2464 section 7, RFC 1112
 * section 6.4), or of a link-local address made from a MAC. Undefined for any other GID.
 */
export function macOfGid(gid: Uint8Array): Uint8Array | undefined {
  if (isIpv4Mapped(gid)) {
    const [, , , , , , , , , , , , first = 0, second = 0] = gid;
    if (first >> 4 !== 0xe) return undefined;
    return joined(Uint8Array.of(0x01, 0x00, 0x5e, second & 0x7f), gid.subarray(14));
  }
  if (gid[0] === 0xff) return joined(Uint8Array.of(0x33, 0x33), gid.subarray(12));
  const mac = joined(gid.subarray(8, 11), gid.subarray(13));
  mac[0] = (mac[0] ?? 0) ^ 2;
  return linkLocalGid(mac).every((byte, i) => byte === gid[i]) ? mac : undefined;
}
