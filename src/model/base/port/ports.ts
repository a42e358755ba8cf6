/**
 * Ports: their MAC addresses, GIDs and partition keys, and the attributes that `ibv_query_port`
 * reports.
 */
import { MAX_FRAME } from "../../../abi/engine.js";
import {
  IBV_GID_TYPE_ROCE_V2,
  IBV_LINK_LAYER_ETHERNET,
  IBV_MTU_4096,
  IBV_PORT_ACTIVE,
  IBV_PORT_IP_BASED_GIDS,
  IBV_QPF_GRH_REQUIRED,
} from "../../../abi/verbs.js";
import { refuse } from "../../../errors.js";
import { GID_LENGTH, gidFrom, gidOf, linkLocalGid, macFrom, type Gid, type GidInput, type MacInput } from "./gids.js";
import { checkArray, rangeText, unsigned } from "../../../base/checks.js";

/** The core has 16 bits for a port; a MAC address has 12 for its number. */
export const MAX_PORTS = 4095;
/** What C structs with a byte for the number of ports report (ibv_query_device(3)). */
export const MAX_PORTS_OF_C = 255;
/** Entries of a port's GID table: `sgid_index` has 8 bits. */
export const GID_TABLE_LENGTH = 256;
/** Entries of a port's partition key table: the default partition. */
export const PKEY_TABLE_LENGTH = 1;
/** The partition key of a full member of the default partition. */
export const DEFAULT_PKEY = 0xffff;
/** The MTU of all ports in bytes, and its number in `enum ibv_mtu`. */
export const MTU_BYTES = 4096;
export const MTU = IBV_MTU_4096;

/** Bytes of the longest message of a connection. */
export const MAX_MESSAGE = MAX_FRAME;

/** Destination MAC, source MAC and EtherType: the shortest frame that can be sent. */
const ETHERNET_LENGTH = 14;

/** Refuses to send a frame that is too short or too long. */
export function checkFrameLength(path: string, length: number): void {
  if (length >= ETHERNET_LENGTH && length <= MAX_FRAME) return;
  const hint = `${ETHERNET_LENGTH} to ${MAX_FRAME} bytes, from the destination MAC on`;
  refuse({ code: "EINVAL", reason: "bad_frame", path, value: `${length} bytes`, hint });
}

/** Bytes of an `enum ibv_mtu`. */
export function mtuBytes(mtu: number): number {
  return 128 << mtu;
}

/** Four lanes of 25 Gb/s. */
const WIDTH_4X = 2;
const SPEED_EDR = 32;
const LINK_UP = 5;

/** `struct ibv_port_attr` */
export interface PortAttributes {
  state: number;
  max_mtu: number;
  active_mtu: number;
  gid_tbl_len: number;
  port_cap_flags: number;
  /** Bytes. */
  max_msg_sz: number;
  bad_pkey_cntr: number;
  qkey_viol_cntr: number;
  pkey_tbl_len: number;
  lid: number;
  sm_lid: number;
  lmc: number;
  max_vl_num: number;
  sm_sl: number;
  subnet_timeout: number;
  init_type_reply: number;
  active_width: number;
  active_speed: number;
  phys_state: number;
  link_layer: number;
  flags: number;
  port_cap_flags2: number;
}

/** `struct ibv_gid_entry` */
export interface GidEntry {
  gid: Gid;
  gid_index: number;
  port_num: number;
  gid_type: number;
  /** 0: the port has no network device. */
  ndev_ifindex: number;
}

/** Options of the ports; entry 0 of a list is port 1. */
export interface PortOptions {
  /** @default derived from the name of the device and the number of the port */
  macs?: readonly MacInput[];
  /**
   * GIDs of each port after the first, which is the link-local address of its MAC. @default none
   */
  gids?: readonly (readonly GidInput[])[];
}

/** What happened to the frames that left a port by its cable. */
export interface CableCounters {
  /** Frames that left the port. */
  readonly sent: number;
  /** Frames that arrived at the far end, copies included. */
  readonly arrived: number;
  /** Frames lost by chance. */
  readonly lost: number;
  /** Frames that found the queue full. */
  readonly overflowed: number;
  /** Frames that were under way when the cable was removed. */
  readonly removed: number;
  readonly duplicated: number;
  readonly reordered: number;
  /** Frames that the queue marked CE (RFC 3168). */
  readonly marked: number;
  /** Frames under way now. */
  readonly underWay: number;
}

/** The far end of a cable. */
export interface CableEnd {
  /** The port at the far end; null where a function receives the frames. */
  readonly port: Port | null;
}

export class Port {
  /** From 1. */
  readonly number: number;
  /** Its name in outcomes. */
  readonly label: string;
  readonly mac: Uint8Array;
  /** 16 bytes each, by their index in the table. */
  readonly gids: readonly Uint8Array[];
  /** The cable that is connected to it (device/cable.ts). */
  cable: CableEnd | null = null;
  /** What its last cable had counted when it was removed; null while it has another one. */
  counted: CableCounters | null = null;

