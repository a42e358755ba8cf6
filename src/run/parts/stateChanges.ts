/**
 * What frames have changed in meters, first-hit flags and connections. A change is the bits that differ, so changes of
 * different objects of a bulk can be applied one after the other.
 */
import type { LoadedScenario } from "../../scenario/load.js";

/** The bits of an object of a bulk that differ. */
export interface StateChange {
  readonly name: string;
  readonly object: number;
  /** The bits of each byte that differ. */
  readonly bits: readonly number[];
}

/** The bytes of each object, by the name of its bulk. */
export type State = ReadonlyMap<string, readonly Uint8Array[]>;

/** The state of all objects. */
export function readState({ asoObjects }: LoadedScenario): State {
  return new Map(
    [...asoObjects].map(([name, bulk]) => [name, Array.from({ length: bulk.objects }, (_, n) => bulk.read(n))]),
  );
}

/** What has changed since this state. */
export function stateSince(before: State, loaded: LoadedScenario): StateChange[] {
  const changes: StateChange[] = [];
  for (const [name, objects] of readState(loaded)) {
    for (const [object, now] of objects.entries()) {
      const was = before.get(name)?.[object] ?? new Uint8Array();
      const bits = [...differing(was, now)];
      if (bits.some((byte) => byte !== 0)) changes.push({ name, object, bits });
    }
  }
  return changes;
}

/** Makes these changes in the objects of the same scenario. */
export function applyState({ asoObjects }: LoadedScenario, changes: readonly StateChange[]): void {
  for (const { name, object, bits } of changes) {
    const bulk = asoObjects.get(name);
    bulk?.write(object, differing(bulk.read(object), Uint8Array.from(bits)));
  }
}

function differing(a: Uint8Array, b: Uint8Array): Uint8Array {
  return Uint8Array.from(b, (byte, i) => byte ^ (a[i] ?? 0));
}
