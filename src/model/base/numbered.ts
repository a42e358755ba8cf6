/** Objects that device commands made, by kind and number (docs/devx.md). */
import type { Handle } from "./handle.js";

/** Kinds that have numbers of their own; null for what is known in another way (an entry: by table and index). */
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

/** An object, or several with consecutive numbers. */
export interface NumberedObject extends Handle {
  readonly numberedAs: NumberedKind | null;
  /** Number of the first of them. */
  readonly id: number;
  readonly count: number;
  /** @throws EBUSY while something uses it */
  destroy(call: string): void;
}

/** The objects of a context, by kind and number. Numbers are not given twice, so they count up. */
export class NumberedObjects {
  readonly #byKind = new Map<NumberedKind, NumberedObject[]>();

  add(object: NumberedObject): void {
    if (object.numberedAs === null) return;
    const objects = this.#byKind.get(object.numberedAs);
    if (objects === undefined) this.#byKind.set(object.numberedAs, [object]);
    else objects.push(object);
  }

  remove(object: NumberedObject): void {
    if (object.numberedAs === null) return;
    const objects = this.#byKind.get(object.numberedAs) ?? [];
    const at = this.#before(objects, object.id + 1) - 1;
    if (objects[at] === object) objects.splice(at, 1);
  }

  /** The object that has this number, as its own or as one of its consecutive ones. */
  at(kind: NumberedKind, id: number): NumberedObject | undefined {
    const objects = this.#byKind.get(kind) ?? [];
    const found = objects[this.#before(objects, id + 1) - 1];
    return found !== undefined && id < found.id + found.count ? found : undefined;
  }

  /** How many of them have a number below `id`. */
  #before(objects: readonly NumberedObject[], id: number): number {
    let [low, high] = [0, objects.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((objects[middle] as NumberedObject).id < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
