/** Where the refusals of a document go: the first is thrown, or all are collected. */
import { named, SteeringError } from "../errors.js";
import { below } from "./schema/path.js";

/** Takes a refusal. It may throw it. */
export type Report = (refusal: SteeringError) => void;

/** Throws the first refusal. */
export const throwFirst: Report = (refusal) => {
  throw refusal;
};

/** Secrets, which no message repeats. */
const SECRET = /\.esp\.(key|salt)$/;
/** The longest text that a message repeats. */
const MAX_LENGTH = 60;

/** Reports each refusal with the value that the document has at its path, not one that was derived from it. */
export function withWrittenValues(document: object, report: Report): Report {
  return (unnamed) => {
    const refusal = named("loadScenario", unnamed);
    const { code, call, reason, path = "", value, hint, cite } = refusal;
    const written = value === undefined || SECRET.test(path) ? undefined : valueAt(document, path);
    const repeats = typeof written === "string" ? written.length <= MAX_LENGTH : written !== undefined;
    if (!repeats || written === value || typeof written === "object") report(refusal);
    else report(new SteeringError({ code, call, reason, path, value: written, hint, cite }));
  };
}

/** What a document has at a path as `below` makes it; undefined where there is nothing. */
export function valueAt(value: unknown, path: string): unknown {
  if (path === "") return value;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, one] of Object.entries(value)) {
    const step = below("", Array.isArray(value) ? Number(key) : key);
    const rest = path.startsWith(`.${step}`)
      ? path.slice(step.length + 1)
      : path.startsWith(step)
        ? path.slice(step.length)
        : null;
    if (rest === null || !/^([.[]|$)/.test(rest)) continue;
    const found = valueAt(one, rest);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** An object that a document names was refused, so another one cannot be made. */
export class NotMade extends Error {}

/** The object of a name. @throws NotMade it was refused */
export function made<T>(objects: ReadonlyMap<string, T>, name: string): T {
  const object = objects.get(name);
  if (object === undefined) throw new NotMade(`loadScenario: ${name} was not made`);
  return object;
}

/** Does a part of the work. Its refusal is reported; a part that needs refused objects is left out. */
export function attempt<T>(report: Report, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof SteeringError) report(error);
    else if (!(error instanceof NotMade)) throw error;
    return undefined;
  }
}

/** Makes the objects of a list one by one: a refused one does not keep the others from being made. */
export function attemptEach<T>(
  report: Report,
  section: string,
  list: readonly T[] | undefined,
  make: (one: T, path: string, i: number) => void,
): void {
  list?.forEach((one, i) => attempt(report, () => make(one, below(section, i), i)));
}

/** Refusals of a document: of each place the first, but for keys that are missing there. */
export class Refusals {
  readonly list: SteeringError[] = [];
  readonly #places = new Set<string>();

  readonly report: Report = (refusal) => {
    const { path = "", reason, hint = "" } = refusal;
    const place = reason === "bad_scenario" ? `${path} ${hint}` : path;
    if (this.#places.has(path) || this.#places.has(place)) return;
    this.#places.add(place);
    this.list.push(refusal);
  };
}
