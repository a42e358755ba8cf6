/** `cover` and `witness`: which rules and tables of a device frames come to, each shown by a frame or refuted by a proof. */
import { inAsyncCall } from "../../errors.js";
import { checkOptions, wrongType } from "../../base/checks.js";
import { openTracer, type TracerOptions } from "../../explain/trace/tracer.js";
import { findTarget, type WhyTarget } from "../../explain/why/targets.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { Device } from "../../model/device/device.js";
import type { Cover, Coverage, RuleCoverage, TableCoverage } from "../answer.js";
import { World } from "../path/world.js";
import { CoverRun } from "./coverRun.js";

export interface CoverOptions extends TracerOptions {
  /** Called now and then with the rules that are done. */
  onProgress?: ((done: number, total: number) => void) | undefined;
  /** Ends the work; what is done by then is returned, and the other rules are left out. */
  signal?: AbortSignal | undefined;
}

/** Milliseconds of work between two turns of the event loop. */
const TURN = 50;

/**
 * Shows for each rule and table of a device a frame that comes to it, or proves that none does. The device stays as it is.
 * @throws TypeError no device, or an unknown option; SteeringError ENOMEM: no room for the copy of the device
 * @example
 *     for (const { rule, coverage } of (await cover(device)).rules)
 *       if (coverage.status === "none") console.log(rule.name, coverage.proof.sentence);
 */
export async function cover(device: Device, options: CoverOptions = {}): Promise<Cover> {
  return inAsyncCall("cover", async () => {
    checkOptions("", options, { core: "any", onProgress: "function", signal: "any" });
    const { onProgress, signal, core } = options;
    const run = await openRun(device, { core });
    const tables = run.tables();
    const objects = tables.flatMap((table) => [...groupedByObject(run, table)]);
    const rules: RuleCoverage[] = [];
    let turn = Date.now();
    for (const nodes of objects) {
      if (Date.now() - turn > TURN) {
        onProgress?.(rules.length, objects.length);
        await new Promise((done) => setTimeout(done));
        turn = Date.now();
      }
      if (signal?.aborted === true) break;
      rules.push(run.rule(nodes));
    }
    const reached: TableCoverage[] = [];
    for (const table of tables) {
      if (signal?.aborted === true) break;
      reached.push(run.table(table));
    }
    onProgress?.(rules.length, objects.length);
    return { rules, tables: reached };
  });
}

/**
 * Shows a frame that hits a rule, or proves that none does.
 * @param rule a rule, a flow, a host rule, an entry of a flow table, or its kind and name as data
 * @throws TypeError no device or rule; SteeringError EINVAL: a rule of another device, or a name that nothing has
 * @example
 *     const found = await witness(device, { kind: "rule", name: "web" });
 *     if (found.status === "witness") console.log(found.witness.bytes);
 */
export async function witness(device: Device, rule: WhyTarget, { core }: TracerOptions = {}): Promise<Coverage> {
  return inAsyncCall("witness", async () => {
    const run = await openRun(device, { core });
    return run.best(nodesOf(run, device, rule));
  });
}

/** The rules of a table in groups that stand for one object, in the order of ranks. A flow can have several entries. */
function groupedByObject({ world }: CoverRun, table: number): Iterable<readonly RuleNode[]> {
  const groups = new Map<string, RuleNode[]>();
  for (const node of world.nodesOf(table)) {
    const { kind, name, matcher } = world.rules.refOf(node);
    const key = JSON.stringify([kind, name, matcher]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [node]);
    else group.push(node);
  }
  return groups.values();
}

/** The rules of the core that stand for an object. */
export function nodesOf({ world }: CoverRun, device: Device, rule: WhyTarget): RuleNode[] {
  const target = findTarget(device, rule);
  if (target.kind !== "rule") wrongType("rule", "a rule", rule);
  const { objects } = target;
  return world.graph.tables.flatMap((table) => world.nodesOf(table).filter(({ object }) => objects.includes(object)));
}

/** @throws as `cover` */
export async function openRun(device: Device, options: TracerOptions): Promise<CoverRun> {
  if (!(device instanceof Device)) wrongType("device", "a Device", device);
  const tracer = await openTracer(device, options);
  tracer.refresh();
  return new CoverRun(new World(tracer));
}
