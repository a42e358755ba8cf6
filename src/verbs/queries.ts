/** ibv_query_device(3), ibv_query_device_ex(3), ibv_query_port(3), ibv_query_gid(3), ibv_query_gid_ex(3), ibv_query_pkey(3). */
import { refuse } from "../errors.js";
import { Context } from "../model/base/context.js";
import {
  deviceAttributes,
  deviceAttributesEx,
  type DeviceAttributes,
  type DeviceAttributesEx,
} from "../model/device/attributes.js";
import type { Gid } from "../model/base/gids.js";
import { unsigned } from "../checks.js";
import { living } from "../model/base/handle.js";
import { portOf, type GidEntry, type Port, type PortAttributes } from "../model/base/ports.js";

export type { DeviceAttributes, DeviceAttributesEx } from "../model/device/attributes.js";
export type { GidEntry, PortAttributes } from "../model/base/ports.js";

function portAt(call: string, context: Context, port_num: number): Port {
  return portOf(call, "port_num", living(call, "context", context, Context).device, port_num);
}

function noFlags(call: string, path: string, value: number): void {
  if (unsigned(call, path, value, 32) === 0) return;
  refuse({ code: "EINVAL", call, reason: "out_of_range", path, value, hint: "none is defined: 0" });
}

/**
 * The attributes of the device (ibv_query_device(3)). Its limits are those by which calls are
 * refused. Members of 64 bits are bigint.
 */
export function ibv_query_device(context: Context): DeviceAttributes {
  return deviceAttributes(living("ibv_query_device", "context", context, Context).device);
}

/**
 * The extended attributes of the device (ibv_query_device_ex(3)).
 * @param input null, or `comp_mask` 0
 * @throws EINVAL if `comp_mask` is not 0
 */
export function ibv_query_device_ex(context: Context, input?: { comp_mask: number } | null): DeviceAttributesEx {
  const call = "ibv_query_device_ex";
  living(call, "context", context, Context);
  if (input !== undefined && input !== null) noFlags(call, "input.comp_mask", input.comp_mask);
  return deviceAttributesEx(context.device);
}

/**
 * The attributes of a port (ibv_query_port(3)).
 * @param port_num from 1
 * @throws EINVAL if there is no such port
 */
export function ibv_query_port(context: Context, port_num: number): PortAttributes {
  return portAt("ibv_query_port", context, port_num).attributes();
}

/**
 * An entry of the GID table of a port (ibv_query_gid(3)).
 * @param port_num from 1
 * @returns 16 bytes, all zero if the entry is empty
 * @throws EINVAL if there is no such port or index
 */
export function ibv_query_gid(context: Context, port_num: number, index: number): Gid {
  const call = "ibv_query_gid";
  return portAt(call, context, port_num).gid(call, "index", index);
}

/**
 * An entry of the GID table of a port with its type (ibv_query_gid_ex(3)).
 * @param port_num from 1
 * @param flags 0
 * @throws EINVAL if there is no such port or index
 * @throws ENODATA if the entry is empty
 */
export function ibv_query_gid_ex(context: Context, port_num: number, gid_index: number, flags = 0): GidEntry {
  const call = "ibv_query_gid_ex";
  const port = portAt(call, context, port_num);
  noFlags(call, "flags", flags);
  const entry = port.gidEntry(call, "gid_index", gid_index);
  if (entry !== undefined) return entry;
  const hint = `entries 0 to ${port.gids.length - 1} are filled`;
  return refuse({ code: "ENODATA", call, reason: "no_entry", path: "gid_index", value: gid_index, hint });
}

/**
 * All filled entries of the GID tables of all ports (ibv_query_gid_table(3)).
 * @param max_entries at most so many
 * @param flags 0
 * @throws EINVAL if there are more than `max_entries`
 */
export function ibv_query_gid_table(context: Context, max_entries: number, flags = 0): GidEntry[] {
  const call = "ibv_query_gid_table";
  living(call, "context", context, Context);
  noFlags(call, "flags", flags);
  const entries = context.device.hardware.ports.flatMap((port) => port.gidEntries());
  if (entries.length <= unsigned(call, "max_entries", max_entries, 32)) return entries;
  const hint = `the device has ${entries.length} entries`;
  return refuse({ code: "EINVAL", call, reason: "out_of_range", path: "max_entries", value: max_entries, hint });
}

/**
 * An entry of the partition key table of a port (ibv_query_pkey(3)).
 * @param port_num from 1
 * @throws EINVAL if there is no such port or index
 */
export function ibv_query_pkey(context: Context, port_num: number, index: number): number {
  const call = "ibv_query_pkey";
  return portAt(call, context, port_num).pkey(call, "index", index);
}
