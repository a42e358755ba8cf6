/** Compares the expected state of counters and ASO objects at the end. */
import { inCall } from "../../errors.js";
import type { AsoObject } from "../../model/action/asoObject.js";
import type { CounterValue } from "../../model/action/counter.js";
import { connectionAt, flagsOf, tokensAt } from "../state/asoObjects.js";
import type { ExpectedCount } from "./definition.js";
import type { Failure } from "./failure.js";
import { below } from "../schema/path.js";
import type { ExpectedAso } from "../state/definition.js";

/** A counter, or a bulk of them. */
export interface ReadCounter {
  readonly size: number;
  read(offset: number): CounterValue;
}

/** The count of one counter, or of the counters of a bulk by offset. */
export function counterFailures(
  path: string,
  name: string,
  expected: ExpectedCount | readonly (ExpectedCount | null)[],
  counter: ReadCounter,
): Failure[] {
  const one = (at: string, about: string, offset: number, values: ExpectedCount): Failure[] => {
    if (offset >= counter.size) return [{ path: at, about, what: "counter", expected: "there", got: "not there" }];
    const { packets, bytes } = counter.read(offset);
    return differences(at, about, { ...values }, { packets: Number(packets), bytes: Number(bytes) });
  };
  if (!isList(expected)) return one(path, `counter ${name}`, 0, expected);
  return expected.flatMap((values, i) =>
    values === null ? [] : one(below(path, i), `counter ${name}[${i}]`, i, values),
  );
}

export function asoFailures(path: string, object: AsoObject, expected: ExpectedAso): Failure[] {
  return inCall("loadScenario", () => {
    const { first_hit, flow_meter, conn_track } = expected;
    if (first_hit !== undefined) {
      const flags = flagsOf(object);
      const same = JSON.stringify(flags) === JSON.stringify([...first_hit].sort((a, b) => a - b));
      const about = `flags of ${object.name}`;
      return same ? [] : [{ path: `${path}.first_hit`, about, what: "set", expected: first_hit, got: flags }];
    }
    const key = flow_meter === undefined ? "conn_track" : "flow_meter";
    const found = (i: number): object | undefined => {
      if (i >= object.size) return undefined;
      return flow_meter === undefined ? connectionAt(object, i) : tokensAt(object, i);
    };
    return (flow_meter ?? conn_track ?? []).flatMap((values, i) => {
      const about = `${key === "flow_meter" ? "meter" : "connection"} ${object.name}[${i}]`;
      const at = below(`${path}.${key}`, i);
      if (values === null) return [];
      const got = found(i);
      if (got === undefined) return [{ path: at, about, what: "object", expected: "there", got: "not there" }];
      return differences(at, about, values, got);
    });
  });
}

/** The members of an expectation that differ; objects are compared member by member. */
function differences(path: string, about: string, expected: object, got: object): Failure[] {
  return Object.entries(expected).flatMap(([what, value]: [string, unknown]): Failure[] => {
    const found: unknown = (got as Record<string, unknown>)[what];
    const place = `${path}.${what}`;
    if (hasMembers(value) && hasMembers(found)) return differences(place, about, value, found);
    return value === found ? [] : [{ path: place, about, what, expected: value, got: found ?? "not there" }];
  });
}

function hasMembers(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isList<T>(value: T | readonly (T | null)[]): value is readonly (T | null)[] {
  return Array.isArray(value);
}
