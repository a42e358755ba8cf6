/** What a device command makes: known to the device by a number of its kind. */
import { refuse } from "../../errors.js";
import type { Context } from "../base/context.js";
import { describe } from "../../checks.js";
import { Handle, living } from "../base/handle.js";

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

export abstract class DevxObject extends Handle {
  abstract readonly context: Context;
  abstract readonly numberedAs: NumberedKind | null;
  /** Number of the first of them. */
  abstract readonly id: number;

  /** How many there are, with consecutive numbers. */
  get count(): number {
    return 1;
  }

  /** @throws EBUSY while something uses it */
  abstract destroy(call: string): void;
}

/** A living object that is of this class. @throws EINVAL what another command has made */
export function devxObject<T extends DevxObject>(
  call: string,
  path: string,
  object: unknown,
  type: { readonly prototype: T; readonly name: string; [Symbol.hasInstance](value: unknown): boolean },
): T {
  if (object instanceof DevxObject && !type[Symbol.hasInstance](object)) {
    const hint = `a ${type.name}, not a ${describe(object)}`;
    refuse({ code: "EINVAL", call, reason: "bad_object", path, value: object, hint });
  }
  return living(call, path, object, type);
}

/** The objects of a context, by kind and number. Numbers are not given twice, so they count up. */
export class NumberedObjects {
  readonly #byKind = new Map<NumberedKind, DevxObject[]>();

  add(object: DevxObject): void {
    if (object.numberedAs === null) return;
    const objects = this.#byKind.get(object.numberedAs);
    if (objects === undefined) this.#byKind.set(object.numberedAs, [object]);
    else objects.push(object);
  }

  remove(object: DevxObject): void {
    if (object.numberedAs === null) return;
    const objects = this.#byKind.get(object.numberedAs) ?? [];
    const at = this.#before(objects, object.id + 1) - 1;
    if (objects[at] === object) objects.splice(at, 1);
  }

  /** The object that has this number, as its own or as one of its consecutive ones. */
  at(kind: NumberedKind, id: number): DevxObject | undefined {
    const objects = this.#byKind.get(kind) ?? [];
    const found = objects[this.#before(objects, id + 1) - 1];
    return found !== undefined && id < found.id + found.count ? found : undefined;
  }

  /** How many of them have a number below `id`. */
  #before(objects: readonly DevxObject[], id: number): number {
    let [low, high] = [0, objects.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((objects[middle] as DevxObject).id < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
