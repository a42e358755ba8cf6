/**
 * Key to rule, with keys ready in memory: ClassBench rule sets, then rules of one matcher.
 */
import { oneMatcher } from "./classify/oneMatcher.js";
import { SETS, SIZES, type SetName, type SetSize } from "./classify/ruleSets.js";
import { large } from "./classify/large.js";
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
    if (isPart(parts)) return;
    for (const rules of quick ? [1, 1000] : [1, 1000, 100_000]) yield await oneMatcher(rules);
  },
  async facts(quick, parts) {
    return isPart(parts) ? {} : large(quick ? 2000 : 100_000, quick ? 10_000 : 1_000_000);
  },
};

function isPart({ sets, sizes }: Parts): boolean {
  return sets.length + sizes.length > 0;
}

function chosen<T extends string>(all: readonly T[], named: readonly string[], otherwise: T | undefined): T[] {
  if (named.length > 0) return all.filter((one) => named.includes(one));
  return otherwise === undefined ? [...all] : [otherwise];
}
