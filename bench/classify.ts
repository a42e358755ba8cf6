/**
 * Key to rule, with keys ready in memory: ClassBench rule sets looked up and changed, then rules of
 * one matcher.
 */
import { oneMatcher } from "./classify/oneMatcher.js";
import { SETS, SIZES, type SetName, type SetSize } from "./classify/ruleSets.js";
import { changes } from "./classify/changes.js";
import { large } from "./classify/large.js";
import { tails } from "./classify/tails.js";
import { lookups } from "./classify/lookups.js";
import type { Parts, Suite } from "./harness.js";
import { buildRteAcl } from "./peers/rteAcl.js";

export const classify: Suite = {
  name: "classify",
  title: "Classify: ClassBench sets, then 5-tuple rules of one matcher, three keys in four hit",
  async *workloads(quick, parts) {
    const sets = chosen<SetName>(SETS, parts.sets, quick ? "acl1" : undefined);
    const sizes = chosen<SetSize>(SIZES, parts.sizes, quick ? "1k" : undefined);
    const rteAcl = buildRteAcl();
    if ("skipped" in rteAcl) console.log(`  rte_acl: skipped, ${rteAcl.skipped}`);
    const program = "program" in rteAcl ? rteAcl.program : undefined;
    for (const size of sizes) {
      for (const set of sets) {
        yield* lookups(set, size, "uniform", program);
        if (size === "10k") yield* lookups(set, size, "mix", program);
      }
    }
    const live = sizes.includes("10k") ? "10k" : quick ? sizes[0] : undefined;
    for (const set of sets) if (live !== undefined) yield* changes(set, live);
    if (isPart(parts)) return;
    for (const rules of quick ? [1, 1000] : [1, 1000, 100_000]) yield await oneMatcher(rules);
  },
  async facts(quick, parts) {
    const sets = chosen<SetName>(SETS, parts.sets, quick ? "acl1" : undefined);
    const sizes = chosen<SetSize>(SIZES, parts.sizes, quick ? "1k" : undefined);
    const facts: Record<string, number> = {};
    for (const set of sets) if (sizes.includes("100k")) Object.assign(facts, await tails(set, "100k"));
    return isPart(parts) ? facts : { ...facts, ...(await large(quick ? 2000 : 100_000, quick ? 10_000 : 1_000_000)) };
  },
};

function isPart({ sets, sizes }: Parts): boolean {
  return sets.length + sizes.length > 0;
}

function chosen<T extends string>(all: readonly T[], named: readonly string[], otherwise: T | undefined): T[] {
  if (named.length > 0) return all.filter((one) => named.includes(one));
  return otherwise === undefined ? [...all] : [otherwise];
}
