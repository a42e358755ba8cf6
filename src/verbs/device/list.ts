/** ibv_get_device_list(3), ibv_get_device_name(3), ibv_get_device_guid(3), ibv_get_device_index(3). */
import { checkArray, wrongType } from "../../base/checks.js";
import { inCall, refuse } from "../../errors.js";
import { nodeGuid } from "../../model/base/attributes.js";
import { Device } from "../../model/device/device.js";
import { DeviceFunction } from "../../model/device/function.js";
import { registered } from "../../model/device/registry.js";

/** Whether a list has been freed, by list. */
const FREED = new WeakMap<object, boolean>();

/** The device of an entry: a function stands for its device. */
function deviceOf(device: Device | DeviceFunction): Device {
  if (device instanceof Device) return device;
  if (device instanceof DeviceFunction && device.device instanceof Device) return device.device;
  return wrongType("device", "a Device or a DeviceFunction", device);
}

/**
 * The devices of the process that are not closed, in the order of their creation
 * (ibv_get_device_list(3)). Devices may have the same name. MODEL: functions of a device
 * (`device.function(1)`) are no entries.
 * @param num_devices its first item gets the number of devices, as in C
 * @example
 * const context = ibv_open_device(ibv_get_device_list()[0]!);
 */
export function ibv_get_device_list(num_devices?: Int32Array | number[] | null): Device[] {
  return inCall("ibv_get_device_list", () => {
    if (num_devices !== undefined && num_devices !== null && !(num_devices instanceof Int32Array)) {
      checkArray("num_devices", num_devices);
    }
    const list = registered().filter((one): one is Device => one instanceof Device);
    if (num_devices !== undefined && num_devices !== null) num_devices[0] = list.length;
    FREED.set(list, false);
    return list;
  });
}

/**
 * Frees a list of devices (ibv_get_device_list(3)): empties the array, so that it keeps no device
 * alive. Contexts that were opened stay.
 * @throws EINVAL if it is no list of `ibv_get_device_list`, or has been freed
 */
export function ibv_free_device_list(list: Device[]): void {
  inCall("ibv_free_device_list", () => {
    checkArray("list", list);
    const freed = FREED.get(list);
    if (freed !== false) {
      const hint = "give the array that ibv_get_device_list returned, once";
      const reason = freed === true ? "object_destroyed" : "bad_object";
      refuse({ code: "EINVAL", reason, path: "list", value: list, hint });
    }
    FREED.set(list, true);
    list.length = 0;
  });
}

/** The name of a device or a function (ibv_get_device_name(3)). */
export function ibv_get_device_name(device: Device | DeviceFunction): string {
  return inCall("ibv_get_device_name", () => {
    deviceOf(device);
    return device.name;
  });
}

/** The GUID of a device, `node_guid` of its attributes (ibv_get_device_guid(3)). */
export function ibv_get_device_guid(device: Device | DeviceFunction): bigint {
  return inCall("ibv_get_device_guid", () => nodeGuid(deviceOf(device)));
}

/**
 * The index of a device, which no other device of the process has or had: 0 for the first
 * (ibv_get_device_index(3)).
 */
export function ibv_get_device_index(device: Device | DeviceFunction): number {
  return inCall("ibv_get_device_index", () => deviceOf(device).index);
}
