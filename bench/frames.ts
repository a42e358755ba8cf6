/**
 * The engine as its users run it: whole frames, skewed traffic, all cores, captures of gigabytes,
 * captures as text, the start of a process.
 */
import { captures, withoutCaptures } from "./frames/captures.js";
import { cached } from "./frames/skewed.js";
import { outcomes } from "./frames/outcomes.js";
import { workers } from "./frames/pool.js";
import { start, withoutStart } from "./frames/start.js";
import { texts, withoutText } from "./frames/text.js";
import type { Suite } from "./harness.js";
import { buildRteAcl } from "./peers/rteAcl.js";

export const frames: Suite = {
  name: "frames",
  title: "Frames: bytes to outcome through the burst of a device, rules that count, tag and name a queue",
  async *workloads(quick) {
    const size = quick ? "1k" : "10k";
    yield await outcomes(size, "uniform");
    if (!quick) yield await outcomes(size, "mix");
    const rteAcl = buildRteAcl();
    if ("skipped" in rteAcl) skipped("rte_acl", rteAcl.skipped);
    yield* cached(size, quick, "program" in rteAcl ? rteAcl.program : undefined);
    yield await workers(size, "uniform");
    if (!quick) yield await workers(size, "mix");
    const noCaptures = await withoutCaptures();
    if (noCaptures === undefined) yield* captures(quick);
    else skipped("captures", noCaptures);
    const noText = await withoutText();
    if (noText === undefined) yield* texts(quick);
    else skipped("text", noText);
    const noStart = withoutStart();
    if (noStart === undefined) yield start();
    else skipped("start", noStart);
  },
};

function skipped(what: string, why: string): void {
  console.log(`  ${what}: skipped, ${why}`);
}
