/** ibv_query_device(3), ibv_query_device_ex(3), ibv_query_port(3), ibv_query_gid(3), ibv_query_gid_ex(3), ibv_query_pkey(3). */
import { IBV_GID_TYPE_SYSFS_ROCE_V2 } from "../../abi/verbs.js";
import { inCall, refuse } from "../../errors.js";
import { Context } from "../../model/base/context.js";
import {
  deviceAttributes,
  deviceAttributesEx,
  type DeviceAttributes,
  type DeviceAttributesEx,
} from "../../model/base/attributes.js";
import type { Gid } from "../../model/base/port/gids.js";
import { unsigned, wrongType } from "../../base/checks.js";
import { living } from "../../model/base/handle.js";
import { bytesOf } from "../../packet/bytes.js";
import { fillBytes, fillList, given, type Out } from "../out.js";
import { portOf, type GidEntry, type Port, type PortAttributes } from "../../model/base/port/ports.js";

export type { DeviceAttributes, DeviceAttributesEx } from "../../model/base/attributes.js";
export type { GidEntry, PortAttributes } from "../../model/base/port/ports.js";

function portAt(context: Context, port_num: number): Port {
  return portOf("port_num", living("context", context, Context).device, port_num);
}

function noFlags(path: string, value: number): void {
  if (unsigned(path, value, 32) === 0) return;
  refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint: "none is defined: 0" });
}

function noEntry(path: string, port: Port, index: number): never {
  const hint = `entries 0 to ${port.gids.length - 1} are filled`;
  refuse({ code: "ENODATA", reason: "no_entry", path, value: index, hint });
}

/**
 * The attributes of the device (ibv_query_device(3)). Its limits are those by which calls are
 * refused. Members of 64 bits are bigint.
 * @param device_attr filled if given; the call then returns 0
 */
export function ibv_query_device(context: Context, device_attr?: null): DeviceAttributes;
export function ibv_query_device(context: Context, device_attr: Out<DeviceAttributes>): 0;
export function ibv_query_device(context: Context, device_attr?: Out<DeviceAttributes> | null): DeviceAttributes | 0 {
  return inCall("ibv_query_device", () =>
    given("device_attr", device_attr, deviceAttributes(living("context", context, Context).device)),
  );
}

/**
 * The extended attributes of the device (ibv_query_device_ex(3)).
 * @param input null, or `comp_mask` 0
 * @param attr filled if given; the call then returns 0
 * @throws EINVAL if `comp_mask` is not 0
 */
export function ibv_query_device_ex(
  context: Context,
  input?: { comp_mask: number } | null,
  attr?: null,
): DeviceAttributesEx;
export function ibv_query_device_ex(
  context: Context,
  input: { comp_mask: number } | null | undefined,
  attr: Out<DeviceAttributesEx>,
): 0;
export function ibv_query_device_ex(
  context: Context,
  input?: { comp_mask: number } | null,
  attr?: Out<DeviceAttributesEx> | null,
): DeviceAttributesEx | 0 {
  return inCall("ibv_query_device_ex", () => {
    living("context", context, Context);
    if (input !== undefined && input !== null) noFlags("input.comp_mask", input.comp_mask);
    return given("attr", attr, deviceAttributesEx(context.device));
  });
}

/**
 * The attributes of a port (ibv_query_port(3)).
 * @param port_num from 1
 * @param port_attr filled if given; the call then returns 0
 * @throws EINVAL if there is no such port
 */
export function ibv_query_port(context: Context, port_num: number, port_attr?: null): PortAttributes;
export function ibv_query_port(context: Context, port_num: number, port_attr: Out<PortAttributes>): 0;
export function ibv_query_port(
  context: Context,
  port_num: number,
  port_attr?: Out<PortAttributes> | null,
): PortAttributes | 0 {
  return inCall("ibv_query_port", () => given("port_attr", port_attr, portAt(context, port_num).attributes()));
}

/**
 * An entry of the GID table of a port (ibv_query_gid(3)).
 * @param port_num from 1
 * @param gid filled if given, the union or its 16 bytes; the call then returns 0
 * @returns 16 bytes, all zero if the entry is empty
 * @throws EINVAL if there is no such port or index
 */
export function ibv_query_gid(context: Context, port_num: number, index: number, gid?: null): Gid;
export function ibv_query_gid(context: Context, port_num: number, index: number, gid: Out<Gid> | Uint8Array): 0;
export function ibv_query_gid(
  context: Context,
  port_num: number,
  index: number,
  gid?: Out<Gid> | Uint8Array | null,
): Gid | 0 {
  return inCall("ibv_query_gid", () => {
    const found = portAt(context, port_num).gid("index", index);
    if (!(gid instanceof Uint8Array)) return given("gid", gid, found);
    fillBytes("gid", gid, found.raw);
    return 0;
  });
}

