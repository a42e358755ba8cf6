/** What a receiver can tell of a frame. */
import type { Device } from "../../../src/index.js";

/** @param named the name of a queue of the device, as the scenario has it */
export function behaviourOf(device: Device, bytes: Uint8Array, named = (name: string): string => name): string {
  const { verdict, reason, to, tag, copies } = device.receive(1, bytes);
  const places = (list: typeof to): unknown[] => list.map(({ name, frame }) => [named(name), [...frame]]);
  return JSON.stringify([verdict, reason, tag, places(to), places(copies)]);
}
