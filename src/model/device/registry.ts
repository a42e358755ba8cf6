/**
 * The devices of the process, in the order of their creation. A device is in the list until it is
 * closed; the list does not keep a device alive that nothing else refers to.
 */

const DEVICES = new Map<number, WeakRef<object>>();
const COLLECTED = new FinalizationRegistry<number>((index) => DEVICES.delete(index));
let next = 0;

/** Devices that are made before the event loop gets a turn. */
const DEVICES_PER_TURN = 32;
let sinceTurn = 0;

/** Adds a device. @returns its index: 0 for the first device of the process, never used again */
export function register(device: object): number {
  const index = next++;
  DEVICES.set(index, new WeakRef(device));
  COLLECTED.register(device, index, device);
  return index;
}

/**
 * Lets the event loop turn once in a while. A new `WeakRef` keeps its device alive until the current
 * task ends (ECMA-262, ClearKeptObjects). A loop that only awaits new devices never ends its task,
 * and would hold all of them in memory.
 */
export async function letDevicesGo(): Promise<void> {
  if (++sinceTurn < DEVICES_PER_TURN || typeof MessageChannel === "undefined") return;
  sinceTurn = 0;
  const { port1, port2 } = new MessageChannel();
  await new Promise((resolve) => {
    port1.onmessage = resolve;
    port2.postMessage(null);
  });
  port1.close();
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
