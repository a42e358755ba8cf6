/** A device with a root table, a queue and the common helpers of the tests of direct rules. */
import { createDevice, createSink, SteeringError, type Device, type DeviceOptions } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Context } from "../../../src/model/base/context.js";
import type { Domain, Table } from "../../../src/model/table/domain.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";

export interface Bench {
  device: Device;
  context: Context;
  domain: Domain;
  root: Table;
  queue: QueuePair;
}

export async function openBench(options: DeviceOptions = {}): Promise<Bench> {
  const device = await createDevice(options);
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const root = dv.mlx5dv_dr_table_create(domain, 0);
  return { device, context, domain, root, queue: createSink(context, "web") };
}

/** The error of a call, or undefined. */
export function refused(run: () => unknown): SteeringError | undefined {
  try {
    run();
  } catch (error) {
    if (error instanceof SteeringError) return error;
    throw error;
  }
  return undefined;
}

/** An Ethernet, IPv4, TCP or UDP frame of 64 bytes with correct lengths and checksums of 0. */
export function ipv4Frame(
  options: { protocol?: number; dst?: number[]; dport?: number; length?: number } = {},
): Uint8Array {
  const { protocol = 6, dst = [10, 0, 0, 1], dport = 80, length = 64 } = options;
  const frame = new Uint8Array(length);
  const view = new DataView(frame.buffer);
  frame.set([0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2, 0x08, 0x00, 0x45, 0]);
  view.setUint16(16, length - 14);
  frame.set([64, protocol, 0, 0, 192, 0, 2, 1, ...dst], 22);
  view.setUint16(34, 40_000);
  view.setUint16(36, dport);
  if (protocol === 6) frame.set([0x50, 0x10], 46);
  else view.setUint16(38, length - 34);
  return frame;
}
