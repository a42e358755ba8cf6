/** Checks the number of queue pairs and work queues of a device, and their 24-bit queue numbers. */
import type { DeviceBase } from "../base/deviceBase.js";
import { MAX_QP_NUM } from "../base/limits.js";
import { refuse } from "../../errors.js";

/** Checks that the device can have another queue pair, and has a number for it. @throws ENOMEM */
export function checkRoom(device: DeviceBase): void {
  device.hardware.inventory.checkRoom(device, "qp");
  checkQueueNumber(device);
}

/** Checks that the device has a number for another queue pair or work queue. @throws ENOMEM */
export function checkQueueNumber(device: DeviceBase): void {
  if (device.nextNumber("qp", 0) < MAX_QP_NUM) return;
  const hint = "the device has used all its queue numbers";
  refuse({ code: "ENOMEM", reason: "no_memory", path: "device", value: device, hint });
}
