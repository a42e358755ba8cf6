/** What a device is, as far as a program can tell: its objects and their fields. */
import { createHash } from "node:crypto";
import { Core } from "../../../src/engine/core.js";
import type { Device } from "../../../src/index.js";
import { Handle } from "../../../src/model/base/handle.js";
import { KEPT, LEFT_OUT, type Class } from "../../../src/snapshot/classes.js";

/** Fields that remember what was there, and that no later call depends on, by class and field; each with the reason. */
const PAST: Readonly<Record<string, string>> = {
  "InstalledRules.removed": "counts removals, for readers that keep a number",
  "InstalledRules._free": "numbers to give again",
  "Batch.count": "each batch begins with none",
  "Batch.limit": "each batch sets it",
  "Classifier._nextSequence": "only the order of sequences counts",
  "Matcher._ruleMask": "the mask as the core takes it, made of `mask`",
  "Classifier._nextOrder": "only the order of matchers counts",
};

/** The fields of each object by the path on which it is found first. */
export type Digest = ReadonlyMap<string, string>;

/** All objects that a device and the program reach. What is in the memory of the core is its own. */
export function digestOf(device: Device, objects: readonly unknown[]): Digest {
  const paths = new Map<object, string>([[device, "device"]]);
  const found: object[] = [device];
  const text = (value: unknown, path: string): string => {
    if (typeof value === "function") return value.name;
    if (typeof value === "string") return JSON.stringify(value);
    if (typeof value !== "object" || value === null) return String(value);
    if (value instanceof Core) return "core";
    if (ArrayBuffer.isView(value)) {
      const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      return `${value.constructor.name} ${createHash("sha1").update(bytes).digest("hex")}`;
    }
    if (!paths.has(value)) {
      paths.set(value, path);
      found.push(value);
    }
    return `@${paths.get(value) ?? ""}`;
  };
  const program = objects.map((one, n) => text(one, `program.${n}`));
  const digest = new Map([["program", program.join(" ")]]);
  for (const object of found) {
    const path = paths.get(object) as string;
    const type = object.constructor?.name ?? "object";
    const entries: [unknown, unknown][] =
      object instanceof Map || object instanceof Set ? [...object.entries()] : Object.entries(object);
    // A place at the end of a list, and a count from 0: taken and given back.
    if (Array.isArray(object)) while (entries.length > 0 && entries.at(-1)?.[1] === undefined) entries.pop();
    const left = leftOutOf(object);
    const fields = entries
      .filter(([key, value]) => !left.has(key) && !(object instanceof Map && value === 0))
      .map(([key, value]) => {
        const name = typeof key === "string" ? key : text(key, `${path}.key`);
        return `${name}: ${text(value, `${path}.${name}`)}`;
      });
    digest.set(path, `${type} ${fields.join(", ")}`);
  }
  return digest;
}

const leftOut = new Map<unknown, ReadonlySet<unknown>>();

/** The fields of an object's class that do not count: what a snapshot leaves out is derived. */
function leftOutOf({ constructor }: object): ReadonlySet<unknown> {
  let left = leftOut.get(constructor);
  if (left === undefined) {
    const derived = Object.entries(LEFT_OUT.get(constructor as unknown as Class) ?? {}).filter(
      ([, one]) => one !== KEPT,
    );
    const past = Object.keys(PAST).map((path) => path.split("."));
    const own = past.filter(([type]) => type === (constructor?.name ?? "object"));
    leftOut.set(constructor, (left = new Set([...derived.map(([key]) => key), ...own.map(([, key]) => key)])));
  }
  return left;
}

/** Parts of a function are made when they are first needed, and numbers of masks when a mask is first seen. */
const MADE_ON_USE = /\._parts(\.|$)/;
const HOLDS_SOMETHING = /^(Map|Set|Array) ./;

/** What differs, as text; what is made on first use and holds nothing does not count. */
export function differences(before: Digest, after: Digest): string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].flatMap((path) => {
    const [was, is] = [before.get(path), after.get(path)];
    if (was === is) return [];
    if (MADE_ON_USE.test(path) && (was === undefined ? !HOLDS_SOMETHING.test(is ?? "") : path.endsWith("._parts")))
      return [];
    return [`${path}:\n  ${was?.slice(0, 300)}\n  ${is?.slice(0, 300)}`];
  });
}

/** The objects of the model in arguments. */
export function objectsIn(value: unknown, found = new Set<object>()): Set<object> {
  if (value instanceof Handle) found.add(value);
  else if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || Array.isArray(value)) {
      for (const one of Object.values(value)) objectsIn(one, found);
    }
  }
  return found;
}