/**
 * An entry of the GID table of a port with its type (ibv_query_gid_ex(3)).
 * @param port_num from 1
 * @param flags 0
 * @throws EINVAL if there is no such port or index
 * @throws ENODATA if the entry is empty
 */
export function ibv_query_gid_ex(
  context: Context,
  port_num: number,
  gid_index: number,
  flags?: number | null,
): GidEntry;
/**
 * As in C: fills an entry, and returns 0 (ibv_query_gid_ex(3)).
 * @param entry gets the members
 */
export function ibv_query_gid_ex(
  context: Context,
  port_num: number,
  gid_index: number,
  entry: Out<GidEntry>,
  flags: number,
): 0;
export function ibv_query_gid_ex(
  context: Context,
  port_num: number,
  gid_index: number,
  entry: Out<GidEntry> | number | null = null,
  flags = 0,
): GidEntry | 0 {
  return inCall("ibv_query_gid_ex", () => {
    const port = portAt(context, port_num);
    const [out, asked] = typeof entry === "number" ? [null, entry] : [entry, flags];
    noFlags("flags", asked);
    const found = port.gidEntry("gid_index", gid_index);
    return found === undefined ? noEntry("gid_index", port, gid_index) : given("entry", out, found);
  });
}

/**
 * All filled entries of the GID tables of all ports (ibv_query_gid_table(3)).
 * @param max_entries the most entries to return
 * @param flags 0
 * @throws EINVAL if there are more than `max_entries`
 */
export function ibv_query_gid_table(context: Context, max_entries: number, flags?: number): GidEntry[];
/**
 * As in C: fills an array from its start, and returns the number of entries (ibv_query_gid_table(3)).
 * @param entries gets an entry for each item, or fills the struct that is there
 */
export function ibv_query_gid_table(
  context: Context,
  entries: Out<GidEntry>[],
  max_entries: number,
  flags: number,
): number;
export function ibv_query_gid_table(
  context: Context,
  first: Out<GidEntry>[] | number,
  second = 0,
  third = 0,
): GidEntry[] | number {
  return inCall("ibv_query_gid_table", () => {
    living("context", context, Context);
    const [out, max_entries, flags] = typeof first === "number" ? [null, first, second] : [first, second, third];
    noFlags("flags", flags);
    const entries = context.device.hardware.ports.flatMap((port) => port.gidEntries());
    if (entries.length > unsigned("max_entries", max_entries, 32)) {
      const hint = `the device has ${entries.length} entries`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "max_entries", value: max_entries, hint });
    }
    return out === null ? entries : fillList("entries", out, entries);
  });
}

/**
 * The type of an entry of the GID table, as sysfs numbers it (ibv_query_gid_type of
 * infiniband/driver.h): IBV_GID_TYPE_SYSFS_ROCE_V2 for all entries of a port here.
 * @param port_num from 1
 * @param type its first item gets the type if given; the call then returns 0
 * @throws EINVAL if there is no such port or index
 * @throws ENODATA if the entry is empty
 */
export function ibv_query_gid_type(
  context: Context,
  port_num: number,
  index: number,
  type?: Int32Array | number[] | null,
): number {
  return inCall("ibv_query_gid_type", () => {
    const port = portAt(context, port_num);
    if (port.gidEntry("index", index) === undefined) noEntry("index", port, index);
    if (type === undefined || type === null) return IBV_GID_TYPE_SYSFS_ROCE_V2;
    if (!Array.isArray(type) && !(type instanceof Int32Array)) wrongType("type", "an array or an Int32Array", type);
    type[0] = IBV_GID_TYPE_SYSFS_ROCE_V2;
    return 0;
  });
}

/**
 * An entry of the partition key table of a port (ibv_query_pkey(3)).
 * @param port_num from 1
 * @param pkey filled if given, 2 bytes in network byte order; the call then returns 0
 * @throws EINVAL if there is no such port or index
 */
export function ibv_query_pkey(context: Context, port_num: number, index: number, pkey?: Uint8Array | null): number {
  return inCall("ibv_query_pkey", () => {
    const found = portAt(context, port_num).pkey("index", index);
    if (pkey === undefined || pkey === null) return found;
    fillBytes("pkey", pkey, bytesOf(found, 2));
    return 0;
  });
}

/**
 * The index of a partition key in the table of a port (ibv_get_pkey_index(3)).
 * @param port_num from 1
 * @throws EINVAL if there is no such port
 * @throws ENOENT if the table does not have the key
 */
export function ibv_get_pkey_index(context: Context, port_num: number, pkey: number): number {
  return inCall("ibv_get_pkey_index", () => {
    const port = portAt(context, port_num);
    if (unsigned("pkey", pkey, 16) === port.pkey("pkey", 0)) return 0;
    const hint = `the only key is 0x${port.pkey("pkey", 0).toString(16)}`;
    return refuse({ code: "ENOENT", reason: "no_entry", path: "pkey", value: pkey, hint });
  });
}