  constructor(number: number, mac: Uint8Array, more: readonly Uint8Array[]) {
    this.number = number;
    this.label = `port:${number}`;
    this.mac = mac;
    this.gids = [linkLocalGid(mac), ...more];
  }

  /**
   * MODEL: a port is always up, with or without a cable; a frame that leaves it without a cable is
   * lost. Speed and width report 100 Gb/s and limit nothing.
   */
  attributes(): PortAttributes {
    return {
      state: IBV_PORT_ACTIVE,
      max_mtu: MTU,
      active_mtu: MTU,
      gid_tbl_len: GID_TABLE_LENGTH,
      port_cap_flags: IBV_PORT_IP_BASED_GIDS,
      max_msg_sz: MAX_MESSAGE,
      bad_pkey_cntr: 0,
      qkey_viol_cntr: 0,
      pkey_tbl_len: PKEY_TABLE_LENGTH,
      lid: 0,
      sm_lid: 0,
      lmc: 0,
      max_vl_num: 1,
      sm_sl: 0,
      subnet_timeout: 0,
      init_type_reply: 0,
      active_width: WIDTH_4X,
      active_speed: SPEED_EDR,
      phys_state: LINK_UP,
      link_layer: IBV_LINK_LAYER_ETHERNET,
      flags: IBV_QPF_GRH_REQUIRED,
      port_cap_flags2: 0,
    };
  }

  /**
   * The entry of the GID table; undefined where it is empty. @throws EINVAL the index is beyond the
   * table
   */
  gidEntry(path: string, index: number): GidEntry | undefined {
    const gid = this.gids[tableIndex(path, index, GID_TABLE_LENGTH)];
    return gid === undefined ? undefined : this._entry(index, gid);
  }

  /** All entries of the GID table that are not empty. */
  gidEntries(): GidEntry[] {
    return this.gids.map((gid, index) => this._entry(index, gid));
  }

  /**
   * The GID at an index; all zero where the entry is empty. @throws EINVAL the index is beyond the
   * table
   */
  gid(path: string, index: number): Gid {
    return this.gidEntry(path, index)?.gid ?? gidOf(new Uint8Array(GID_LENGTH));
  }

  /** The partition key at an index. @throws EINVAL the index is beyond the table */
  pkey(path: string, index: number): number {
    tableIndex(path, index, PKEY_TABLE_LENGTH);
    return DEFAULT_PKEY;
  }

  private _entry(gid_index: number, gid: Uint8Array): GidEntry {
    return { gid: gidOf(gid), gid_index, port_num: this.number, gid_type: IBV_GID_TYPE_ROCE_V2, ndev_ifindex: 0 };
  }
}

/** The ports of a device. */
export function makePorts(name: string, count: number, options: PortOptions): Port[] {
  const macs = listOf("macs", options.macs, count);
  const gids = listOf("gids", options.gids, count);
  return Array.from({ length: count }, (_, i) => {
    const given = macs[i];
    const mac = given === undefined ? portMac(name, i + 1) : unicastMac(`macs[${i}]`, given);
    return new Port(i + 1, mac, moreGids(`gids[${i}]`, gids[i] ?? []));
  });
}

function listOf<T>(path: string, list: readonly T[] | undefined, count: number): readonly T[] {
  if (list === undefined) return [];
  checkArray(path, list);
  if (list.length <= count) return list;
  const hint = `the device has ${count} port${count === 1 ? "" : "s"}`;
  return refuse({ code: "EINVAL", reason: "out_of_range", path: `${path}.length`, value: list.length, hint });
}

function moreGids(path: string, list: readonly GidInput[]): Uint8Array[] {
  return listOf(path, list, GID_TABLE_LENGTH - 1).map((gid, i) => gidFrom(`${path}[${i}]`, gid));
}

function unicastMac(path: string, value: MacInput): Uint8Array {
  const mac = macFrom(path, value);
  if (((mac[0] ?? 0) & 1) === 0) return mac;
  return refuse({ code: "EINVAL", reason: "bad_address", path, value, hint: "a port has a unicast address" });
}

/** | 02: locally administered, and the port's high bits | hash of the name 4 | port 1 |: the same in every run. */
export function portMac(name: string, port: number): Uint8Array {
  // FNV-1a with 32 bits.
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193);
  return Uint8Array.of(2 | ((port >> 8) << 2), hash >>> 24, hash >>> 16, hash >>> 8, hash, port);
}

/** A device, as far as its ports matter. */
export interface HasPorts {
  readonly hardware: { readonly ports: readonly Port[] };
}

/** The port with this number. @throws EINVAL the device has no such port */
export function portOf(path: string, { hardware }: HasPorts, number: number): Port {
  const { ports } = hardware;
  const port = ports[unsigned(path, number, 32) - 1];
  if (port !== undefined) return port;
  const hint = rangeText(1, ports.length);
  return refuse({ code: "EINVAL", reason: "out_of_range", path, value: number, hint });
}

function tableIndex(path: string, index: number, length: number): number {
  if (unsigned(path, index, 32) < length) return index;
  const hint = `the table has ${length} ${length === 1 ? "entry" : "entries"}`;
  return refuse({ code: "EINVAL", reason: "out_of_range", path, value: index, hint });
}
