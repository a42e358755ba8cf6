/**
 * The devices of the process, in the order of their creation. A device is in the list until it is
 * closed; the list does not keep a device alive that nothing else refers to.
 */

const DEVICES = new Map<number, WeakRef<object>>();
const COLLECTED = new FinalizationRegistry<number>((index) => DEVICES.delete(index));
let next = 0;

/** Adds a device. @returns its index: 0 for the first device of the process, never used again */
export function register(device: object): number {
  const index = next++;
  DEVICES.set(index, new WeakRef(device));
  COLLECTED.register(device, index, device);
  return index;
}

/** Removes a device that is closed. */
export function unregister(device: { readonly index: number }): void {
  DEVICES.delete(device.index);
  COLLECTED.unregister(device);
}

/** All devices that are not closed. */
export function registered(): object[] {
  return [...DEVICES.values()].flatMap((reference) => reference.deref() ?? []);
}
