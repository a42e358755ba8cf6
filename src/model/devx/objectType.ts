/** A type of general object: how commands create, query and modify its objects. */
import type { NumberedKind } from "../base/numbered.js";
import type { Command } from "./command.js";
import type { DevxObject } from "../base/devxObject.js";

/** What can be done with objects of one type. */
export interface ObjectType<T extends DevxObject> {
  readonly numberedAs: NumberedKind;
  /** Whether an object found by its number is of this type. */
  readonly is: (object: DevxObject) => boolean;
  readonly create: (command: Command) => T;
  readonly query: (command: Command, object: T) => void;
  readonly modify: (command: Command, object: T) => void;
}
