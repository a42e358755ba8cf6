/** What a device command makes: known to the device by a number of its kind. */
import { refuse } from "../../errors.js";
import type { Context } from "./context.js";
import type { NumberedKind, NumberedObject } from "./numbered.js";
import { describe } from "../../base/checks.js";
import { Handle, living } from "./handle.js";

/** An object that a device command made (mlx5dv_devx_obj_create(3)). */
export abstract class DevxObject extends Handle implements NumberedObject {
  abstract readonly context: Context;
  abstract readonly numberedAs: NumberedKind | null;
  /** Number of the first of them. */
  abstract readonly id: number;

  /** How many there are, with consecutive numbers. */
  get count(): number {
    return 1;
  }

  /** @internal @throws EBUSY while something uses it */
  abstract destroy(): void;
}

/** A living object that is of this class. @throws EINVAL what another command has made */
export function devxObject<T extends DevxObject>(
  path: string,
  object: unknown,
  type: { readonly prototype: T; readonly name: string; [Symbol.hasInstance](value: unknown): boolean },
): T {
  if (object instanceof DevxObject && !type[Symbol.hasInstance](object)) {
    const hint = `a ${type.name}, not a ${describe(object)}`;
    refuse({ code: "EINVAL", reason: "bad_object", path, value: object, hint });
  }
  return living(path, object, type);
}
