/** The keys of snapshots with all fields. A snapshot that follows a change is parsed again for them. */
import { NEEDS_ALL } from "../../abi/key.js";
import type { TracedCore } from "../../engine/tracedCore.js";
import type { Snapshot } from "./events.js";
import { copyRegisters, fieldChanges } from "./fields.js";
import type { FieldChange } from "./trace.js";

interface Comparison {
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly step: { fields: readonly FieldChange[] };
}

export class FullKeys {
  readonly #traced: TracedCore;
  readonly #keys = new Map<Snapshot, Uint8Array>();
  readonly #comparisons: Comparison[] = [];

  constructor(traced: TracedCore) {
    this.#traced = traced;
  }

  /** Notes a snapshot whose key is that of its bytes. */
  know(snapshot: Snapshot): void {
    this.#keys.set(snapshot, snapshot.key);
  }

  /** Notes an action whose changed fields are asked for. */
  compare(before: Snapshot, after: Snapshot, step: Comparison["step"]): void {
    this.#comparisons.push({ before, after, step });
  }

  /** Fills in the changed fields of all steps. It uses the batch of the traced core. */
  finish(): void {
    this.#parse(this.#comparisons.flatMap(({ before, after }) => [before, after]));
    for (const { before, after, step } of this.#comparisons) {
      step.fields = fieldChanges(this.#keys.get(before) as Uint8Array, this.#keys.get(after) as Uint8Array);
    }
  }

  #parse(snapshots: readonly Snapshot[]): void {
    let batch: Snapshot[] = [];
    for (const snapshot of snapshots) {
      if (this.#keys.has(snapshot)) continue;
      this.#keys.set(snapshot, snapshot.key);
      if (batch.length > 0 && this.#put(snapshot)) {
        batch.push(snapshot);
        continue;
      }
      this.#parseBatch(batch);
      this.#traced.batch.clear();
      this.#put(snapshot);
      batch = [snapshot];
    }
    this.#parseBatch(batch);
  }

  #put({ bytes, wireLength, port, link, vport, sqn }: Snapshot): boolean {
    return this.#traced.batch.put(bytes, wireLength, port, link, vport, sqn) >= 0;
  }

  #parseBatch(snapshots: readonly Snapshot[]): void {
    if (snapshots.length === 0) return;
    const { batch } = this.#traced;
    batch.parse(NEEDS_ALL);
    for (const [i, snapshot] of snapshots.entries()) {
      const key = batch.key(i).slice();
      copyRegisters(snapshot.key, key);
      this.#keys.set(snapshot, key);
    }
  }
}
