/** Objects that device commands made, by kind and number (docs/devx.md). */
import type { Handle } from "./handle.js";

/**
 * Kinds of objects with numbers of their own. An object without one is named in another way: an
 * entry by its table and index.
 */
export type NumberedKind =
  | "flow_counter"
  | "flow_meter"
  | "aso"
  | "flow_table"
  | "flow_group"
  | "modify_header"
  | "packet_reformat"
  | "tir"
  | "rqt";

/** A numbered object, or several with consecutive numbers. */
export interface NumberedObject extends Handle {
  readonly numberedAs: NumberedKind | null;
  /** Number of the first of them. */
  readonly id: number;
  readonly count: number;
  /** @internal @throws EBUSY while something uses it */
  destroy(): void;
}

/**
 * The numbered objects of a context, by kind. Numbers are not reused, so each list is in ascending
 * order.
 */
export class NumberedObjects {
  private readonly _byKind = new Map<NumberedKind, NumberedObject[]>();

  add(object: NumberedObject): void {
    if (object.numberedAs === null) return;
    const objects = this._byKind.get(object.numberedAs);
    if (objects === undefined) this._byKind.set(object.numberedAs, [object]);
    else objects.push(object);
  }

  remove(object: NumberedObject): void {
    if (object.numberedAs === null) return;
    const objects = this._byKind.get(object.numberedAs) ?? [];
    const at = this._before(objects, object.id + 1) - 1;
    if (objects[at] === object) objects.splice(at, 1);
  }

  /** The object with this number, or the one whose consecutive numbers include it. */
  at(kind: NumberedKind, id: number): NumberedObject | undefined {
    const objects = this._byKind.get(kind) ?? [];
    const found = objects[this._before(objects, id + 1) - 1];
    return found !== undefined && id < found.id + found.count ? found : undefined;
  }

  /** How many objects have a number below `id`. */
  private _before(objects: readonly NumberedObject[], id: number): number {
    let [low, high] = [0, objects.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((objects[middle] as NumberedObject).id < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
