/**
 * Lifetimes. Every object knows its device and how many others use it; one in use cannot be destroyed, and a destroyed
 * one cannot be used.
 */
import { describe } from "../../checks.js";
import { refuse } from "../../errors.js";
import { NamedPrintable, plainFields, type PrintedFields } from "../../printable.js";
import type { DeviceBase } from "./deviceBase.js";

/** Fields that mean nothing outside the package, or are printed otherwise. */
const HIDDEN = new Set([
  "device",
  "users",
  "destroyed",
  "handle",
  "operand",
  "op",
  "step",
  "slot",
  "order",
  "sequence",
  "twin",
  "label",
  "argument",
  "numberedAs",
  "comp_mask",
]);

/** `D` is null where an object belongs to no device (an action that only names what to do). */
export abstract class Handle<D extends DeviceBase | null = DeviceBase> extends NamedPrintable {
  readonly device: D;
  #name: string | null;
  /** Objects that need this one. */
  users = 0;
  destroyed = false;

  /** `name` is null where the object makes its own (a million rules need no million strings). */
  constructor(device: D, name: string | null) {
    super();
    this.device = device;
    this.#name = name;
  }

  /** What people call it: in outcomes, messages, scenario files. */
  get name(): string {
    return this.#name ?? this.ownName;
  }

  /** Gives it the name that a document has for it, before anybody has asked. */
  called(name: string): this {
    this.#name = name;
    return this;
  }

  protected get ownName(): string {
    return this.constructor.name;
  }

  protected override printedFields(): PrintedFields {
    const fields = { name: this.name, ...plainFields(this, HIDDEN) };
    return this.destroyed ? { ...fields, destroyed: true } : fields;
  }
}

/** The argument, if it is a living object of this class. */
export function living<T extends Handle<DeviceBase | null>>(
  call: string,
  path: string,
  object: unknown,
  type: { readonly prototype: T; readonly name: string; [Symbol.hasInstance](value: unknown): boolean },
): T {
  if (!type[Symbol.hasInstance](object)) {
    throw new TypeError(`${call}: ${path} must be a ${type.name}, not ${describe(object)}`);
  }
  const handle = object as T;
  if (handle.destroyed) refuse({ code: "EINVAL", call, reason: "object_destroyed", path, value: handle });
  return handle;
}

/** Marks an object as destroyed; EBUSY while something uses it. */
export function retire(call: string, path: string, object: Handle<DeviceBase | null>, hint: string): void {
  if (object.users > 0) refuse({ code: "EBUSY", call, reason: "in_use", path, value: object, hint });
  object.destroyed = true;
}
