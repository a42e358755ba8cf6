/** The numbers of queue pairs and work queues, and how many of them a device has. */
import type { DeviceBase } from "../base/deviceBase.js";
import { MAX_QP_NUM } from "../base/limits.js";
import { refuse } from "../../errors.js";

/** There is a place for a new queue pair, and a number. */
export function checkRoom(call: string, device: DeviceBase): void {
  device.hardware.inventory.checkRoom(call, device, "qp");
  checkQueueNumber(call, device);
}

/** There is a number for a new queue pair or work queue. */
export function checkQueueNumber(call: string, device: DeviceBase): void {
  if (device.nextNumber("qp", 0) < MAX_QP_NUM) return;
  const hint = "the numbers of queues are used up";
  refuse({ code: "ENOMEM", call, reason: "no_memory", path: "device", value: device, hint });
}
