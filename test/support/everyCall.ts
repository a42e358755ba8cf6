/** Tests of every function of a facade: with wrong values, and with destroyed objects. */
import { describe, expect, test } from "vitest";
import { ERRNO, SteeringError } from "../../src/index.js";
import { destroyedObjects, emptied, replaced, unclear } from "./wrongTypes.js";

type Run = (...args: unknown[]) => unknown;

/** Functions with structs of C: header changes are objects of their own. */
const C_STRUCTS = /^(ibv|mlx5dv)_(?!.*modify_header)/;

/** Members of structs that are pointers in C, and that C follows. */
const POINTERS: ReadonlySet<string> = new Set([
  "addr",
  "cq",
  "default_next_table",
  "dest",
  "flow_meter_parameter",
  "ind_tbl",
  "next_table",
  "out_data",
  "pd",
  "recv_cq",
  "sample_actions",
  "send_cq",
]);

/** Correct arguments by name of the function. Calls that destroy an object come last. */
export type Calls = Readonly<Record<string, readonly unknown[]>>;

/**
 * @param everyCall makes the objects and arguments anew
 * @param others names of functions and classes without correct arguments
 * @param deferred names of functions whose errors a later call reports
 */
export function testEveryCall(
  facade: object,
  everyCall: () => Promise<Calls>,
  others: readonly string[],
  deferred: readonly string[] = [],
): void {
  const run = (name: string): Run => (facade as Record<string, unknown>)[name] as Run;

  describe("every function", () => {
    test("takes the arguments that are replaced below", async () => {
      const refused: string[] = [];
      for (const [name, args] of Object.entries(await everyCall())) {
        try {
          run(name)(...args);
        } catch (error) {
          refused.push(String(error));
        }
      }
      expect(refused).toEqual([]);
    });

    test("refuses wrong types and values by name", async () => {
      const calls = await everyCall();
      const functions = Object.entries(facade).filter(([, member]) => typeof member === "function");
      const missing = functions.filter(([name]) => !(name in calls) && !others.includes(name));
      expect(missing.map(([name]) => name)).toEqual([]);
      const found: string[] = [];
      for (const [name, args] of Object.entries(calls)) {
        for (const [path, list] of replaced(args)) {
          const said = unclear({ name, run: run(name), args }, list);
          if (said !== undefined) found.push(`${name}, ${path}: ${said}`);
        }
      }
      expect(found).toEqual([]);
    });

    test("takes a member that is absent as 0, and names a pointer that must be there", async () => {
      const found: string[] = [];
      for (const name of Object.keys(await everyCall()).filter((one) => C_STRUCTS.test(one))) {
        const args = (await everyCall())[name] ?? [];
        for (const [path, list] of emptied(args)) {
          try {
            run(name)(...list);
          } catch (error) {
            const [, member = ""] = /([a-z_]+) must be .*, not undefined$/.exec((error as Error).message) ?? [];
            if (error instanceof TypeError && !POINTERS.has(member)) found.push(`${path}: ${error.message}`);
          }
        }
      }
      expect(found).toEqual([]);
    });

    test("refuses destroyed objects", async () => {
      const calls = await everyCall();
      const dead = await everyCall();
      const found: string[] = [];
      for (const [name, args] of Object.entries(calls)) {
        if (deferred.includes(name)) continue;
        for (const [path, list] of destroyedObjects(args, dead[name] ?? [])) {
          const said = refusalOf(name, run(name), list);
          if (said !== "object_destroyed") found.push(`${name}, ${path}: ${said}`);
        }
      }
      expect(found).toEqual([]);
    });
  });
}

function refusalOf(name: string, run: Run, args: readonly unknown[]): string {
  try {
    // The dump calls return a negative errno.
    return run(...args) === -ERRNO.EINVAL ? "object_destroyed" : "accepted";
  } catch (error) {
    if (!(error instanceof SteeringError)) return String(error);
    return error.call === name ? error.reason : `names ${error.call}: ${error.message}`;
  }
}
