/** The objects of findings, by kind and name. */
import type { FindingObject } from "../answer.js";
import { ruleRef } from "../../explain/trace/names.js";
import type { InstalledRule } from "../../model/base/installed.js";
import type { Handle } from "../../model/base/handle.js";
import type { DeviceBase } from "../../model/base/deviceBase.js";

type Kind = FindingObject["kind"];

/** The object of a rule of the core. A connection stands for its queue. */
export function installedObject(one: InstalledRule): FindingObject {
  const { kind, name } = ruleRef(one);
  return { kind: kind === "connection" ? "queue" : kind, name };
}

export function namedObject(kind: Kind, { name }: Pick<Handle<DeviceBase | null>, "name">): FindingObject {
  return { kind, name };
}

/** `Rule "web"`, for the beginning of a sentence. */
export function called({ kind, name }: FindingObject): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${kind === "vport" ? name : `"${name}"`}`;
}

/** `rule "web"` */
export function mentioned(object: FindingObject): string {
  const text = called(object);
  // ESP, ASO, TIR and RQT stay as they are.
  return /^[A-Z]{2}/.test(text) ? text : `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
