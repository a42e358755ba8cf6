/**
 * Lifetimes. Every object knows its device and counts the objects that use it. An object in use
 * cannot be destroyed; a destroyed object cannot be used.
 */
import { withArticle, wrongType } from "../../base/checks.js";
import { refuse } from "../../errors.js";
import { NamedPrintable, plainFields, type PrintedFields } from "../../base/printable.js";
import type { DeviceBase } from "./deviceBase.js";

/** Fields that printing leaves out: internal, or printed in another way. */
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
  "secondHandle",
  "entry",
  "label",
  "argument",
  "numberedAs",
  "comp_mask",
  "blocksOwnMulticast",
]);

/** `D` is null where an object belongs to no device, such as the drop action. */
export abstract class Handle<D extends DeviceBase | null = DeviceBase> extends NamedPrintable {
  // Objects are created by the million: fields that a constructor assigns lie in the object itself.
  declare readonly device: D;
  declare private _name: string | null;
  /** Objects that use this one. */
  declare users: number;
  declare destroyed: boolean;

  /**
   * `name` is null where the object derives its name on demand: a million rules need no million
   * strings.
   */
  constructor(device: D, name: string | null) {
    super();
    this.device = device;
    this._name = name;
    this.users = 0;
    this.destroyed = false;
  }

  /** Its name in outcomes, messages and scenario files. */
  get name(): string {
    return this._name ?? this.ownName;
  }

  /** Sets the name that a document gives it. Call it before anything reads the name. */
  called(name: string): this {
    this._name = name;
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

/** Returns the argument if it is a living object of this class. @throws TypeError, EINVAL */
export function living<T extends Handle<DeviceBase | null>>(
  path: string,
  object: unknown,
  type: { readonly prototype: T; readonly name: string; [Symbol.hasInstance](value: unknown): boolean },
): T {
  if (!(object instanceof type)) wrongType(path, withArticle(type.name), object);
  const handle = object as T;
  checkAlive(path, handle);
  return handle;
}

/** @throws EINVAL it is destroyed */
export function checkAlive(path: string, value: Handle<DeviceBase | null>): void {
  if (value.destroyed) refuse({ code: "EINVAL", reason: "object_destroyed", path, value });
}

/** Marks an object as destroyed. @throws EBUSY something uses it */
export function retire(path: string, object: Handle<DeviceBase | null>, hint: string): void {
  if (object.users > 0) refuse({ code: "EBUSY", reason: "in_use", path, value: object, hint });
  object.destroyed = true;
  object.device?.resources.delete(object);
}
